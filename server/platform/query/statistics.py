"""Statistics as data: rows in groups, and what is counted in each group.

They mean the same in all stores. Groups without a row do not exist; at most MOST_GROUPS are given, those with the
greatest first measure, in no other order.
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
"""Of one group: what its rows have in common, then the measures."""


@dataclass(frozen=True, slots=True)
class Count:
    """How many rows of a group meet all conditions."""

    conditions: Conditions = ()


@dataclass(frozen=True, slots=True)
class Different:
    """How many different values of a field the rows of a group have that meet all conditions; a missing one is none."""

    field: Field
    conditions: Conditions = ()


@dataclass(frozen=True, slots=True)
class Latest:
    """The greatest value of a field in the rows of a group that meet all conditions, or None when it is in none."""

    field: Field
    conditions: Conditions = ()


Measure = Count | Different | Latest


@dataclass(frozen=True, slots=True)
class Interval:
    """Groups the rows by the interval that an instant lies in; it stands for its begin. Intervals are counted from 1970."""

    field: Field
    seconds: int


Group = Field | Interval
"""By a list of texts, a row is in the group of each item, so in none when it is empty."""


@dataclass(frozen=True, slots=True)
class Statistic(Generic[S_co]):
    """`row` makes the answer for a group of its values.

    `is_live` says that no row of what has ended meets the clauses that it is asked with; a store need not look at those.
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
        """Check that the fields of the answer are those that rows are grouped `by` and then the measures, in their order."""
        names = tuple(get_type_hints(row))
        if names[: len(by) + len(measures)] != (*by, *measures):
            raise TypeError(f"{row.__name__} has {names}, expected {(*by, *measures)}")
        fields = tuple(searchable.fields[name] for name in by)
        return Statistic(row, searchable.entity, fields, tuple(measures.values()), is_live)


def lists_in(by: Sequence[Group]) -> Sequence[Field]:
    """Those that are lists of texts."""
    return [group for group in by if isinstance(group, Field) and group.type is FieldType.TEXTS]
