"""Every section of the configuration file, without the code that it configures."""

from dataclasses import dataclass

from edge.config import ApiConfig, EdgeConfig
from edge.oidc.config import AccessConfig, OidcConfig
from identity.config import IdentityConfig
from identity.foundation.provider_config import ProviderConfig
from server.config import HistoryConfig, ServerConfig
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
from server.platform.observation_config import MetricsConfig, TracingConfig
from server.platform.postgres.config import DatabaseConfig
from server.platform.search_places import SearchesConfig
from server.platform.sockets import authority, public_host
from server.store.config import DocumentsConfig

# Credentials of embedded mode, which then listens on loopback only.
DEMO_CLIENT = "demo"
DEMO_SECRET = "demo-secret"  # noqa: S105  # known to everybody
DEMO_PASSWORD = "demo"  # noqa: S105


@dataclass(frozen=True, slots=True, kw_only=True)
class Config(IdentityConfig):
    """Every section of the file, by its name."""

    server: ServerConfig = ServerConfig()
    edge: EdgeConfig = EdgeConfig()
    api: ApiConfig = ApiConfig()
    grpc: GrpcConfig = GrpcConfig()
    partition: PartitionConfig = PartitionConfig()
    jobs: JobsConfig = JobsConfig()
    instances: InstancesConfig = InstancesConfig()
    batches: BatchesConfig = BatchesConfig()
    decisions: DecisionsConfig = DecisionsConfig()
    quota: QuotaConfig = QuotaConfig()
    cluster_variables: ClusterVariablesConfig = ClusterVariablesConfig()
    documents: DocumentsConfig = DocumentsConfig()
    history: HistoryConfig = HistoryConfig()
    cluster: ClusterConfig = ClusterConfig()
    searches: SearchesConfig = SearchesConfig()
    database: DatabaseConfig = DatabaseConfig()
    oidc: OidcConfig = OidcConfig()
    access: AccessConfig = AccessConfig()
    logging: LoggingConfig = LoggingConfig()
    metrics: MetricsConfig = MetricsConfig()
    tracing: TracingConfig = TracingConfig()


def provider_of(config: Config) -> ProviderConfig:
    """Return the provider's address: the configured one, or this process's own."""
    return config.identity.at(authority(public_host(config.edge.host), config.edge.port))
