"""Port for measurements: a partition reports its turns, commits and queue here."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from opentelemetry.trace import SpanContext

    from server.partition.job_streams import JobStreams
    from server.partition.local import LocalPartition
    from server.partition.turn import Turn


@dataclass(frozen=True, slots=True)
class Traced:
    """A command whose request is traced, and when it was queued, in nanoseconds since 1970."""

    parent: "SpanContext"
    began: int


class Meter(Protocol):
    def traced(self) -> Traced | None:
        """Describe the trace of the command that is being queued."""
        ...

    def turned(self, seconds: float) -> None:
        """Note how long the engine took over the commands that waited."""
        ...

    def committed(self, turn: "Turn") -> None:
        """Note a turn whose callers have their answers."""
        ...

    def pushed(self) -> None:
        """Note a job that was written to a stream."""
        ...

    def watch_streams(self, streams: "JobStreams") -> None:
        """Report how many streams are open."""
        ...

    def watch(self, partition: "LocalPartition") -> None:
        """Report what waits in a partition, until `forget`."""
        ...

    def forget(self, partition: "LocalPartition") -> None: ...


class Unmeasured:
    """Measures nothing."""

    def traced(self) -> Traced | None:
        return None

    def turned(self, seconds: float) -> None:
        pass

    def committed(self, turn: "Turn") -> None:
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
