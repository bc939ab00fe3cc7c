"""Port for measurements: partitions report their turns, commits and queues."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from opentelemetry.trace import SpanContext

    from server.partition.job_streams import JobStreams
    from server.partition.local import LocalPartition
    from server.partition.turn import Turn


@dataclass(frozen=True, slots=True)
class Traced:
    """The trace of a command, and the time when it was queued, in nanoseconds since 1970."""

    parent: "SpanContext"
    began: int


class Meter(Protocol):
    def traced(self) -> Traced | None:
        """The trace of the command that is being queued; None without one."""
        ...

    def turned(self, seconds: float) -> None:
        """Record the engine's time for one batch of commands."""
        ...

    def committed(self, turn: "Turn") -> None:
        """Record a committed turn whose callers were answered."""
        ...

    def commit_failed(self, cause: str) -> None:
        """Record an attempt of a commit that failed: by an outage, or because it was too large."""
        ...

    def move_failed(self) -> None:
        """Record an ended process instance that stays among the live ones, because it cannot be moved to history."""
        ...

    def pushed(self) -> None:
        """Record a job that was written to a stream."""
        ...

    def watch_streams(self, streams: "JobStreams") -> None:
        """Report the number of open streams from now on."""
        ...

    def watch(self, partition: "LocalPartition") -> None:
        """Report the queues of a partition from now on, until `forget`."""
        ...

    def forget(self, partition: "LocalPartition") -> None: ...


class Unmeasured:
    """A meter that measures nothing."""

    def traced(self) -> Traced | None:
        return None

    def turned(self, seconds: float) -> None:
        pass

    def committed(self, turn: "Turn") -> None:
        pass

    def commit_failed(self, cause: str) -> None:
        pass

    def move_failed(self) -> None:
        pass

    def pushed(self) -> None:
        pass

    def watch_streams(self, streams: "JobStreams") -> None:
        pass

    def watch(self, partition: "LocalPartition") -> None:
        pass

    def forget(self, partition: "LocalPartition") -> None:
        pass


UNMEASURED = Unmeasured()
