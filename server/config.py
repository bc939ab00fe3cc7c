"""The engine's sections of the configuration."""

from dataclasses import dataclass

from server.partition.config import (
    BatchesConfig,
    ClusterConfig,
    ClusterVariablesConfig,
    DecisionsConfig,
    InstancesConfig,
    JobsConfig,
    PartitionConfig,
    QuotaConfig,
)
from server.platform.grpc_server import GrpcConfig
from server.platform.logging import LoggingConfig
from server.platform.observation_config import MetricsConfig
from server.platform.policy import Mode
from server.platform.postgres.config import DatabaseConfig
from server.store.config import DocumentsConfig

LEAST_FINISHED_INSTANCES = 1000


@dataclass(frozen=True, slots=True)
class ServerConfig:
    """[server]: the mode of the deployment."""

    mode: Mode = Mode.EMBEDDED


@dataclass(frozen=True, slots=True)
class HistoryConfig:
    """[history]: how long ended process instances, decision evaluations and audit entries can be read.

    Embedded mode keeps the last `max_finished_instances`, at least 1000, and as many decision evaluations.
    The durable modes keep history, evaluations and audit log for `retention_days`, or forever if it is 0.
    They keep responses to commands with an idempotency key for `answer_days`.
    """

    max_finished_instances: int = 100_000
    retention_days: int = 0
    answer_days: int = 7

    def __post_init__(self) -> None:
        # A caller that awaits a completion reads the instance after it has ended.
        if self.max_finished_instances < LEAST_FINISHED_INSTANCES:
            raise ValueError(
                f"max_finished_instances: expected at least {LEAST_FINISHED_INSTANCES}, "
                f"found {self.max_finished_instances}"
            )


@dataclass(frozen=True, slots=True)
class EngineConfig:
    """The engine's sections, and two values of the edge: its `origin` for clients and its largest body."""

    server: ServerConfig = ServerConfig()
    grpc: GrpcConfig = GrpcConfig()
    partition: PartitionConfig = PartitionConfig()
    jobs: JobsConfig = JobsConfig()
    instances: InstancesConfig = InstancesConfig()
    batches: BatchesConfig = BatchesConfig()
    decisions: DecisionsConfig = DecisionsConfig()
    quota: QuotaConfig = QuotaConfig()
    cluster_variables: ClusterVariablesConfig = ClusterVariablesConfig(tenant="default")
    documents: DocumentsConfig = DocumentsConfig()
    history: HistoryConfig = HistoryConfig()
    cluster: ClusterConfig = ClusterConfig()
    database: DatabaseConfig = DatabaseConfig()
    logging: LoggingConfig = LoggingConfig()
    metrics: MetricsConfig = MetricsConfig()
    origin: str = "http://localhost:8080"
    max_body_bytes: int = 4 * 1024 * 1024
