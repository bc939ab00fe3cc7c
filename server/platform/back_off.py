"""Pauses between attempts: each twice as long as the last up to a bound, and spread by chance.

Spread, so that clients that failed together do not come back together.
"""

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

# From 0 to below 1.
Chance = Callable[[], float]

_chance: Chance = secrets.SystemRandom().random
# More doublings than that exceed every bound.
_MOST_DOUBLINGS = 32


@dataclass(frozen=True, slots=True)
class BackOff:
    """The first pause and the longest, in seconds; chance adds up to `spread` of a pause to it."""

    first: float
    longest: float
    spread: float = 0.5

    def seconds(self, failures: int, chance: Chance = _chance) -> float:
        """How long to wait after this many failures in a row, from 1 on."""
        pause = min(self.first * 2.0 ** min(failures - 1, _MOST_DOUBLINGS), self.longest)
        return pause * (1 + self.spread * chance())


class Pauses:
    """The pauses of one loop: longer with each failure in a row, and short again after a success."""

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
