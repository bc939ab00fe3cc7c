"""Answers that are held back, never more at a time than a bound."""

import asyncio
from typing import Protocol

from server.platform.errors import ResourceExhausted


class Pause(Protocol):
    async def __call__(self, seconds: float, /) -> None: ...


class Delays:
    """Holding answers back costs memory here; past the bound callers are turned away at once instead."""

    def __init__(self, most: int, pause: Pause = asyncio.sleep) -> None:
        self._most = most
        self._pause = pause
        self.held = 0

    async def hold(self, seconds: float) -> None:
        """Return so much later; raises ResourceExhausted when too many are held back already."""
        if seconds <= 0:
            return
        if self.held >= self._most:
            raise ResourceExhausted("too many sign-ins fail at the moment")
        self.held += 1
        try:
            await self._pause(seconds)
        finally:
            self.held -= 1
