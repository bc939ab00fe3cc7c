"""Pauses between attempts: exponential back-off with an upper bound and random jitter.

The jitter keeps clients that failed together from retrying together.
"""

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

# Returns a number from 0 to below 1.
Chance = Callable[[], float]

_chance: Chance = secrets.SystemRandom().random
# More doublings would exceed every configured bound.
_MOST_DOUBLINGS = 32


@dataclass(frozen=True, slots=True)
class BackOff:
    """The first and the longest pause in seconds; jitter adds at most the fraction `spread` to a pause."""

    first: float
    longest: float
    spread: float = 0.5

    def seconds(self, failures: int, chance: Chance = _chance) -> float:
        """Return the seconds to wait after a number of failures in a row, which starts at 1."""
        pause = min(self.first * 2.0 ** min(failures - 1, _MOST_DOUBLINGS), self.longest)
        return pause * (1 + self.spread * chance())


class Pauses:
    """The pauses of one loop: each failure in a row lengthens them, a success resets them."""

    def __init__(
        self, back_off: BackOff, sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    ) -> None:
        self._back_off = back_off
        self._sleep = sleep
        self._failures = 0

    async def after_failure(self) -> None:
        self._failures += 1
        await self._sleep(self._back_off.seconds(self._failures))

    def succeeded(self) -> None:
        self._failures = 0
