"""[partition], [jobs], [instances] and [quota]: the bounds of a partition's work."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PartitionConfig:
    """[partition]: `max_queued` commands wait at most, `max_batch` are committed together.

    `max_kept_answers` of commands with an idempotency key are kept in memory for repeats, the latest;
    `max_loaded_instances` process instances are, those that were busy last. Callers wait `commit_seconds` for a commit
    and are then told that the partition is unavailable; the commit goes on.
    """

    max_queued: int = 10_000
    max_batch: int = 128
    max_kept_answers: int = 100_000
    max_loaded_instances: int = 100_000
    commit_seconds: float = 5.0


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


@dataclass(frozen=True, slots=True)
class QuotaConfig:
    """[quota]: so many process instances of one tenant may be active at a time, any number when it is 0."""

    max_active_instances: int = 0
