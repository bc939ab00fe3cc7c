"""`gnomon admin migrations`: list applied and missing migrations."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

import typer

from server.cli.admin.command import admin_command
from server.cli.admin.deployment import Deployment, reaching
from server.cli.admin.report import show, table_of
from server.cli.output import Output
from server.cli.terminal_table import Columns
from server.platform.postgres.migrations import migrate, pending
from server.platform.postgres.pool import open_pool
from server.platform.postgres.pooled import PooledDatabase
from server.storage import MIGRATIONS

COLUMNS = Columns(
    "migrations",
    {"Number": "number", "Name": "name", "Applied": "applied_at"},
)


@dataclass(frozen=True, slots=True)
class MigrationRow:
    """A migration of the program; `applied_at` is None if the database lacks it."""

    number: int
    name: str
    applied_at: datetime | None


@admin_command
async def migrations(
    deployment: Deployment,
    output: Output,
    *,
    apply: Annotated[
        bool, typer.Option("--apply", help="Apply missing migrations, as the next start would.")
    ] = False,
) -> None:
    with reaching():
        if apply:
            await migrate(deployment.dsn, MIGRATIONS)
        rows = await _rows(deployment.dsn)
    show(output, table_of(rows, COLUMNS), items=rows)


async def _rows(dsn: str) -> Sequence[MigrationRow]:
    lacking = await pending(dsn, MIGRATIONS)
    names = sorted(file.name for file in MIGRATIONS.iterdir() if file.name.endswith(".sql"))
    async with open_pool(dsn, 1) as pool:
        database = PooledDatabase(pool)
        applied = await _applied(database) if len(lacking) < len(names) else []
    return [*applied, *(_row(names[number - 1]) for number in lacking)]


async def _applied(database: PooledDatabase) -> Sequence[MigrationRow]:
    text = """
        SELECT number, name, applied_at FROM gnomon_migration
        UNION ALL SELECT number, name, applied_at FROM gnomon_additive_migration ORDER BY number
    """
    return [MigrationRow(**row) for row in await database.fetch(text)]


def _row(file_name: str) -> MigrationRow:
    number, _, name = file_name.removesuffix(".sql").partition("_")
    return MigrationRow(int(number), name, None)
