"""Screens of the demo: a table of progress, and a table of results."""

from collections.abc import Sequence

import msgspec
from rich.progress_bar import ProgressBar
from rich.table import Table

from server.cli.demo.summary import Summary
from server.cli.demo.tally import Tally

_BAR_WIDTH = 30
_COUNTS = {
    "Instances": "instances",
    "Completed": "completed",
    "Incidents": "incidents_raised",
    "Resolved": "incidents_resolved",
    "Jobs": "jobs_completed",
    "Tries failed": "jobs_failed",
}


def progress(tallies: Sequence[Tally], *, instances: int) -> Table:
    """Return the table of progress; `instances` is the target per process."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    for heading in ("Process", ""):
        table.add_column(heading, no_wrap=True)
    for heading in ("Started", "Completed", "Incidents open"):
        table.add_column(heading, justify="right")
    for tally in tallies:
        bar = ProgressBar(total=instances, completed=tally.completed, width=_BAR_WIDTH)
        counts = (tally.instances, tally.completed, tally.incidents_open)
        table.add_row(tally.process_id, bar, *map(str, counts))
    return table


def conclusion(summary: Summary) -> Table:
    end = "All completed" if summary.is_complete else "Not all completed"
    caption = f"{end} in {summary.duration_seconds:.1f} s"
    table = Table(box=None, header_style="bold", pad_edge=False, show_footer=True, caption=caption)
    rows = [msgspec.structs.asdict(process) for process in summary.processes]
    table.add_column("Process", footer="Total", no_wrap=True)
    for heading, field in _COUNTS.items():
        table.add_column(heading, footer=str(sum(row[field] for row in rows)), justify="right")
    for row in rows:
        table.add_row(row["process_definition_id"], *(str(row[field]) for field in _COUNTS.values()))
    return table
