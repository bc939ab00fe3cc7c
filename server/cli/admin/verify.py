"""`gnomon admin verify`: check consistency rules between tables."""

import gc
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Annotated

import asyncpg
import typer

from server.cli.admin.command import admin_command
from server.cli.admin.deployment import Deployment, reaching, tables
from server.cli.admin.failures import CannotBegin
from server.cli.admin.report import show, table_of
from server.cli.failures import REFUSED
from server.cli.output import Output
from server.cli.terminal_table import Columns
from server.partition.turn import definition_of
from server.partition.wire import ANSWERS, COMMANDS
from server.platform.postgres.pool import CONNECT_SECONDS
from server.store.postgres import verify as verification
from server.store.postgres.verify import CHECKS, Check, Formats

FORMATS = Formats(definition=definition_of, answer=ANSWERS.unpack, command=COMMANDS.unpack)
COLUMNS = Columns(
    "checks",
    {"Check": "check", "Says": "says", "Found": "count", "For example": "examples"},
    expendable=("Says",),
)
MOST_EXAMPLES = 1000
STATEMENT_SECONDS = 3600
_SETTINGS = {
    "application_name": "gnomon admin",
    "timezone": "UTC",
    "jit": "off",
    "statement_timeout": f"{STATEMENT_SECONDS}s",
    # The command parses documents between statements, which takes long on a busy machine.
    "idle_in_transaction_session_timeout": "5min",
}


@dataclass(frozen=True, slots=True)
class VerdictRow:
    """The result of a check: `count` violations, the first of them as `examples`."""

    check: str
    says: str
    count: int
    examples: tuple[str, ...]


@admin_command
async def verify(
    deployment: Deployment,
    output: Output,
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[CHECK]...", help="Checks to run; all if omitted.")
    ] = None,
    *,
    examples: Annotated[
        int, typer.Option(min=1, max=MOST_EXAMPLES, help="Maximum number of examples for each check.")
    ] = verification.EXAMPLES,
) -> None:
    checks = _chosen(names or [])
    async with tables(deployment):
        pass
    # Imported modules are permanent, so the garbage collector need not scan them.
    gc.freeze()
    with output.waiting("Checking"):
        async with _connected(deployment.dsn) as connection:
            verdicts = await verification.verify(connection, FORMATS, checks=checks, examples=examples)
    rows = [
        VerdictRow(
            verdict.check.name,
            verdict.check.says,
            verdict.findings.count,
            tuple(verdict.findings.examples),
        )
        for verdict in verdicts
    ]
    show(output, table_of(rows, COLUMNS), items=rows)
    if any(row.count for row in rows):
        raise typer.Exit(REFUSED)


def _chosen(names: Sequence[str]) -> Sequence[Check]:
    known = {check.name: check for check in CHECKS}
    for name in names:
        if name not in known:
            raise CannotBegin(f"expected a check, found {name!r}; there are {', '.join(known)}")
    return [known[name] for name in names] or CHECKS


@asynccontextmanager
async def _connected(dsn: str) -> AsyncIterator[asyncpg.Connection]:
    with reaching():
        connection = await asyncpg.connect(dsn, timeout=CONNECT_SECONDS, server_settings=_SETTINGS)
    try:
        yield connection
    finally:
        await connection.close(timeout=CONNECT_SECONDS)
