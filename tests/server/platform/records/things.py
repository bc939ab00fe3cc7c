"""Records that tests keep, and databases with a table for them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from importlib import resources

import asyncpg

from server.platform.call import TenantId
from server.platform.clock import VirtualClock
from server.platform.postgres.pooled import PooledDatabase
from server.platform.records import Kind, Owner, Record
from server.platform.records.postgres import PostgresRecordStore

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)
ACME, UMBRELLA = TenantId("acme"), TenantId("umbrella")

TABLE = """
    CREATE SCHEMA identity;
    CREATE TABLE identity.thing (
        tenant_id text COLLATE "C" NOT NULL,
        id text COLLATE "C" NOT NULL,
        revision bigint NOT NULL,
        expires_at timestamptz,
        content json NOT NULL,
        name text COLLATE "C",
        code text COLLATE "C",
        owner text COLLATE "C",
        colours text[] COLLATE "C" NOT NULL,
        wanted_at timestamptz NOT NULL,
        PRIMARY KEY (tenant_id, id)
    );
    CREATE UNIQUE INDEX thing_name ON identity.thing (tenant_id, name);
    CREATE UNIQUE INDEX thing_code ON identity.thing (tenant_id, code)
"""

# Creates the table of removals, and the function that finds records by their owners.
REMOVALS = resources.files("server.store.postgres") / "migrations" / "0066_removals.sql"


class Size(StrEnum):
    SMALL = "small"
    LARGE = "large"


@dataclass(frozen=True, slots=True)
class Part:
    made_at: datetime
    serial: bytes


@dataclass(frozen=True, slots=True)
class Maker:
    factory: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Thing(Record):
    name: str = ""
    code: str = ""
    owner: str | None = None
    colours: tuple[str, ...] = ()
    size: Size = Size.SMALL
    note: str = ""
    parts: tuple[Part, ...] = ()
    labels: dict[str, str] = field(default_factory=dict)
    lasts: timedelta = timedelta()
    wanted_at: datetime = NOON
    maker: Maker | None = None


THINGS = Kind(
    Thing,
    "thing",
    unique=("name", "code"),
    indexed=("owner", "colours"),
    scheduled="wanted_at",
    owners=(Owner("person", "owner"), Owner("factory", "maker.factory")),
)


def clock() -> VirtualClock:
    return VirtualClock(pinned=NOON)


def thing(record_id: str = "one", tenant_id: TenantId = ACME, **fields: object) -> Thing:
    return Thing(tenant_id=tenant_id, id=record_id, **fields)  # type: ignore[arg-type]  # of its own fields


def after(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


def postgres_store(pool: asyncpg.Pool, clock: VirtualClock) -> PostgresRecordStore:
    return PostgresRecordStore(PooledDatabase(pool), clock)


@asynccontextmanager
async def emptied(pool: asyncpg.Pool) -> AsyncIterator[asyncpg.Pool]:
    await pool.execute("DELETE FROM identity.thing; DELETE FROM identity.removal")
    yield pool


def run_ready(dsn: str) -> None:
    """Give a new database its table."""
    asyncio.run(_create(dsn))


async def _create(dsn: str) -> None:
    connection = await asyncpg.connect(dsn)
    try:
        await connection.execute(TABLE)
        await connection.execute(REMOVALS.read_text())
    finally:
        await connection.close()
