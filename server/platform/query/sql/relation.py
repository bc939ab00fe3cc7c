"""Describes a table or view to the query compiler."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from types import NoneType
from typing import get_args, get_origin, get_type_hints

# PostgreSQL refuses index entries longer than a third of a page.
START_CHARACTERS = 64
"""Length of the prefix in an index on texts of any length."""
INDEXED_CHARACTERS = 256
"""Maximum length of a text in an index that excludes longer ones."""


def _no_other(entity: type) -> "Relation":
    raise TypeError(f"rows of {entity.__name__} cannot be reached from here")


@dataclass(frozen=True, slots=True)
class Relation:
    """A table or view. `nullable` columns may be missing; `short` columns never exceed START_CHARACTERS.

    Indexes contain `start_of(column)` of the columns `by_start`, and of the `guarded` columns only rows that
    meet `guard_of(column)`. Nullable columns `in_order` have an index that provides their order. The columns
    `words` are of type tsvector; each lexeme begins with the tenant and a slash. `texts` and the arrays and
    objects in `composites` may be of any size. `other` returns the relation with related rows of another
    entity.
    """

    name: str
    columns: Sequence[str]
    nullable: frozenset[str]
    short: frozenset[str]
    by_start: frozenset[str]
    guarded: frozenset[str]
    in_order: frozenset[str]
    words: frozenset[str] = frozenset()
    texts: frozenset[str] = frozenset()
    composites: frozenset[str] = frozenset()
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
        """Return the relation with one column per field of a row, in their order."""
        hints = {column: _options(hint) for column, hint in get_type_hints(row).items()}
        return Relation(
            name,
            columns=tuple(hints),
            nullable=frozenset(column for column, options in hints.items() if NoneType in options),
            short=frozenset(column for column, options in hints.items() if _is_short(options)),
            by_start=frozenset(by_start),
            guarded=frozenset(guarded),
            in_order=frozenset(in_order) | frozenset(by_start),
            texts=frozenset(column for column, options in hints.items() if str in options),
            composites=frozenset(
                column for column, (first, *_) in hints.items() if get_origin(first) in {tuple, Mapping}
            ),
            other=other,
        )


def owned_by(relation: Relation, tenant: str) -> str:
    """Return the predicate for rows of the tenant, and for rows without a tenant."""
    is_own = f"{quoted('tenant_id')} = {tenant}"
    return f"({is_own} OR {quoted('tenant_id')} IS NULL)" if "tenant_id" in relation.nullable else is_own


def quoted(column: str) -> str:
    """Quote an identifier."""
    return f'"{column}"'


def start_of(expression: str, length: int = START_CHARACTERS) -> str:
    return f"left({expression}, {length})"


def guard_of(column: str) -> str:
    """Return the predicate for texts short enough for the index.

    It is never NULL, and is written so that the planner assumes it is true for most rows.
    """
    return f"(char_length({column}) > {INDEXED_CHARACTERS}) IS NOT TRUE"


def _options(hint: object) -> Sequence[object]:
    """Return the members of an optional type, or the type itself."""
    return get_args(hint) if NoneType in get_args(hint) else (hint,)


def _is_short(options: Sequence[object]) -> bool:
    return any(
        isinstance(option, type) and issubclass(option, Enum) and _longest(option) <= START_CHARACTERS
        for option in options
    )


def _longest(enum: type[Enum]) -> int:
    return max(len(str(member.value)) for member in enum)
