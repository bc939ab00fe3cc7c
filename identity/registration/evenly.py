"""Answers that take as long for one address as for another."""

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from identity.sign_in.delays import Delays

# Longer than the few writes that one address takes and another does not.
LEAST_SECONDS = 0.25

T = TypeVar("T")


class Evenly:
    def __init__(self, delays: Delays) -> None:
        self._delays = delays

    async def done(self, work: Awaitable[T]) -> T:
        """Do what an address asks for, and return no earlier than after a while; raises ResourceExhausted."""
        loop = asyncio.get_running_loop()
        begun = loop.time()
        result = await work
        await self._delays.hold(LEAST_SECONDS - (loop.time() - begun))
        return result
