"""Pool connections, each for one statement or block; an unavailable database raises Unavailable."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import asyncpg

from server.platform.errors import Unavailable
from server.platform.postgres.outage import FAULTS, is_outage

ACQUIRE_SECONDS = 5.0


class PooledDatabase:
    """Runs each statement in its own transaction on any connection of a pool."""

    def __init__(self, pool: asyncpg.Pool, *, acquire_seconds: float = ACQUIRE_SECONDS) -> None:
        self._pool = pool
        self._acquire_seconds = acquire_seconds

    async def fetch(self, text: str, *arguments: object) -> list[asyncpg.Record]:
        async with self.connection() as connection:
            found: list[asyncpg.Record] = await connection.fetch(text, *arguments)
            return found

    async def execute(self, text: str) -> str:
        async with self.connection() as connection:
            return str(await connection.execute(text))

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[asyncpg.Connection]:
        """Provide a connection for the block; raises Unavailable on a timeout or an outage."""
        try:
            async with self._pool.acquire(timeout=self._acquire_seconds) as connection:
                with _loss_told(connection):
                    yield connection
        except FAULTS as error:
            if not (is_outage(error) or self._pool.is_closing()):
                raise
            raise Unavailable("the database does not answer") from error


@contextmanager
def _loss_told(connection: asyncpg.Connection) -> Iterator[None]:
    """Raise ConnectionError for a lost connection.

    The driver raises InterfaceError both for a lost connection and for wrong use.
    """
    try:
        yield
    except asyncpg.InterfaceError as error:
        if _is_lost(connection):
            raise ConnectionError("the connection was lost") from error
        raise


def _is_lost(connection: asyncpg.Connection) -> bool:
    try:
        return bool(connection.is_closed())
    except asyncpg.InterfaceError:
        # The pool detaches a connection from its user as soon as the connection is closed.
        return True
