"""Closes connections whose peer is silent, idle, does not read, or pings too often."""

import asyncio
from collections.abc import Callable

from server.platform.http2.limits import Limits
from server.platform.http2.meter import Closing


class Liveness:
    """The timer of one connection; `ping` sends a ping, `close` ends the connection.

    The peer must greet in time, and make its first call in time. While it has calls, it is pinged after a silence and
    must answer. Without calls the connection closes after an idle time. `is_busy` is whether calls are open, and
    `has_called` whether a handler ever began. `check` looks at the calls and answers at each tick.
    """

    def __init__(
        self,
        limits: Limits,
        *,
        is_busy: Callable[[], bool],
        has_called: Callable[[], bool],
        ping: Callable[[], None],
        check: Callable[[float], Closing | None],
        close: Callable[[Closing], None],
    ) -> None:
        self._limits = limits
        self._is_busy, self._has_called = is_busy, has_called
        self._ping, self._check_calls, self._close = ping, check, close
        self._loop = asyncio.get_running_loop()
        self._opened = self.heard_at = self._busy_until = self._loop.time()
        self._pinged: float | None = None
        self._was_pinged = 0.0
        self._strikes = 0
        self._has_greeted = False
        # Short enough to detect each timeout late by at most its own duration.
        self._period = min(
            limits.handshake_timeout_seconds,
            limits.first_call_timeout_seconds,
            limits.idle_timeout_seconds,
            limits.request_timeout_seconds,
            limits.send_timeout_seconds,
            limits.keepalive_seconds,
            limits.keepalive_timeout_seconds,
        )
        self._timer = self._loop.call_later(self._period, self._tick)

    def greeted(self) -> None:
        """Note that the peer has started HTTP/2."""
        self._has_greeted = True

    def heard(self) -> None:
        """Note that data arrived from the peer."""
        self.heard_at = self._loop.time()
        self._pinged = None

    def used(self) -> None:
        """Note that a call has ended."""
        self._busy_until = self._loop.time()

    def sent(self) -> None:
        """Note that headers or data were sent, after which the peer may ping to measure the connection."""
        self._strikes = 0
        self._was_pinged = 0.0

    def is_pinged_too_often(self) -> bool:
        """Count a ping of the peer; return whether there were too many.

        See github.com/grpc/proposal/blob/master/A8-client-side-keepalive.md.
        """
        now = self._loop.time()
        if now - self._was_pinged < self._limits.min_ping_interval_seconds:
            self._strikes += 1
        self._was_pinged = now
        return self._strikes > self._limits.max_ping_strikes

    def stop(self) -> None:
        self._timer.cancel()

    def _tick(self) -> None:
        now = self._loop.time()
        closing = self._end_of(now) or self._check_calls(now)
        if closing is not None:
            self._close(closing)
            return
        if self._is_busy() and self._pinged is None and now >= self.heard_at + self._limits.keepalive_seconds:
            self._pinged = now
            self._ping()
        self._timer = self._loop.call_later(self._period, self._tick)

    def _end_of(self, now: float) -> Closing | None:
        limits, is_busy = self._limits, self._is_busy()
        # A first call may still be incomplete.
        first = limits.first_call_timeout_seconds + (limits.request_timeout_seconds if is_busy else 0)
        if not self._has_greeted and now >= self._opened + limits.handshake_timeout_seconds:
            return Closing.HANDSHAKE_TIMEOUT
        if self._pinged is not None and now >= self._pinged + limits.keepalive_timeout_seconds:
            return Closing.KEEPALIVE_TIMEOUT
        if not self._has_called() and now >= self._opened + first:
            return Closing.FIRST_CALL_TIMEOUT
        if not is_busy and now >= self._busy_until + limits.idle_timeout_seconds:
            return Closing.IDLE_TIMEOUT
        return None
