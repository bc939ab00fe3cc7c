"""Buffer of audit entries without a command, which a loop brings to a partition."""

import asyncio
import logging
from collections import deque
from collections.abc import Sequence
from itertools import islice

from server.store.entities import AuditEntry

logger = logging.getLogger(__name__)


class WaitingEntries:
    """A buffer for `most` entries; entries beyond that are lost, and their number is logged."""

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
        """Wait for entries and return the oldest; they stay in the buffer until `remove`."""
        while not self._entries:
            self._arrival.clear()
            await self._arrival.wait()
        return tuple(islice(self._entries, most))

    def remove(self, count: int) -> None:
        """Remove the oldest entries after they were written to the audit log."""
        for _ in range(count):
            self._entries.popleft()
        if self._lost:
            logger.warning("audit entries were lost: too many were waiting", extra={"entries": self._lost})
            self._lost = 0
