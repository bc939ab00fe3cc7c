"""The database interface for stores without a connection of their own."""

from typing import Protocol

import asyncpg


class Database(Protocol):
    """Any connection will do; both raise Unavailable when the database does not answer in time."""

    async def fetch(self, text: str, *arguments: object) -> list[asyncpg.Record]:
        """Run one statement, which is a transaction by itself."""
        ...

    async def execute(self, text: str) -> str:
        """Run statements in one transaction."""
        ...
