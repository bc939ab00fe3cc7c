"""Pauses between attempts with full jitter: each is random, between 0 and a bound that doubles."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass

_chance: Callable[[], float] = secrets.SystemRandom().random
# More doublings exceed every bound.
_MOST_DOUBLINGS = 32


@dataclass(frozen=True, slots=True)
class BackOff:
    """Bound of the first pause and of the longest pause, in seconds."""

    first: float = 0.05
    longest: float = 5.0

    def seconds(self, failures: int, chance: Callable[[], float] = _chance) -> float:
        """Pause after this many failures in a row, from 1 on."""
        return chance() * min(self.first * 2.0 ** min(failures - 1, _MOST_DOUBLINGS), self.longest)
