"""Entries of the audit log that come without a command: they wait here until a loop takes them to a partition."""

import asyncio
import logging
from collections import deque
from collections.abc import Sequence
from itertools import islice

from server.store.entities import AuditEntry

logger = logging.getLogger(__name__)


class WaitingEntries:
    """At most `most` wait; entries beyond are lost, and the log says how many."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._entries: deque[AuditEntry] = deque()
        self._lost = 0
        self._arrival = asyncio.Event()

    def note(self, entry: AuditEntry) -> None:
        if len(self._entries) >= self._most:
            self._lost += 1
            return
        self._entries.append(entry)
        self._arrival.set()

    async def first(self, most: int) -> Sequence[AuditEntry]:
        """The oldest, as soon as there are any; they stay until they are removed."""
        while not self._entries:
            self._arrival.clear()
            await self._arrival.wait()
        return tuple(islice(self._entries, most))

    def remove(self, count: int) -> None:
        """Let the oldest go, which are in the audit log by now."""
        for _ in range(count):
            self._entries.popleft()
        if self._lost:
            logger.warning("audit entries were lost for want of room", extra={"entries": self._lost})
            self._lost = 0
