"""`gnomon admin restore`: restore a backup into a deployment's database."""

import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated

import asyncpg
import typer

from server.cli.admin.archive import expect_backup
from server.cli.admin.command import founding_command
from server.cli.admin.deployment import Deployment, expect_answer
from server.cli.admin.dsn import with_database
from server.cli.admin.failures import CannotBegin, Failed
from server.cli.admin.partitions import COLUMNS
from server.cli.admin.programs import run
from server.cli.admin.report import show, table_of
from server.cli.output import Output
from server.platform.postgres.pool import CONNECT_SECONDS, open_pool
from server.platform.postgres.pooled import PooledDatabase
from server.store.postgres import administration

# Restores everything or nothing; the restoring role becomes the owner.
_OPTIONS = ("--single-transaction", "--exit-on-error", "--no-owner", "--no-privileges", "--no-comments")
_NAME = re.compile(r"[a-z_][a-z0-9_]{0,62}")
STATEMENT_SECONDS = 3600.0


@founding_command
async def restore(
    deployment: Deployment,
    output: Output,
    file: Annotated[Path, typer.Argument(help="A backup that `gnomon admin backup` wrote.")],
    *,
    into: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Create this database on the same server, and restore into it."),
    ] = None,
) -> None:
    if not file.is_file():
        raise CannotBegin(f"cannot read {file}: no such file")
    await expect_answer(deployment.dsn)
    with output.waiting("Restoring"):
        await expect_backup(file, deployment.config.database)
        async with _target(deployment, into) as dsn:
            await run("pg_restore", *_OPTIONS, file, config=deployment.config.database, dsn=dsn)
            found = await _begun_anew(dsn)
    show(output, table_of(found, COLUMNS), items=found)


@asynccontextmanager
async def _target(deployment: Deployment, into: str | None) -> AsyncIterator[str]:
    """Provide the DSN of an empty database; a database created here is dropped again if the block fails."""
    if into is None:
        await _expect_empty(deployment.dsn)
        yield deployment.dsn
        return
    if not _NAME.fullmatch(into):
        raise CannotBegin(f"expected a name of lower-case letters, digits and underscores, found {into!r}")
    await _execute(deployment.dsn, f"CREATE DATABASE {into}")
    try:
        yield with_database(deployment.dsn, into)
    except BaseException:
        await _execute(deployment.dsn, f"DROP DATABASE {into}")
        raise


async def _expect_empty(dsn: str) -> None:
    text = """
        SELECT nspname || '.' || relname FROM pg_class AS held JOIN pg_namespace AS space ON space.oid = relnamespace
        WHERE nspname !~ '^(pg_|information_schema$)' AND NOT EXISTS (
            SELECT FROM pg_depend WHERE objid = held.oid AND classid = 'pg_class'::regclass AND deptype = 'e'
        )
        ORDER BY 1 LIMIT 1
    """
    async with open_pool(dsn, 1) as pool:
        found = await pool.fetchval(text)
    if found is not None:
        raise Failed(
            f"the database is not empty, {found} is in it: restore into another one with --into NAME"
        )


async def _execute(dsn: str, text: str) -> None:
    connection = await asyncpg.connect(dsn, timeout=CONNECT_SECONDS)
    try:
        await connection.execute(text, timeout=STATEMENT_SECONDS)
    finally:
        await connection.close(timeout=CONNECT_SECONDS)


async def _begun_anew(dsn: str) -> Sequence[administration.PartitionRow]:
    # A backup contains no planner statistics.
    await _execute(dsn, "ANALYZE")
    async with open_pool(dsn, 1) as pool:
        database = PooledDatabase(pool)
        await administration.begin_anew(database)
        return await administration.partitions(database)
