"""Delayed responses, bounded in number, and cancelled when the provider stops."""

import asyncio
from typing import Protocol

from server.platform.errors import ResourceExhausted, Unavailable


class Pause(Protocol):
    async def __call__(self, seconds: float, /) -> None: ...


class Delays:
    """Delayed responses cost memory, so callers beyond the bound are refused at once."""

    def __init__(self, most: int, pause: Pause = asyncio.sleep) -> None:
        self._most = most
        self._pause = pause
        self._held: set[asyncio.Timeout] = set()
        self._is_draining = False

    @property
    def held(self) -> int:
        return len(self._held)

    async def hold(self, seconds: float) -> None:
        """Return after this time; raises ResourceExhausted beyond the bound, Unavailable when the provider stops."""
        if seconds <= 0:
            return
        if self._is_draining:
            raise _stopping()
        if self.held >= self._most:
            raise ResourceExhausted("too many sign-ins fail at the moment")
        hold = asyncio.timeout(None)
        try:
            async with hold:
                self._held.add(hold)
                await self._pause(seconds)
        except TimeoutError:
            raise _stopping() from None
        finally:
            self._held.discard(hold)

    def drain(self) -> None:
        """End every delay with an error and refuse new ones, so that stopping does not speed up guessing."""
        self._is_draining = True
        now = asyncio.get_running_loop().time()
        for hold in self._held:
            hold.reschedule(now)


def _stopping() -> Unavailable:
    return Unavailable("the provider is stopping")
