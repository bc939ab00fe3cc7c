"""[partition] and [jobs]: the bounds of a partition's work."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PartitionConfig:
    """[partition]: `max_queued` commands wait at most, `max_batch` are committed together.

    `max_kept_answers` of commands with an idempotency key are kept for repeats, the latest.
    """

    max_queued: int = 10_000
    max_batch: int = 128
    max_kept_answers: int = 100_000


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
