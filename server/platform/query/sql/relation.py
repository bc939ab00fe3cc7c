"""Description of a table or a view for the compiler of queries."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from enum import Enum
from types import NoneType
from typing import get_args, get_type_hints

# An index refuses the row of a longer entry than a third of a page.
START_CHARACTERS = 64
"""The number of first characters of a text in an index on texts of any length."""
INDEXED_CHARACTERS = 256
"""So long are the texts that stand as they are in an index which leaves longer ones out."""


def _no_other(entity: type) -> "Relation":
    raise TypeError(f"rows of {entity.__name__} cannot be reached from here")


@dataclass(frozen=True, slots=True)
class Relation:
    """Of the columns, the `nullable` may be missing and the `short` never exceed START_CHARACTERS.

    Indexes hold `start_of(column)` of those `by_start`, and of the `guarded` ones the rows where `guard_of(column)`;
    nullable columns `in_order` have an index that gives an order by them. The columns `words` are of type tsvector; each
    lexeme begins with the tenant and a slash. `other` gives the relation with the rows of another entity that belong to
    rows of this one.
    """

    name: str
    columns: Sequence[str]
    nullable: frozenset[str]
    short: frozenset[str]
    by_start: frozenset[str]
    guarded: frozenset[str]
    in_order: frozenset[str]
    words: frozenset[str] = frozenset()
    other: Callable[[type], "Relation"] = field(default=_no_other, compare=False)

    @staticmethod
    def of(
        row: type,
        name: str,
        *,
        by_start: Collection[str] = (),
        guarded: Collection[str] = (),
        in_order: Collection[str] = (),
        other: Callable[[type], "Relation"] = _no_other,
    ) -> "Relation":
        """The relation with a column for each field of a row, in their order."""
        hints = {column: _options(hint) for column, hint in get_type_hints(row).items()}
        return Relation(
            name,
            columns=tuple(hints),
            nullable=frozenset(column for column, options in hints.items() if NoneType in options),
            short=frozenset(column for column, options in hints.items() if _is_short(options)),
            by_start=frozenset(by_start),
            guarded=frozenset(guarded),
            in_order=frozenset(in_order) | frozenset(by_start),
            other=other,
        )


def owned_by(relation: Relation, tenant: str) -> str:
    """Whether a row is the tenant's, or everybody's because it has none."""
    is_own = f"{quoted('tenant_id')} = {tenant}"
    return f"({is_own} OR {quoted('tenant_id')} IS NULL)" if "tenant_id" in relation.nullable else is_own


def quoted(column: str) -> str:
    """As an identifier that is no keyword."""
    return f'"{column}"'


def start_of(expression: str, length: int = START_CHARACTERS) -> str:
    return f"left({expression}, {length})"


def guard_of(column: str) -> str:
    """Never unknown, and so spelled that the planner takes it to hold for most rows."""
    return f"(char_length({column}) > {INDEXED_CHARACTERS}) IS NOT TRUE"


def _options(hint: object) -> Sequence[object]:
    """The members of an optional type, or the type itself."""
    return get_args(hint) if NoneType in get_args(hint) else (hint,)


def _is_short(options: Sequence[object]) -> bool:
    return any(
        isinstance(option, type) and issubclass(option, Enum) and _longest(option) <= START_CHARACTERS
        for option in options
    )


def _longest(enum: type[Enum]) -> int:
    return max(len(str(member.value)) for member in enum)
