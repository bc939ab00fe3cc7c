"""`gnomon admin retention`: list the history, and the parts that the retention settings remove."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Annotated

import typer
from rich.console import Group

from server.cli.admin.command import admin_command
from server.cli.admin.deployment import Deployment, tables
from server.cli.admin.failures import Failed
from server.cli.admin.report import show, table_of
from server.cli.output import Output
from server.cli.terminal_table import Columns
from server.config import HistoryConfig
from server.platform.clock import SystemClock
from server.platform.postgres.pooled import PooledDatabase
from server.store.postgres import retention as kept
from server.store.postgres.decided import forget_batch_operations, forget_decision_instances
from server.store.postgres.history import History

COLUMNS = Columns(
    "weeks of history",
    {
        "From": "begin",
        "To": "last",
        "Process instances": "process_instances",
        "Rows": "rows",
        "MiB": "mebibytes",
        "To be dropped": "is_due",
    },
    expendable=("Rows", "Process instances", "To"),
)
_MEBIBYTE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class WeekRow:
    """A week of history until its day `last`; `rows` is an estimate, `size` is in bytes."""

    begin: date
    last: date
    process_instances: int
    rows: int
    size: int
    is_due: bool

    @property
    def mebibytes(self) -> str:
        return f"{self.size / _MEBIBYTE:.1f}"


@dataclass(frozen=True, slots=True)
class AnswersRow:
    """Responses that are stored for repeated idempotency keys; `due` of them have expired."""

    count: int
    due: int


@admin_command
async def retention(
    deployment: Deployment,
    output: Output,
    *,
    apply: Annotated[
        bool, typer.Option("--apply", help="Delete now what a node would delete within the hour.")
    ] = False,
) -> None:
    config = deployment.config.history
    async with tables(deployment) as database:
        if apply:
            await _apply(database, config)
        weeks, answers = await _weeks(database, config), await _answers(database, config)
    said = f"{answers.count} answers are kept for repeats, {answers.due} of them to be dropped"
    show(output, Group(table_of(weeks, COLUMNS), "", said), weeks=weeks, answers=answers)


async def _apply(database: PooledDatabase, config: HistoryConfig) -> None:
    now = SystemClock().now()
    await kept.keep(History(database), config, now)
    if config.retention_days:
        before = now - timedelta(days=config.retention_days)
        await forget_decision_instances(database, before)
        await forget_batch_operations(database, before)
    left = [week for week in await _weeks(database, config) if week.is_due]
    if left:
        raise Failed(f"the week of {left[0].begin} is being read by other transactions: try again later")


async def _weeks(database: PooledDatabase, config: HistoryConfig) -> Sequence[WeekRow]:
    first = kept.first_day(config, SystemClock().now())
    return [
        WeekRow(
            week.begin,
            week.last,
            week.process_instances,
            week.rows,
            week.size,
            is_due=first is not None and week.last < first,
        )
        for week in await kept.weeks(database)
    ]


async def _answers(database: PooledDatabase, config: HistoryConfig) -> AnswersRow:
    oldest = kept.oldest_answer(config, SystemClock().now())
    return AnswersRow(*await kept.answers(database, oldest))
