"""The database interface of stores that need no dedicated connection."""

from typing import Protocol

import asyncpg


class Database(Protocol):
    """Runs statements on any connection; both methods raise Unavailable if the database does not answer in time."""

    async def fetch(self, text: str, *arguments: object) -> list[asyncpg.Record]:
        """Run one statement in its own transaction and return its rows."""
        ...

    async def execute(self, text: str) -> str:
        """Run statements in one transaction and return the status of the last."""
        ...
