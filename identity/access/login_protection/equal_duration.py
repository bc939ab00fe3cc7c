"""Responses with the same duration for known and unknown addresses."""

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from identity.access.login_protection.delays import Delays

# Longer than the few writes by which the addresses differ.
LEAST_SECONDS = 0.25

T = TypeVar("T")


class EqualDuration:
    def __init__(self, delays: Delays) -> None:
        self._delays = delays

    async def done(self, work: Awaitable[T]) -> T:
        """Await the work, and return after at least LEAST_SECONDS; raises ResourceExhausted."""
        loop = asyncio.get_running_loop()
        begun = loop.time()
        result = await work
        await self._delays.hold(LEAST_SECONDS - (loop.time() - begun))
        return result
