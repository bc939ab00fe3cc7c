"""Metrics of commands, turns and commits of partitions, and trace spans of commands."""

import time
from collections import Counter
from collections.abc import Callable, Iterator

from prometheus_client import Counter as CounterMetric

from server.engine.commands import Command
from server.partition.job_streams import JobStreams
from server.partition.local import LocalPartition
from server.partition.meter import UNMEASURED, Meter, Traced
from server.partition.partition import Partition
from server.partition.turn import Result, Turn
from server.platform.errors import ServiceError
from server.platform.metrics import COUNTS, Gauge, Metrics, largest
from server.platform.observation import Observation
from server.platform.tracing import Tracer, current_trace

_PARTITION = ("partition",)


def instruments(observation: Observation, *, max_tenants: int) -> Meter:
    """The meter for the configured metrics and tracer."""
    if observation.metrics is None and observation.tracer is None:
        return UNMEASURED
    return Instruments(observation.metrics or Metrics(), max_tenants=max_tenants, tracer=observation.tracer)


class Instruments:
    """The meter of all partitions of a process; queue lengths are reported for the `max_tenants` longest queues."""

    def __init__(self, metrics: Metrics, *, max_tenants: int, tracer: Tracer | None = None) -> None:
        self._tracer = tracer
        self._max_tenants = max_tenants
        self._watched: list[LocalPartition] = []
        self._streams: list[JobStreams] = []
        self._turns = metrics.histogram(
            "gnomon_turn_seconds", "Time of the engine over one batch of commands"
        )
        self._commits = metrics.histogram("gnomon_commit_seconds", "Duration of a commit")
        self._batches = metrics.histogram("gnomon_commit_commands", "Commands in one commit", buckets=COUNTS)
        self._commands = metrics.counter(
            "gnomon_commands", "Commands that partitions carried out or refused", ("command", "outcome")
        )
        self._faults = metrics.counter(
            "gnomon_step_faults", "Steps that failed by a fault of the server, most of which left an incident"
        )
        self._failures = metrics.counter(
            "gnomon_commit_failures",
            "Attempts of commits that failed: repeated after an outage, refused when too large",
            ("cause",),
        )
        self._unmoved = metrics.counter(
            "gnomon_unmoved_instances", "Ended process instances that could not be moved to history"
        )
        self._pushed = metrics.counter("gnomon_pushed_jobs", "Jobs that were written to streams")
        self._counters: dict[tuple[type[Command], str], CounterMetric] = {}
        self._report(metrics)

    def traced(self) -> Traced | None:
        parent = current_trace() if self._tracer is not None else None
        return Traced(parent, time.time_ns()) if parent is not None else None

    def turned(self, seconds: float) -> None:
        self._turns.observe(seconds)

    def committed(self, turn: Turn) -> None:
        self._faults.inc(turn.faults)
        if turn.commit_ended:
            self._commits.observe((turn.commit_ended - turn.commit_began) / 1e9)
            self._batches.observe(len(turn.results))
        for entry, result in turn.results:
            if entry.command is not None:
                self._counter(type(entry.command), result).inc()
                if entry.traced is not None and self._tracer is not None:
                    self._trace(type(entry.command).__name__, entry.traced, turn, self._tracer)

    def commit_failed(self, cause: str) -> None:
        self._failures.labels(cause).inc()

    def move_failed(self) -> None:
        self._unmoved.inc()

    def pushed(self) -> None:
        self._pushed.inc()

    def watch_streams(self, streams: JobStreams) -> None:
        self._streams.append(streams)

    def watch(self, partition: LocalPartition) -> None:
        self._watched.append(partition)

    def forget(self, partition: LocalPartition) -> None:
        self._watched.remove(partition)

    def _counter(self, kind: type[Command], result: Result) -> CounterMetric:
        outcome = result.reason.lower() if isinstance(result, ServiceError) else "done"
        counter = self._counters.get((kind, outcome))
        if counter is None:
            counter = self._counters[kind, outcome] = self._commands.labels(kind.__name__, outcome)
        return counter

    def _trace(self, name: str, traced: Traced, turn: Turn, tracer: Tracer) -> None:
        """Write the span of the command, from the queue to its answer, and of its commit, which it shares with others."""
        command = tracer.note(name, traced.parent, began=traced.began, ended=time.time_ns())
        if turn.commit_ended:
            tracer.note(
                "commit",
                command,
                began=turn.commit_began,
                ended=turn.commit_ended,
                attributes={"gnomon.commands": len(turn.results)},
            )

    def _report(self, metrics: Metrics) -> None:
        metrics.gauge("gnomon_queued_commands", "Commands that wait in queues", self._queued, ("tenant",))
        for name, meaning, read in (
            ("gnomon_partition_serving", "Whether a partition takes commands", _serving),
            ("gnomon_due_lag_seconds", "Age of the earliest timer that is due and has not fired", _due_lag),
            ("gnomon_loaded_instances", "Process instances in memory", _loaded),
            ("gnomon_unreadable_sources", "Partitions of which a command cannot be read here", _unreadable),
        ):
            metrics.gauge(name, meaning, self._of_each(read), _PARTITION)
        metrics.gauge("gnomon_waiting_activations", "Job activations that wait for a job", self._activations)
        metrics.gauge("gnomon_job_streams", "Open streams of jobs", self._open_streams)
        metrics.gauge(
            "gnomon_waiting_completions",
            "Callers that await a completion or the listeners of a user task",
            self._completions,
        )

    def _of_each(self, read: Callable[[Partition], float]) -> Callable[[], Iterator[Gauge]]:
        def each() -> Iterator[Gauge]:
            for local in self._watched:
                yield Gauge(read(local.partition), (str(local.partition.id),))

        return each

    def _queued(self) -> list[Gauge]:
        counts = Counter[str]()
        for local in self._watched:
            counts.update(local.partition.queued)
        return largest(counts, self._max_tenants)

    def _activations(self) -> Iterator[Gauge]:
        yield Gauge(sum(local.waiting_activations for local in self._watched))

    def _open_streams(self) -> Iterator[Gauge]:
        yield Gauge(sum(streams.open for streams in self._streams))

    def _completions(self) -> Iterator[Gauge]:
        yield Gauge(sum(local.waiting_completions for local in self._watched))


def _serving(partition: Partition) -> float:
    return float(partition.is_open)


def _due_lag(partition: Partition) -> float:
    return partition.due_lag_seconds


def _loaded(partition: Partition) -> float:
    return float(len(partition.state.instances))


def _unreadable(partition: Partition) -> float:
    return float(partition.unreadable_sources)
