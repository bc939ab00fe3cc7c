"""Clauses of a query: conditions on its fields, on rows that belong to it, and alternatives."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import assert_never

from server.platform.query.conditions import Condition
from server.platform.query.fields import Field


@dataclass(frozen=True, slots=True)
class Related:
    """Holds when a row of another entity belongs to this row, and all clauses hold for that one.

    `key` is the field of this row that the other's `link` holds; it is never missing. Without `is_wanted` the clause holds
    when there is no such row; the link is then never missing either, because SQL's NOT IN finds nothing beside NULL.
    """

    key: Field
    entity: type
    link: str
    clauses: tuple["Clause", ...]
    is_wanted: bool = True


@dataclass(frozen=True, slots=True)
class AnyOf:
    """Holds when all clauses of at least one branch hold."""

    branches: tuple[tuple["Clause", ...], ...]


Clause = Condition | Related | AnyOf
Clauses = tuple[Clause, ...]


def conditions_in(clauses: Iterable[Clause]) -> Iterator[Condition]:
    """Conditions at any depth."""
    for clause in clauses:
        match clause:
            case Condition():
                yield clause
            case Related():
                yield from conditions_in(clause.clauses)
            case AnyOf():
                for branch in clause.branches:
                    yield from conditions_in(branch)
            case _:
                assert_never(clause)


def relations_in(clauses: Iterable[Clause]) -> Iterator[Related]:
    """Clauses on related rows at any depth."""
    for clause in clauses:
        match clause:
            case Condition():
                pass
            case Related():
                yield clause
                yield from relations_in(clause.clauses)
            case AnyOf():
                for branch in clause.branches:
                    yield from relations_in(branch)
            case _:
                assert_never(clause)
