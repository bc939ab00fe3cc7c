"""[partition], [jobs], [instances], [decisions], [quota], [cluster_variables], [history] and [cluster]: a partition's work, and where it runs."""

from dataclasses import dataclass, field
from enum import StrEnum

from server.engine.formats import LATEST, OLDEST

# A key has 12 bits for the partition.
MAX_PARTITIONS = 4095
MAX_STALL_SECONDS = 600.0
_MIB = 1024 * 1024

MOST_BATCH_ITEMS = 250_000
"""Most items of one batch operation, whatever its caller allows; `at_most` of the contract has the same bound."""


@dataclass(frozen=True, slots=True)
class PartitionConfig:
    """[partition]: limits of a partition. At most `max_queued` commands wait, at most `max_tenant_queued` of one tenant; up to `max_batch` commands are committed together.

    The waiting commands have at most `max_queued_bytes` together, and at most `max_tenant_queued_bytes` of one
    tenant.
    A partition keeps the latest `max_kept_answers` responses to commands with an idempotency key in memory,
    with at most `max_kept_answer_bytes`, and the `max_loaded_instances` process instances that were active
    last. Callers wait up to `commit_seconds` for a commit. Then they receive an error that the partition is
    unavailable, while the commit continues. After `turn_seconds` of work a partition yields to others of its
    process. The statement of a commit may take `statement_seconds`, which is at least `commit_seconds`. Then
    the database gives it up, and its commands are not carried out.
    """

    max_queued: int = 10_000
    max_tenant_queued: int = 2_500
    max_queued_bytes: int = 128 * _MIB
    max_tenant_queued_bytes: int = 32 * _MIB
    max_batch: int = 128
    max_kept_answers: int = 100_000
    max_kept_answer_bytes: int = 64 * _MIB
    max_loaded_instances: int = 100_000
    commit_seconds: float = 5.0
    statement_seconds: float = 10.0
    turn_seconds: float = 0.05

    def __post_init__(self) -> None:
        if self.commit_seconds > self.statement_seconds:
            raise ValueError(
                f"commit_seconds: expected statement_seconds ({self.statement_seconds:g}) at most,"
                f" found {self.commit_seconds:g}"
            )


@dataclass(frozen=True, slots=True)
class JobsConfig:
    """[jobs]: `long_poll_seconds` is the default time that an activation waits for jobs, `longest_poll_seconds` the maximum.

    At most `max_waiting` activations wait at a partition, and at most `max_tenant_waiting` of one tenant. At
    most `max_streams` job streams are open in a process, and at most `max_tenant_streams` of one tenant.
    """

    long_poll_seconds: float = 10.0
    longest_poll_seconds: float = 3600.0
    max_waiting: int = 10_000
    max_tenant_waiting: int = 2_500
    max_streams: int = 1_000
    max_tenant_streams: int = 250


@dataclass(frozen=True, slots=True)
class InstancesConfig:
    """[instances]: the default time that a call waits for the completion of a process instance.

    At most `max_awaiting` calls wait at a partition, and at most `max_tenant_awaiting` of one tenant.
    """

    await_completion_seconds: float = 10.0
    max_awaiting: int = 10_000
    max_tenant_awaiting: int = 2_500


@dataclass(frozen=True, slots=True)
class BatchesConfig:
    """[batches]: a batch operation with more than `max_items` items begins only when its caller allows that number, up to 250,000."""

    max_items: int = 100_000

    def __post_init__(self) -> None:
        if not 1 <= self.max_items <= MOST_BATCH_ITEMS:
            raise ValueError(f"max_items: expected 1 to {MOST_BATCH_ITEMS}, found {self.max_items}")


class DialectChoice(StrEnum):
    """AUTO is Camunda's for files that name one of its schemas, and the standard's for others."""

    AUTO = "auto"
    CAMUNDA = "camunda"
    STANDARD = "standard"


@dataclass(frozen=True, slots=True)
class DecisionsConfig:
    """[decisions]: the dialect of FEEL and DMN for deployed decisions; `auto` selects it by the file."""

    dialect: DialectChoice = DialectChoice.AUTO


@dataclass(frozen=True, slots=True)
class QuotaConfig:
    """[quota]: limits of active process instances; 0 means no limit.

    A tenant may have `max_active_instances`. One root process instance may have `max_called_instances` that call
    activities have started, directly or through others; beyond them a call activity raises an incident.
    """

    max_active_instances: int = 0
    max_called_instances: int = 20_000

    def __post_init__(self) -> None:
        if self.max_called_instances < 0:
            raise ValueError(
                f"max_called_instances: expected a number, or 0 for no limit, found {self.max_called_instances}"
            )


@dataclass(frozen=True, slots=True)
class ClusterVariablesConfig:
    """[cluster_variables]: callers that act in `tenant` may change the global cluster variables, which all tenants can read.

    The default is `bootstrap.tenant`.
    """

    tenant: str = ""


@dataclass(frozen=True, slots=True)
class ClusterConfig:
    """[cluster]: the processes of one deployment.

    `node_id` is the name of a process, by default the host name; each start appends its own number. A process
    listens for the others at `host` and `port`; they connect to `address` if it differs. All processes share
    `secret`. `partitions` is the number of partitions, which can only increase. With 0 an existing database
    keeps its number; a new one gets one per two cores in bundled mode, one per core in cluster mode. A lease
    is valid for `lease_seconds` and renewed every `poll_seconds`. If the event loop of a process is blocked
    for `stall_seconds`, the process stops renewing leases until the loop continues. With `format`, the
    deployment keeps this format while the process runs, so that an older version can be used again; with 0,
    the format rises to the latest that all processes can read. `starting` is the number of processes that
    start at the same time, including this one. For the duration of three leases, a process leaves the others
    their share of partitions, so that none moves right after the start. Bundled mode sets this value.
    """

    node_id: str = ""
    host: str = "127.0.0.1"
    port: int = 26502
    address: str = ""
    secret: str = field(default="", repr=False)
    partitions: int = 0
    lease_seconds: float = 3.0
    poll_seconds: float = 0.5
    stall_seconds: float = 10.0
    format: int = 0
    starting: int = 1

    def __post_init__(self) -> None:
        if not 1 <= self.starting <= MAX_PARTITIONS:
            raise ValueError(f"starting: expected 1 to {MAX_PARTITIONS}, found {self.starting}")
        if not 0 <= self.partitions <= MAX_PARTITIONS:
            raise ValueError(f"partitions: expected 0 to {MAX_PARTITIONS}, found {self.partitions}")
        if not 0 <= self.format <= LATEST:
            raise ValueError(f"format: expected {OLDEST} to {LATEST}, or 0 for any, found {self.format}")
        if not 0 < self.poll_seconds * 3 <= self.lease_seconds:
            raise ValueError("lease_seconds: expected three times poll_seconds at least")
        if not self.poll_seconds * 2 <= self.stall_seconds <= MAX_STALL_SECONDS:
            raise ValueError(
                f"stall_seconds: expected twice poll_seconds to {MAX_STALL_SECONDS:g}, found {self.stall_seconds:g}"
            )
