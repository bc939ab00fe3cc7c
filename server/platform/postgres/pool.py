"""The shared pool of database connections."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, suppress

import asyncpg
import orjson

from server.platform.metrics import Gauge, Metrics
from server.platform.postgres.connection import Connection

CONNECT_SECONDS = 10.0
STATEMENT_SECONDS = 30.0
IDLE_SECONDS = 300.0
CLOSE_SECONDS = 10.0
MOST_PLANS = 256
"""Statements that each connection keeps prepared."""

_SETTINGS: Mapping[str, str] = {
    "application_name": "gnomon",
    "timezone": "UTC",
    "jit": "off",
    # Limits that the server enforces when a client is gone or frozen.
    "statement_timeout": str(int(STATEMENT_SECONDS * 1000)),
    "idle_in_transaction_session_timeout": str(int(STATEMENT_SECONDS * 1000)),
}


def report_pool(metrics: Metrics, name: str, pool: asyncpg.Pool) -> None:
    """Report a pool's connections by state: busy, idle and unopened."""

    def read() -> Iterator[Gauge]:
        size, idle = pool.get_size(), pool.get_idle_size()
        yield Gauge(size - idle, (name, "busy"))
        yield Gauge(idle, (name, "idle"))
        yield Gauge(pool.get_max_size() - size, (name, "unopened"))

    metrics.gauge(
        "gnomon_database_connections", "Connections of a pool to the database", read, ("pool", "state")
    )


@asynccontextmanager
async def open_pool(dsn: str, connections: int) -> AsyncIterator[asyncpg.Pool]:
    """Open a pool of at most this many connections; raises OSError or asyncpg.PostgresError if the first one fails.

    Timestamps are aware datetimes in UTC; jsonb values are decoded. A returned connection is rolled back but
    not reset, so users must not change session state beyond their transaction.
    """
    pool = await asyncpg.create_pool(
        dsn,
        min_size=1,
        max_size=connections,
        timeout=CONNECT_SECONDS,
        command_timeout=STATEMENT_SECONDS,
        max_inactive_connection_lifetime=IDLE_SECONDS,
        statement_cache_size=MOST_PLANS,
        max_cached_statement_lifetime=0,
        max_cacheable_statement_size=0,
        server_settings=dict(_SETTINGS),
        connection_class=Connection,
        init=_set_codecs,
        reset=_keep,
    )
    try:
        yield pool
    finally:
        # After the timeout, connections in use are terminated.
        with suppress(TimeoutError):
            async with asyncio.timeout(CLOSE_SECONDS):
                await pool.close()


async def _set_codecs(connection: asyncpg.Connection) -> None:
    await connection.set_type_codec(
        "jsonb", schema="pg_catalog", encoder=_json_text, decoder=orjson.loads, format="text"
    )


def _json_text(value: object) -> str:
    return orjson.dumps(value).decode()


async def _keep(_connection: asyncpg.Connection) -> None:
    """Do nothing: the driver has already rolled back an open transaction, and its reset would cost another round trip."""
