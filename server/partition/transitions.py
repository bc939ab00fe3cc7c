"""State machines as tables of the allowed moves; every other move is a fault."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Generic, TypeVar

S = TypeVar("S", bound=StrEnum)
M = TypeVar("M", bound=StrEnum)

Table = Mapping[S, Mapping[M, S]]


class IllegalMove(Exception):
    """The program tried a move that the table does not have: a fault of the program."""


class Machine(Generic[S, M]):
    """A state that changes only by the moves of a table; `name` is used in error messages."""

    def __init__(self, name: str, state: S, table: Table[S, M]) -> None:
        self._name = name
        self._state = state
        self._table = table

    @property
    def state(self) -> S:
        return self._state

    def move(self, move: M) -> None:
        """Change the state; raises IllegalMove for a move that the current state does not allow."""
        following = self._table[self._state].get(move)
        if following is None:
            raise IllegalMove(f"{self._name}: {move} in state {self._state}")
        self._state = following
