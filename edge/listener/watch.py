"""Deadlines of one connection, by its phase.

One timer serves all of them. It runs at most as long as the shortest timeout. So a new deadline, which is never nearer
than that, needs no new timer.
"""

import asyncio
import math
from collections.abc import Callable, Mapping
from enum import IntEnum, auto


class Phase(IntEnum):
    """`HEAD`: part of a request head is missing. `BODY`: part of a body is missing that a handler reads.

    `IDLE`: between two requests. `WORK`: the server works, without a deadline of the connection. `REST`: the response
    is sent before the body was complete. `CLOSING`: written bytes are still being sent.
    """

    HEAD = auto()
    IDLE = auto()
    BODY = auto()
    WORK = auto()
    REST = auto()
    CLOSING = auto()


class Watch:
    """Calls `on_late` after the deadline of the phase, and `on_stalled` when the peer stops reading."""

    def __init__(
        self,
        timeouts: Mapping[Phase, float],
        *,
        send_timeout: float,
        on_late: Callable[[Phase], None],
        on_stalled: Callable[[], None],
    ) -> None:
        self.phase = Phase.HEAD
        self._loop = asyncio.get_running_loop()
        self._timeouts = timeouts
        self._send_timeout = send_timeout
        self._longest_tick = min(send_timeout, *timeouts.values())
        self._on_late = on_late
        self._on_stalled = on_stalled
        self._deadline = math.inf
        self._stalled = math.inf
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        self.enter(Phase.HEAD)
        self._tick()

    def enter(self, phase: Phase) -> None:
        """Begin a phase, whose deadline counts from now."""
        self.phase = phase
        self._deadline = self._loop.time() + self._timeouts.get(phase, math.inf)

    def stall(self) -> None:
        """Record that the send buffer is full until the peer reads."""
        self._stalled = self._loop.time() + self._send_timeout

    def flow(self) -> None:
        """Record that the peer reads."""
        self._stalled = math.inf

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _tick(self) -> None:
        now = self._loop.time()
        nearest = min(self._deadline, self._stalled, now + self._longest_tick)
        self._timer = self._loop.call_at(nearest, self._look)

    def _look(self) -> None:
        now = self._loop.time()
        self._timer = None
        if self._stalled <= now:
            self._on_stalled()
            return
        if self._deadline <= now:
            self._deadline = math.inf
            self._on_late(self.phase)
        self._tick()
