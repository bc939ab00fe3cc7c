"""Chance that a campaign can repeat: numbers that follow from a seed."""

from collections.abc import Sequence
from hashlib import blake2b
from itertools import count
from typing import TypeVar

T = TypeVar("T")


class Dice:
    def __init__(self, seed: str) -> None:
        self.seed = seed
        self._turns = count()

    def between(self, least: int, most: int) -> int:
        """Both included."""
        digest = blake2b(f"{self.seed}/{next(self._turns)}".encode(), digest_size=8).digest()
        return least + int.from_bytes(digest) % (most - least + 1)

    def choice(self, items: Sequence[T]) -> T:
        return items[self.between(0, len(items) - 1)]

    def shuffled(self, items: Sequence[T]) -> Sequence[T]:
        left = list(items)
        return [left.pop(self.between(0, len(left) - 1)) for _ in items]
