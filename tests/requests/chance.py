"""Dice that are thrown some fifty times for one request: numbers that follow from a seed, thousands of one digest."""

from collections.abc import Iterator
from hashlib import shake_128
from itertools import count
from struct import Struct

from tests.campaigns.dice import Dice

_NUMBERS = Struct(">8192Q")


class Chance(Dice):
    """Other numbers than those of `Dice` of the same seed, in a fifth of the time."""

    def __init__(self, seed: str) -> None:
        super().__init__(seed)
        self._next = _numbers(seed).__next__

    def between(self, least: int, most: int) -> int:
        """Both included."""
        return least + self._next() % (most - least + 1)


def _numbers(seed: str) -> Iterator[int]:
    for block in count():
        yield from _NUMBERS.unpack(shake_128(f"{seed}/{block}".encode()).digest(_NUMBERS.size))
