"""Statistics as data: groups of rows, and measures of each group.

All stores give the same result: only groups with rows, at most MOST_GROUPS, chosen by the greatest first
measure.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar, get_type_hints

from server.platform.query.conditions import Conditions
from server.platform.query.fields import Field, FieldType, Scalar
from server.platform.query.searchable import Searchable

S = TypeVar("S")
S_co = TypeVar("S_co", covariant=True)

MOST_GROUPS = 10_000

Values = tuple[Scalar | None, ...]
"""The values of one group: its grouping values, then its measures."""


@dataclass(frozen=True, slots=True)
class Count:
    """The number of a group's rows that meet all conditions."""

    conditions: Conditions = ()


@dataclass(frozen=True, slots=True)
class Different:
    """The number of distinct values of a field in a group's rows that meet all conditions; missing values do not count."""

    field: Field
    conditions: Conditions = ()


@dataclass(frozen=True, slots=True)
class Latest:
    """The greatest value of a field in a group's rows that meet all conditions; None without a value."""

    field: Field
    conditions: Conditions = ()


Measure = Count | Different | Latest


@dataclass(frozen=True, slots=True)
class Interval:
    """Groups rows by time interval, represented by its start. Intervals are counted from 1970."""

    field: Field
    seconds: int


Group = Field | Interval
"""Grouped by a list of texts, a row belongs to the group of each item; with an empty list, to none."""


@dataclass(frozen=True, slots=True)
class Statistic(Generic[S_co]):
    """A statistic; `row` creates the result of a group from its values.

    `is_live` states that only rows of active entities can meet the clauses, so a store may skip ended ones.
    """

    row: Callable[..., S_co]
    entity: type
    by: tuple[Group, ...]
    measures: tuple[Measure, ...]
    is_live: bool = False

    @staticmethod
    def of(
        row: type[S],
        searchable: Searchable[object],
        *,
        by: Sequence[str],
        measures: Mapping[str, Measure],
        is_live: bool = False,
    ) -> "Statistic[S]":
        """Create a statistic; raises TypeError unless the result's fields are `by` and then the measures, in this order."""
        names = tuple(get_type_hints(row))
        if names[: len(by) + len(measures)] != (*by, *measures):
            raise TypeError(f"{row.__name__} has {names}, expected {(*by, *measures)}")
        fields = tuple(searchable.fields[name] for name in by)
        return Statistic(row, searchable.entity, fields, tuple(measures.values()), is_live)


def lists_in(by: Sequence[Group]) -> Sequence[Field]:
    """Return the groups that are lists of texts."""
    return [group for group in by if isinstance(group, Field) and group.type is FieldType.TEXTS]
