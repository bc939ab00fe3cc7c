"""Results of a demo, for a person and for a program."""

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
    """`is_complete` tells whether every instance that was asked for ran to its end."""

    is_complete: bool
    duration_seconds: float
    processes: tuple[ProcessSummary, ...]


def summary_of(
    tallies: Sequence[Tally], jobs: Counter[tuple[str, str]], *, instances: int, seconds: float
) -> Summary:
    """`instances` of each process were asked for."""
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
