"""[partition], [jobs], [instances], [decisions], [quota], [cluster_variables], [history] and [cluster]: a partition's work, and where it runs."""

from dataclasses import dataclass, field
from enum import StrEnum

from server.engine.formats import LATEST, OLDEST

# A key has 12 bits for the partition.
MAX_PARTITIONS = 4095
MAX_STALL_SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class PartitionConfig:
    """[partition]: `max_queued` commands wait at most, `max_tenant_queued` of one tenant; `max_batch` are committed together.

    `max_kept_answers` of commands with an idempotency key are kept in memory for repeats, the latest;
    `max_loaded_instances` process instances are, those that were busy last. Callers wait `commit_seconds` for a commit
    and are then told that the partition is unavailable; the commit goes on. After `turn_seconds` of work it lets others of
    its process run. One statement of the database may take `statement_seconds` before its connection counts as broken.
    """

    max_queued: int = 10_000
    max_tenant_queued: int = 2_500
    max_batch: int = 128
    max_kept_answers: int = 100_000
    max_loaded_instances: int = 100_000
    commit_seconds: float = 5.0
    statement_seconds: float = 10.0
    turn_seconds: float = 0.05


@dataclass(frozen=True, slots=True)
class JobsConfig:
    """[jobs]: how long an activation waits when it does not say, and at the most.

    At most `max_waiting` activations wait at a partition, and `max_tenant_waiting` of one tenant. At most `max_streams`
    streams of jobs are open in a process, and `max_tenant_streams` of one tenant.
    """

    long_poll_seconds: float = 10.0
    longest_poll_seconds: float = 3600.0
    max_waiting: int = 10_000
    max_tenant_waiting: int = 2_500
    max_streams: int = 1_000
    max_tenant_streams: int = 250


@dataclass(frozen=True, slots=True)
class InstancesConfig:
    """[instances]: how long awaiting a completion takes when the call does not say.

    At most `max_awaiting` calls wait at a partition, and `max_tenant_awaiting` of one tenant.
    """

    await_completion_seconds: float = 10.0
    max_awaiting: int = 10_000
    max_tenant_awaiting: int = 2_500


class DialectChoice(StrEnum):
    """AUTO is Camunda's for files that name one of its schemas, and the standard's for others."""

    AUTO = "auto"
    CAMUNDA = "camunda"
    STANDARD = "standard"


@dataclass(frozen=True, slots=True)
class DecisionsConfig:
    """[decisions]: the dialect of FEEL and DMN that deployed decisions are evaluated in; `auto` tells by the file."""

    dialect: DialectChoice = DialectChoice.AUTO


@dataclass(frozen=True, slots=True)
class QuotaConfig:
    """[quota]: `max_active_instances` of one tenant may be active at a time; 0 means any number."""

    max_active_instances: int = 0


@dataclass(frozen=True, slots=True)
class ClusterVariablesConfig:
    """[cluster_variables]: callers that act in `tenant` change the global ones, which all tenants see.

    Without it they are those of the tenant that is created at start.
    """

    tenant: str = ""


@dataclass(frozen=True, slots=True)
class ClusterConfig:
    """[cluster]: the processes of one deployment.

    `node_id` is the name of a process, by default that of its host; each start adds a number of its own. `host` and
    `port` are where a process listens for the others, `address` how they reach it when that differs; `secret` is what
    they share. `partitions` is the number of partitions, which grows and never shrinks; 0 keeps the present number, and
    makes one for every two cores in a new database of bundled mode, one for each core in one of cluster mode. A lease is
    good for `lease_seconds`, and is renewed every `poll_seconds`. A process whose event loop stands still for
    `stall_seconds` renews no lease until the loop goes on. With `format`, the deployment stays at that format while this
    process runs, so that an older version can come back; 0 lets it rise to the latest that all processes read.
    `starting` is how many processes start at the same time, this one included: for the length of three leases a process
    leaves the others their share, so that no partition changes hands right after the start. Bundled mode sets it.
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
