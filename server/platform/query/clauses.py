"""Clauses of a query: conditions on fields, on related rows, and alternatives."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import assert_never

from server.platform.query.conditions import Condition
from server.platform.query.fields import Field


@dataclass(frozen=True, slots=True)
class Related:
    """True if a related row of another entity meets all clauses.

    A row is related if its `link` equals this row's `key`, which is never missing. Without `is_wanted` the
    clause is true if no such row exists; `link` must then never be missing either, because SQL's NOT IN
    matches nothing if there is a NULL.
    """

    key: Field
    entity: type
    link: str
    clauses: tuple["Clause", ...]
    is_wanted: bool = True


@dataclass(frozen=True, slots=True)
class AnyOf:
    """True if all clauses of at least one branch are true."""

    branches: tuple[tuple["Clause", ...], ...]


Clause = Condition | Related | AnyOf
Clauses = tuple[Clause, ...]


def conditions_in(clauses: Iterable[Clause]) -> Iterator[Condition]:
    """Yield the conditions at any depth."""
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
    """Yield the clauses on related rows at any depth."""
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
