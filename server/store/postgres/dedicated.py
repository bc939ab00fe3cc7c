"""A database over one dedicated connection, which other users of the process cannot keep busy."""

import asyncio
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Self, TypeVar

import asyncpg

from server.platform.errors import Unavailable
from server.platform.postgres.outage import FAULTS, is_outage
from server.store.postgres.link import Link

T = TypeVar("T")

_MOST_PLANS = 16


class DedicatedDatabase:
    """Statements run one after the other; the first opens the connection, the end of the block closes it."""

    def __init__(self, dsn: str, *, name: str, statement_seconds: float) -> None:
        settings = {"application_name": f"gnomon {name}", "jit": "off"}
        self._link = Link(dsn, statement_seconds=statement_seconds, settings=settings, plans=_MOST_PLANS)
        self._turn = asyncio.Lock()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._link.close()

    async def fetch(self, text: str, *arguments: object) -> list[asyncpg.Record]:
        return await self._answered(lambda: self._link.fetch(text, *arguments))

    async def execute(self, text: str) -> str:
        return await self._answered(lambda: self._link.execute(text))

    async def _answered(self, statement: Callable[[], Awaitable[T]]) -> T:
        async with self._turn:
            try:
                return await statement()
            except FAULTS as error:
                if not is_outage(error):
                    raise
                raise Unavailable("the database does not answer") from error
