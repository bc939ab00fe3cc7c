"""Buffer of audit entries without a command, which a loop brings to a partition."""

import asyncio
import logging
from collections import deque
from collections.abc import Sequence
from itertools import accumulate, islice

from server.engine.octets import octets_of
from server.store.entities import AuditEntry

logger = logging.getLogger(__name__)


# The size of the entries that wait, and of those that are written together.
MOST_WAITING_OCTETS = 16 * 1024 * 1024
MOST_WRITTEN_OCTETS = 1024 * 1024


class WaitingEntries:
    """A buffer for `most` entries with `most_octets`; entries beyond that are lost, and their number is logged."""

    def __init__(self, most: int, most_octets: int = MOST_WAITING_OCTETS) -> None:
        self._most = most
        self._most_octets = most_octets
        self._entries: deque[tuple[AuditEntry, int]] = deque()
        self._octets = 0
        self._lost = 0
        self._arrival = asyncio.Event()

    def note(self, entry: AuditEntry) -> None:
        octets = octets_of(entry)
        if len(self._entries) >= self._most or self._octets + octets > self._most_octets:
            self._lost += 1
            return
        self._entries.append((entry, octets))
        self._octets += octets
        self._arrival.set()

    async def first(self, most: int, most_octets: int = MOST_WRITTEN_OCTETS) -> Sequence[AuditEntry]:
        """Wait for entries and return the oldest; they stay in the buffer until `remove`.

        At least one is returned, and no more than have `most_octets`.
        """
        while not self._entries:
            self._arrival.clear()
            await self._arrival.wait()
        sizes = accumulate(octets for _, octets in islice(self._entries, most))
        count = sum(1 for size in sizes if size <= most_octets)
        return tuple(entry for entry, _ in islice(self._entries, max(count, 1)))

    def remove(self, count: int) -> None:
        """Remove the oldest entries after they were written to the audit log."""
        for _ in range(count):
            self._octets -= self._entries.popleft()[1]
        if self._lost:
            logger.warning("audit entries were lost: too many were waiting", extra={"entries": self._lost})
            self._lost = 0
