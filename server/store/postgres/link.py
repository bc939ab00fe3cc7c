"""One database connection for one user, opened on demand and replaced after any failure."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import TypeVar

import asyncpg

from server.platform.postgres.connection import Connection
from server.platform.postgres.outage import FAULTS

T = TypeVar("T")

FIRST_WITH_TRANSACTION_TIMEOUT = 17


class Link:
    """Runs one statement at a time, each for at most `statement_seconds`.

    With a `grace` above 1, the server's verdict on a late statement comes first: the transaction and the
    connection wait up to `grace` times as long.
    """

    def __init__(
        self,
        dsn: str,
        *,
        statement_seconds: float,
        settings: Mapping[str, str],
        plans: int,
        grace: float = 1.0,
    ) -> None:
        self._dsn = dsn
        self._seconds = statement_seconds * grace
        # PostgreSQL ignores a statement's limit that is not shorter than that of its transaction.
        self._transaction_seconds = statement_seconds * (1 + grace) / 2
        self._plans = plans
        self._settings = {
            **settings,
            "timezone": "UTC",
            "statement_timeout": _milliseconds(statement_seconds),
            "idle_in_transaction_session_timeout": _milliseconds(statement_seconds),
        }
        self._connection: asyncpg.Connection | None = None

    async def fetch(self, text: str, *arguments: object) -> list[asyncpg.Record]:
        """Run one statement as its own transaction; after a failure without a server error, its outcome is unknown."""
        found: list[asyncpg.Record] = await self._run(lambda connection: connection.fetch(text, *arguments))
        return found

    async def execute(self, text: str) -> str:
        """Run statements in one transaction; failures are those of `fetch`."""
        return str(await self._run(lambda connection: connection.execute(text)))

    def drop(self) -> None:
        """Abort the connection at once."""
        if self._connection is not None:
            self._connection.terminate()
            self._connection = None

    async def close(self) -> None:
        """Close the connection, or abort it when the server does not respond."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(*FAULTS):
                await connection.close(timeout=self._seconds)

    async def _run(self, statement: Callable[[asyncpg.Connection], Awaitable[T]]) -> T:
        try:
            async with asyncio.timeout(self._seconds):
                return await self._run_on(await self._connected(), statement)
        except BaseException:
            self.drop()
            raise

    async def _run_on(
        self, connection: asyncpg.Connection, statement: Callable[[asyncpg.Connection], Awaitable[T]]
    ) -> T:
        try:
            return await statement(connection)
        except asyncpg.InterfaceError as error:
            if connection.is_closed():
                raise ConnectionError("the connection was lost") from error
            raise

    async def _connected(self) -> asyncpg.Connection:
        if self._connection is None or self._connection.is_closed():
            self._connection = await self._open()
        return self._connection

    async def _open(self) -> asyncpg.Connection:
        connection = await asyncpg.connect(
            self._dsn,
            timeout=self._seconds,
            target_session_attrs="read-write",
            server_settings=self._settings,
            connection_class=Connection,
            statement_cache_size=self._plans,
            max_cached_statement_lifetime=0,
            max_cacheable_statement_size=0,
        )
        try:
            if connection.get_server_version().major >= FIRST_WITH_TRANSACTION_TIMEOUT:
                # A client that freezes inside a transaction must not keep its locks.
                await connection.execute(
                    f"SET transaction_timeout = {_milliseconds(self._transaction_seconds)}"
                )
        except BaseException:
            connection.terminate()
            raise
        return connection


def _milliseconds(seconds: float) -> str:
    return str(int(seconds * 1000))
