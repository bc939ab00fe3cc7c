"""Evaluates a statistic over rows in memory."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import product
from operator import attrgetter
from typing import TypeVar, assert_never, cast

from server.platform.query.evaluate import matching
from server.platform.query.fields import Field, FieldType, Scalar
from server.platform.query.statistics import (
    MOST_GROUPS,
    Count,
    Different,
    Group,
    Interval,
    Latest,
    Measure,
    Statistic,
    Values,
)

E = TypeVar("E")
S = TypeVar("S")

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def grouped(rows: Iterable[E], statistic: Statistic[S]) -> Sequence[S]:
    """Return one result row per group."""
    groups: dict[Values, list[E]] = defaultdict(list)
    readers = [_reader(group) for group in statistic.by]
    for row in rows:
        for place in product(*(read(row) for read in readers)):
            groups[place].append(row)
    found = [
        (*place, *(_measured(members, measure) for measure in statistic.measures))
        for place, members in groups.items()
    ]
    found.sort(key=lambda values: cast("int", values[len(readers)]), reverse=True)
    return [statistic.row(*values) for values in found[:MOST_GROUPS]]


def _reader(group: Group) -> Callable[[object], Sequence[Scalar | None]]:
    """Return a function that yields a row's grouping values."""
    if isinstance(group, Interval):
        read, seconds = attrgetter(group.field.name), group.seconds
        return lambda row: (_begin(read(row), seconds),)
    read = attrgetter(group.name)
    return read if group.type is FieldType.TEXTS else lambda row: (read(row),)


def _begin(instant: datetime | None, seconds: int) -> datetime | None:
    if instant is None:
        return None
    return instant - (instant - _EPOCH) % timedelta(seconds=seconds)


def _measured(rows: Sequence[E], measure: Measure) -> Scalar | None:
    match measure:
        case Count():
            return len(matching(rows, measure.conditions))
        case Different():
            met = matching(rows, measure.conditions)
            return len(set(cast("Iterator[Hashable]", _present(met, measure.field))))
        case Latest():
            met = matching(rows, measure.conditions)
            values = cast("Iterator[datetime]", _present(met, measure.field))
            return max(values, default=None)
        case _:
            assert_never(measure)


def _present(rows: Iterable[E], field: Field) -> Iterator[Scalar]:
    read = attrgetter(field.name)
    return (value for row in rows if (value := read(row)) is not None)
