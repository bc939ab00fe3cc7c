"""Connections to the database that many share."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, suppress

import asyncpg
import orjson

from server.platform.metrics import Gauge, Metrics

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
    # The server's own bounds, for when a client is gone or frozen.
    "statement_timeout": str(int(STATEMENT_SECONDS * 1000)),
    "idle_in_transaction_session_timeout": str(int(STATEMENT_SECONDS * 1000)),
}


def report_pool(metrics: Metrics, name: str, pool: asyncpg.Pool) -> None:
    """Report the connections of a pool, and how many of them are in use."""

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
    """A pool of at most this many connections, the first of them at once; raises OSError or asyncpg.PostgresError when that fails.

    Date-times come as aware ones in UTC, jsonb as what it says. A connection that comes back is rolled back and nothing
    else: whoever changes a session beyond its transaction must not take it from here.
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
        init=_set_codecs,
        reset=_keep,
    )
    try:
        yield pool
    finally:
        # Past its time, closing ends the connections that are still in use.
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
    """The driver has rolled an open transaction back by now; its own reset would ask the server for more."""
