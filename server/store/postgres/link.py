"""One connection to the database for one user, opened when it is needed and anew after anything went wrong on it."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress

import asyncpg

from server.platform.postgres.outage import FAULTS

FIRST_WITH_TRANSACTION_TIMEOUT = 17


class Link:
    """Runs one statement at a time, each at most so many seconds."""

    def __init__(
        self, dsn: str, *, statement_seconds: float, settings: Mapping[str, str], plans: int
    ) -> None:
        self._dsn = dsn
        self._seconds = statement_seconds
        self._plans = plans
        self._settings = {
            **settings,
            "timezone": "UTC",
            "statement_timeout": _milliseconds(statement_seconds),
            "idle_in_transaction_session_timeout": _milliseconds(statement_seconds),
        }
        self._connection: asyncpg.Connection | None = None

    async def fetch(self, text: str, *arguments: object) -> list[asyncpg.Record]:
        """Run a statement that is a transaction by itself; when it fails without the server's word its outcome is open."""
        try:
            async with asyncio.timeout(self._seconds):
                return await self._run(text, arguments)
        except BaseException:
            self.drop()
            raise

    def drop(self) -> None:
        """Let the connection go as it is, at once."""
        if self._connection is not None:
            self._connection.terminate()
            self._connection = None

    async def close(self) -> None:
        """Say good-bye to the server, or not when it does not answer."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(*FAULTS):
                await connection.close(timeout=self._seconds)

    async def _run(self, text: str, arguments: tuple[object, ...]) -> list[asyncpg.Record]:
        connection = self._connection
        if connection is None or connection.is_closed():
            connection = self._connection = await self._open()
        try:
            found: list[asyncpg.Record] = await connection.fetch(text, *arguments)
        except asyncpg.InterfaceError as error:
            if connection.is_closed():
                raise ConnectionError("the connection was lost") from error
            raise
        return found

    async def _open(self) -> asyncpg.Connection:
        connection = await asyncpg.connect(
            self._dsn,
            timeout=self._seconds,
            target_session_attrs="read-write",
            server_settings=self._settings,
            statement_cache_size=self._plans,
            max_cached_statement_lifetime=0,
            max_cacheable_statement_size=0,
        )
        if connection.get_server_version().major >= FIRST_WITH_TRANSACTION_TIMEOUT:
            # A client that freezes between a statement and its end must not keep what the statement locked.
            await connection.execute(f"SET transaction_timeout = {_milliseconds(self._seconds)}")
        return connection


def _milliseconds(seconds: float) -> str:
    return str(int(seconds * 1000))
