"""[partition], [jobs], [instances], [decisions], [quota], [history] and [cluster]: a partition's work, and where it runs."""

from dataclasses import dataclass, field
from enum import StrEnum

# What the upper bits of a key have room for.
MAX_PARTITIONS = 4095


@dataclass(frozen=True, slots=True)
class PartitionConfig:
    """[partition]: `max_queued` commands wait at most, `max_batch` are committed together.

    `max_kept_answers` of commands with an idempotency key are kept in memory for repeats, the latest;
    `max_loaded_instances` process instances are, those that were busy last. Callers wait `commit_seconds` for a commit
    and are then told that the partition is unavailable; the commit goes on. One statement of the database may take
    `statement_seconds` before its connection counts as broken.
    """

    max_queued: int = 10_000
    max_batch: int = 128
    max_kept_answers: int = 100_000
    max_loaded_instances: int = 100_000
    commit_seconds: float = 5.0
    statement_seconds: float = 10.0


@dataclass(frozen=True, slots=True)
class JobsConfig:
    """[jobs]: how long an activation waits when it does not say, and at the most; how many may wait at once."""

    long_poll_seconds: float = 10.0
    longest_poll_seconds: float = 3600.0
    max_waiting: int = 10_000


@dataclass(frozen=True, slots=True)
class InstancesConfig:
    """[instances]: how long awaiting a completion takes when the call does not say, and how many may wait at once."""

    await_completion_seconds: float = 10.0
    max_awaiting: int = 10_000


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
    """[quota]: so many process instances of one tenant may be active at a time, any number when it is 0."""

    max_active_instances: int = 0


@dataclass(frozen=True, slots=True)
class ClusterConfig:
    """[cluster]: the processes of one deployment.

    `host` and `port` are where a process listens for the others, `address` how they reach it when that differs;
    `secret` is what they share. There are `partitions` of them, when it is 0 as many as there were, and at first one for each core; their number can grow
    and never shrinks. A lease is good for `lease_seconds`, and is looked after every `poll_seconds`.
    """

    node_id: str = ""
    host: str = "127.0.0.1"
    port: int = 26502
    address: str = ""
    secret: str = field(default="", repr=False)
    partitions: int = 0
    lease_seconds: float = 3.0
    poll_seconds: float = 0.5

    def __post_init__(self) -> None:
        if not 0 <= self.partitions <= MAX_PARTITIONS:
            raise ValueError(f"partitions: expected 0 to {MAX_PARTITIONS}, found {self.partitions}")
        if not 0 < self.poll_seconds * 3 <= self.lease_seconds:
            raise ValueError("lease_seconds: expected three times poll_seconds at least")
