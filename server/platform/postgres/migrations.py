"""Schema migrations: numbered SQL files, forward only, each in one transaction.

A file is `NNNN_name.sql`, numbered from 0001 without gaps. It never changes once it was applied to any
database. Nodes that start at the same time wait for each other's lock on the table of applied migrations.

A migration whose first line begins with `-- Additive` keeps every statement of older programs valid, so they
can continue, and restart, beside it. It is recorded in a separate table, which programs older than this rule
do not read. A program refuses a database with any other migration that it lacks.
"""

import hashlib
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from importlib.resources.abc import Traversable

import asyncpg

_FILE = re.compile(r"(\d{4})_(\w+)\.sql")
_CONNECT_SECONDS = 10.0
_LOCK_SECONDS = 5
_LOCK_ATTEMPTS = 60
_ADDITIVE = "-- Additive"
_TABLES = ("public.gnomon_migration", "public.gnomon_additive_migration")
# Higher numbers represent cluster formats, and stop programs that do not know the format.
_LAST_NUMBER = 9_999


class MigrationError(Exception):
    """The database cannot be migrated to the program's schema; the message names the expected and actual state."""


@dataclass(frozen=True, slots=True)
class Migration:
    number: int
    name: str
    sql: str

    @property
    def is_additive(self) -> bool:
        """Whether older programs still work after the migration."""
        return self.sql.startswith(_ADDITIVE)

    @property
    def table(self) -> str:
        """The table that records the migration."""
        return _TABLES[self.is_additive]

    @property
    def checksum(self) -> str:
        return hashlib.sha256(self.sql.encode()).hexdigest()

    def __str__(self) -> str:
        return f"{self.number:04}_{self.name}"


@dataclass(frozen=True, slots=True)
class Applied:
    """A migration that was applied to the database."""

    name: str
    checksum: str
    is_additive: bool


async def migrate(dsn: str, folder: Traversable) -> tuple[int, ...]:
    """Apply the missing migrations and return their numbers; raises MigrationError."""
    migrations = _read(folder)
    done: list[int] = []
    async with _connected(dsn) as connection:
        await _create_tables(connection)
        while (migration := await _apply_next(connection, migrations)) is not None:
            done.append(migration.number)
    return tuple(done)


async def pending(dsn: str, folder: Traversable) -> tuple[int, ...]:
    """Return the numbers of missing migrations; raises MigrationError if the database does not match these files."""
    async with _connected(dsn) as connection:
        applied = await _applied(connection)
    return tuple(migration.number for migration in _lacking(_read(folder), applied))


@asynccontextmanager
async def _connected(dsn: str) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(dsn, timeout=_CONNECT_SECONDS, target_session_attrs="read-write")
    try:
        yield connection
    finally:
        await connection.close(timeout=_CONNECT_SECONDS)


def _read(folder: Traversable) -> Sequence[Migration]:
    migrations: list[Migration] = []
    for file in sorted(folder.iterdir(), key=lambda file: file.name):
        if not file.name.endswith(".sql"):
            continue
        number = len(migrations) + 1
        found = _FILE.fullmatch(file.name)
        if found is None or int(found[1]) != number:
            raise MigrationError(f"expected a file {number:04}_name.sql, found {file.name}")
        migrations.append(Migration(number, found[2], file.read_text("utf-8")))
    return migrations


async def _create_tables(connection: asyncpg.Connection) -> None:
    for table in _TABLES:
        # If two sessions create the table at once, the later one fails after the earlier one has committed.
        with suppress(
            asyncpg.UniqueViolationError, asyncpg.DuplicateTableError, asyncpg.DuplicateObjectError
        ):
            await connection.execute(f"""
                CREATE TABLE IF NOT EXISTS {table} (
                    number integer PRIMARY KEY,
                    name text NOT NULL,
                    checksum text NOT NULL,
                    applied_at timestamptz NOT NULL
                )
            """)


async def _apply_next(connection: asyncpg.Connection, migrations: Sequence[Migration]) -> Migration | None:
    for _ in range(_LOCK_ATTEMPTS):
        try:
            async with connection.transaction():
                await connection.execute(f"SET LOCAL lock_timeout = '{_LOCK_SECONDS}s'")
                await connection.execute("LOCK TABLE public.gnomon_migration IN SHARE ROW EXCLUSIVE MODE")
                lacking = _lacking(migrations, await _applied(connection))
                if lacking:
                    await _apply(connection, lacking[0])
                return next(iter(lacking), None)
        except (asyncpg.LockNotAvailableError, asyncpg.DeadlockDetectedError):
            continue
    raise MigrationError(f"the database was locked for {_LOCK_ATTEMPTS * _LOCK_SECONDS} seconds")


async def _applied(connection: asyncpg.Connection) -> Mapping[int, Applied]:
    """Return all applied migrations by number, including additive ones."""
    applied: dict[int, Applied] = {}
    for table in _TABLES:
        if await connection.fetchval("SELECT to_regclass($1) IS NOT NULL", table):
            text = f"SELECT number, name, checksum FROM {table} WHERE number <= $1"  # noqa: S608  # a name of ours
            for number, name, checksum in await connection.fetch(text, _LAST_NUMBER):
                applied[number] = Applied(name, checksum, is_additive=table == _TABLES[True])
    return applied


def _lacking(migrations: Sequence[Migration], applied: Mapping[int, Applied]) -> Sequence[Migration]:
    for number, found in sorted(applied.items()):
        if number <= len(migrations):
            migration = migrations[number - 1]
            if found.checksum != migration.checksum:
                raise MigrationError(f"{migration} is not what was applied as {number:04}_{found.name}")
        elif not found.is_additive:
            raise MigrationError(
                f"the database is newer than the program: expected at most {len(migrations)} migrations,"
                f" found {number:04}_{found.name}"
            )
    return [migration for migration in migrations if migration.number not in applied]


async def _apply(connection: asyncpg.Connection, migration: Migration) -> None:
    try:
        await connection.execute("SET LOCAL statement_timeout = 0")
        await connection.execute(migration.sql)
    except (asyncpg.LockNotAvailableError, asyncpg.DeadlockDetectedError):
        raise
    except asyncpg.PostgresError as error:
        raise MigrationError(f"{migration} failed: {error}") from error
    text = f"INSERT INTO {migration.table} (number, name, checksum, applied_at) VALUES ($1, $2, $3, now())"  # noqa: S608  # a name of ours
    await connection.execute(text, migration.number, migration.name, migration.checksum)
