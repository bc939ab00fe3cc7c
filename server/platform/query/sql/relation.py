"""What the compiler has to know about a table or a view."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from types import NoneType
from typing import get_args, get_type_hints

INDEXED_CHARACTERS = 64
"""So much of a text stands in an index: a longer entry than a third of a page would refuse its row."""


@dataclass(frozen=True, slots=True)
class Relation:
    """Of the columns, the `nullable` may be missing and the `short` never exceed INDEXED_CHARACTERS.

    Indexes hold `left(column, INDEXED_CHARACTERS)` of the `prefixed` ones.
    """

    name: str
    columns: Sequence[str]
    nullable: frozenset[str]
    short: frozenset[str]
    prefixed: frozenset[str]

    @staticmethod
    def of(row: type, name: str, *, prefixed: Collection[str] = ()) -> "Relation":
        """The relation with a column for each field of a dataclass."""
        names = [entry.name for entry in fields(row)] if is_dataclass(row) else []
        hints = {column: _options(get_type_hints(row)[column]) for column in names}
        return Relation(
            name,
            columns=tuple(names),
            nullable=frozenset(column for column, options in hints.items() if NoneType in options),
            short=frozenset(column for column, options in hints.items() if _is_short(options)),
            prefixed=frozenset(prefixed),
        )


def quoted(column: str) -> str:
    """As an identifier that is no keyword."""
    return f'"{column}"'


def start_of(expression: str, length: int) -> str:
    return f"left({expression}, {length})"


def _options(hint: object) -> Sequence[object]:
    """What a union may be, or the one type that there is."""
    return get_args(hint) if NoneType in get_args(hint) else (hint,)


def _is_short(options: Sequence[object]) -> bool:
    return any(
        isinstance(option, type) and issubclass(option, Enum) and _longest(option) <= INDEXED_CHARACTERS
        for option in options
    )


def _longest(enum: type[Enum]) -> int:
    return max(len(str(member.value)) for member in enum)
