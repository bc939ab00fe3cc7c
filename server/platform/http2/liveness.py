"""Closes connections whose peer is silent, idle, or pings too often."""

import asyncio
from collections.abc import Callable

from server.platform.http2.limits import Limits


class Liveness:
    """The timer of one connection; `ping` sends a ping, `close` ends the connection.

    The peer must greet in time. While it has calls, it is pinged after a silence and must answer. Without
    calls the connection closes after an idle time.
    """

    def __init__(
        self,
        limits: Limits,
        *,
        is_busy: Callable[[], bool],
        ping: Callable[[], None],
        close: Callable[[], None],
    ) -> None:
        self._limits = limits
        self._is_busy, self._ping, self._close = is_busy, ping, close
        self._loop = asyncio.get_running_loop()
        self._opened = self._heard = self._busy_until = self._loop.time()
        self._pinged: float | None = None
        self._was_pinged = 0.0
        self._strikes = 0
        self._has_greeted = False
        # Short enough to detect each timeout late by at most its own duration.
        self._period = min(
            limits.handshake_timeout_seconds,
            limits.idle_timeout_seconds,
            limits.keepalive_seconds,
            limits.keepalive_timeout_seconds,
        )
        self._timer = self._loop.call_later(self._period, self._check)

    def greeted(self) -> None:
        """Note that the peer has started HTTP/2."""
        self._has_greeted = True

    def heard(self) -> None:
        """Note that data arrived from the peer."""
        self._heard = self._loop.time()
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

    def _check(self) -> None:
        now = self._loop.time()
        if self._is_over(now):
            self._close()
            return
        if self._is_busy() and self._pinged is None and now >= self._heard + self._limits.keepalive_seconds:
            self._pinged = now
            self._ping()
        self._timer = self._loop.call_later(self._period, self._check)

    def _is_over(self, now: float) -> bool:
        limits = self._limits
        if not self._has_greeted:
            return now >= self._opened + limits.handshake_timeout_seconds
        if self._pinged is not None and now >= self._pinged + limits.keepalive_timeout_seconds:
            return True
        return not self._is_busy() and now >= self._busy_until + limits.idle_timeout_seconds
