"""Silence of a server, in time during which this process runs.

A process that stands still hears nothing, although its servers send. A stopped virtual machine or a long
garbage collection must not break good connections.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

# A standstill counts at most as one period.
PERIODS = 10


class Silence:
    """Counts periods since the server was last heard; a period that ends late does not count."""

    def __init__(self, seconds: float) -> None:
        self._period = seconds / PERIODS
        self._periods = 0

    def heard(self) -> None:
        self._periods = 0

    @asynccontextmanager
    async def limited(self) -> AsyncIterator[None]:
        """Raise TimeoutError when the server was silent for all periods."""
        self.heard()
        async with asyncio.timeout(None) as limit:
            self._begin(limit)
            try:
                yield
            finally:
                self._timer.cancel()

    def _begin(self, limit: asyncio.Timeout) -> None:
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(self._period, self._end, loop.time() + 2 * self._period, limit)

    def _end(self, late: float, limit: asyncio.Timeout) -> None:
        now = asyncio.get_running_loop().time()
        if now < late:
            self._periods += 1
        if self._periods < PERIODS:
            self._begin(limit)
        else:
            limit.reschedule(now)
