"""Event loop lag: the longest delay of a timer since the metric was last read."""

import asyncio
from collections.abc import Iterator

from server.platform.metrics import Gauge, Metrics

INTERVAL_SECONDS = 0.25


class LoopLag:
    """Measures the lag of the current event loop while `run` runs."""

    def __init__(self, metrics: Metrics) -> None:
        self._longest = 0.0
        metrics.gauge("gnomon_event_loop_lag_seconds", "Longest delay of the event loop", self._read)

    async def run(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            expected = loop.time() + INTERVAL_SECONDS
            await asyncio.sleep(INTERVAL_SECONDS)
            self._longest = max(self._longest, loop.time() - expected)

    def _read(self) -> Iterator[Gauge]:
        longest, self._longest = self._longest, 0.0
        yield Gauge(longest)
