"""Results of the demo, for people and programs."""

from collections import Counter
from collections.abc import Sequence

import msgspec

from server.cli.demo.tally import Tally


class ProcessSummary(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    process_definition_id: str
    instances: int
    completed: int
    incidents_raised: int
    incidents_resolved: int
    jobs_completed: int
    jobs_failed: int


class Summary(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """The results; `is_complete` is true if every requested instance completed."""

    is_complete: bool
    duration_seconds: float
    processes: tuple[ProcessSummary, ...]


def summary_of(
    tallies: Sequence[Tally], jobs: Counter[tuple[str, str]], *, instances: int, seconds: float
) -> Summary:
    """Return the summary; `instances` is the requested number per process."""
    return Summary(
        is_complete=all(tally.completed == instances for tally in tallies),
        duration_seconds=round(seconds, 3),
        processes=tuple(_process(tally, jobs) for tally in tallies),
    )


def _process(tally: Tally, jobs: Counter[tuple[str, str]]) -> ProcessSummary:
    return ProcessSummary(
        process_definition_id=tally.process_id,
        instances=tally.instances,
        completed=tally.completed,
        incidents_raised=tally.incidents_raised,
        incidents_resolved=tally.incidents_resolved,
        jobs_completed=jobs[tally.process_id, "completed"],
        jobs_failed=jobs[tally.process_id, "failed"],
    )
