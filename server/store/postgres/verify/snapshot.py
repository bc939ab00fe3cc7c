"""A snapshot of the database for checks: results of statements, or all rows in chunks."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import asyncpg

from server.engine.keys import Key
from server.store.postgres.verify.findings import Findings

CHUNK = 1000

# A pass over rows that finds violations for several checks, by the name of the check.
Pass = Callable[["Snapshot"], Awaitable[Mapping[str, Findings]]]
Waiting = frozenset[tuple[int, int, int]]


class Keyed(Protocol):
    """An entity with a key."""

    @property
    def key(self) -> Key: ...


@dataclass(frozen=True, slots=True)
class Formats:
    """Readers of packed rows; each raises the errors of msgspec, KeyError or ValueError."""

    definition: Callable[[bytes], Keyed]
    answer: Callable[[bytes], object]
    command: Callable[[bytes], object]


class Snapshot:
    """Reads in one transaction; `waiting` are the commands that were in the outbox before the wait."""

    def __init__(
        self, connection: asyncpg.Connection, formats: Formats, *, waiting: Waiting, examples: int
    ) -> None:
        self.formats = formats
        self.waiting = waiting
        self._connection = connection
        self._examples = examples
        self._passes: dict[Pass, Mapping[str, Findings]] = {}

    def findings(self) -> Findings:
        return Findings(self._examples)

    async def found(self, text: str) -> Findings:
        """The findings of a statement, whose rows have one text each."""
        counted = f"""
            WITH found (example) AS MATERIALIZED ({text})
            SELECT count(*), ARRAY(SELECT example FROM found ORDER BY 1 LIMIT $1) FROM found
        """  # noqa: S608  # texts of our own
        row = await self._connection.fetchrow(counted, self._examples)
        return Findings(self._examples, row[0], row[1])

    async def fetch(self, text: str, *arguments: object) -> Sequence[asyncpg.Record]:
        found: Sequence[asyncpg.Record] = await self._connection.fetch(text, *arguments)
        return found

    async def chunks(self, text: str) -> AsyncIterator[Sequence[asyncpg.Record]]:
        """All rows of a statement, in chunks."""
        cursor = await self._connection.cursor(text)
        while rows := await cursor.fetch(CHUNK):
            yield rows

    async def once(self, run: Pass) -> Mapping[str, Findings]:
        """The findings of a pass, which runs once for all of its checks."""
        if run not in self._passes:
            self._passes[run] = await run(self)
        return self._passes[run]
