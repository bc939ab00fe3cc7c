"""Calls that stay open: streams, long polls, and calls that wait for a result.

A call ends with the credential that it was admitted with: at the expiry of its token, or with the refusal of the
check that follows a change of something that its principal depends on. Other calls are not checked again.
"""

import asyncio
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import TYPE_CHECKING

from server.platform.back_off import BackOff, Pauses
from server.platform.clock import Clock
from server.platform.errors import DeadlineExceeded, ServiceError, Unauthenticated, Unavailable

if TYPE_CHECKING:
    from server.platform.call import Call

# Checks that run at the same time.
MOST_CHECKS = 16
_BACK_OFF = BackOff(0.1, 1.0)

Readmit = Callable[["Call"], Awaitable[None]]


class OpenCall:
    """The block in which a call is open; the block raises the refusal when the credential has ended."""

    __slots__ = ("_ending", "_owner", "call", "is_queued", "refusal")

    def __init__(self, call: "Call", owner: "OpenCalls") -> None:
        self.call = call
        self.is_queued = False
        self.refusal: ServiceError | None = None
        self._owner = owner

    async def __aenter__(self) -> None:
        self._ending = asyncio.timeout(self._owner.seconds_left(self.call))
        await self._ending.__aenter__()
        self._owner.opened(self)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._owner.closed(self)
        try:
            await self._ending.__aexit__(kind, error, trace)
        except TimeoutError:
            raise self.refusal or Unauthenticated("the token is expired") from None

    def end(self, refusal: ServiceError) -> None:
        self.refusal = refusal
        self._ending.reschedule(0)


class OpenCalls:
    """The open calls of a process; `run` must run while they are served.

    `readmit` checks again whether a call may be made; it raises ServiceError if not.
    """

    def __init__(self, readmit: Readmit, clock: Clock) -> None:
        self._readmit = readmit
        self._clock = clock
        self._open: set[OpenCall] = set()
        self._queue: asyncio.Queue[OpenCall] = asyncio.Queue()

    def __len__(self) -> int:
        return len(self._open)

    def watched(self, call: "Call") -> OpenCall:
        """Return the block of a call that was admitted just now."""
        return OpenCall(call, self)

    async def still(self, call: "Call") -> OpenCall:
        """Return the block of a call that was admitted earlier; raises ServiceError if its credential has ended."""
        await self._readmit(call)
        return OpenCall(call, self)

    def check(self, ids: frozenset[str]) -> None:
        """Check the calls again whose principals depend on one of these ids, or all calls if there are none."""
        for each in self._open:
            if not ids or not ids.isdisjoint(each.call.principal.depends_on):
                self._enqueue(each)

    async def run(self) -> None:
        """Check calls until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            for _ in range(MOST_CHECKS):
                tasks.create_task(self._check_queued())

    def seconds_left(self, call: "Call") -> float | None:
        expires_at = call.principal.expires_at
        return None if expires_at is None else (expires_at - self._clock.now()).total_seconds()

    def opened(self, each: OpenCall) -> None:
        self._open.add(each)

    def closed(self, each: OpenCall) -> None:
        self._open.discard(each)

    def _enqueue(self, each: OpenCall) -> None:
        if not each.is_queued:
            each.is_queued = True
            self._queue.put_nowait(each)

    async def _check_queued(self) -> None:
        pauses = Pauses(_BACK_OFF)
        while True:
            each = await self._queue.get()
            # A change during the check causes another one.
            each.is_queued = False
            try:
                await self._readmit(each.call)
            except (Unavailable, DeadlineExceeded):
                await pauses.after_failure()
                if each in self._open:
                    self._enqueue(each)
                continue
            except ServiceError as refusal:
                if each in self._open:
                    each.end(refusal)
            pauses.succeeded()
