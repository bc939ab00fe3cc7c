"""Evaluates a query over rows in memory.

Every clause is one pass over the rows that the previous clauses kept. The input is in key order, so the
default order needs no sort and, without conditions, no copy.
"""

from bisect import bisect_left
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from enum import Enum
from functools import cache, partial
from operator import attrgetter, eq, ge, gt, le, lt, ne
from typing import TypeVar, assert_never, cast, get_type_hints

from server.platform.query.clauses import AnyOf, Clause, Related
from server.platform.query.conditions import Condition, Operator
from server.platform.query.cursor import cursors
from server.platform.query.fields import FieldType, Scalar, fields_of
from server.platform.query.like import like, text_of
from server.platform.query.model import Page, Position, Query, SortKey, position_reader

E = TypeVar("E")

Links = Callable[[Related], Container[Scalar]]
"""Returns the link values of the related rows that meet a clause's conditions."""


def no_links(clause: Related) -> Container[Scalar]:
    """Raise TypeError, for entities without clauses on related rows."""
    raise TypeError(f"rows of {clause.entity.__name__} cannot be reached from here")


def evaluate(rows: Sequence[E], query: Query, links: Links = no_links) -> Page[E]:
    """Evaluate a query over rows in ascending order of the entity's key."""
    matches = ordered(matching(rows, query.clauses, links), query.sort)
    start, stop = _bounds(matches, query)
    items = _within_octets(matches[start:stop], query)
    return Page(items, len(matches), *cursors(query, items))


def matching(rows: Sequence[E], clauses: Iterable[Clause], links: Links = no_links) -> Sequence[E]:
    """Return the rows that meet all clauses; without clauses, the same sequence."""
    for clause in clauses:
        rows = _kept(rows, clause, links)
    return rows


def ordered(rows: Sequence[E], sort: Sequence[SortKey]) -> Sequence[E]:
    """Sort rows that are in ascending order of the last sort key; if that is the only key, return them unchanged."""
    *wanted, tie_breaker = sort
    if tie_breaker.is_descending:
        rows = rows[::-1]
    # Sorting is stable, so the least significant key goes first.
    for key in reversed(wanted):
        rows = _sorted(rows, key)
    return rows


def _kept(rows: Sequence[E], clause: Clause, links: Links) -> list[E]:
    match clause:
        case Condition():
            return _sieved(rows, clause)
        case Related():
            found, read = links(clause), attrgetter(clause.key.name)
            return [row for row in rows if (read(row) in found) is clause.is_wanted]
        case AnyOf():
            kept = {id(row) for branch in clause.branches for row in matching(rows, branch, links)}
            return [row for row in rows if id(row) in kept]
        case _:
            assert_never(clause)


def _sieved(rows: Iterable[E], condition: Condition) -> list[E]:
    read = attrgetter(condition.field.name)
    test = _TESTS[condition.operator](condition.operand)
    if condition.field.type is FieldType.TEXTS and condition.operator not in _OF_LISTS:
        return [row for row in rows if _fits(read(row), condition.operator, test)]
    if condition.operator in _OF_ANY:
        return [row for row in rows if test(read(row))]
    return [row for row in rows if (value := read(row)) is not None and test(value)]


def _fits(items: Sequence[Scalar], operator: Operator, test: Callable[..., bool]) -> bool:
    if operator is Operator.EXISTS:
        return test(items or None)
    found = map(test, items)
    return all(found) if operator in _OF_ALL else any(found)


def _sorted(rows: Sequence[E], key: SortKey) -> list[E]:
    # All values of a field have one type, so they are comparable.
    read = cast("Callable[[object], str]", key.reader())
    present = [row for row in rows if read(row) is not None]
    missing = [row for row in rows if read(row) is None] if len(present) < len(rows) else []
    present.sort(key=read, reverse=key.is_descending)
    return present + missing


def _bounds(rows: Sequence[E], query: Query) -> tuple[int, int]:
    window, sort = query.window, query.sort
    after, before = window.after, window.before
    limit = len(rows) if window.limit is None else window.limit
    if after is not None:
        start = _count(rows, sort, lambda position: not _precedes(after, position, sort))
        return start, start + limit
    if before is not None:
        stop = _count(rows, sort, lambda position: _precedes(position, before, sort))
        return max(stop - limit, 0), stop
    return window.offset, window.offset + limit


def _within_octets(rows: Sequence[E], query: Query) -> Sequence[E]:
    """Return the rows of a page that fit, at least one; those next to the position where the page begins."""
    most = query.most_octets
    if most is None:
        return rows
    is_reversed = query.window.before is not None
    octets, count = 0, 0
    for row in reversed(rows) if is_reversed else rows:
        if octets >= most:
            break
        octets += _octets(row, query.cut)
        count += 1
    return rows[len(rows) - count :] if is_reversed else rows[:count]


def _octets(row: object, cut: Mapping[str, int]) -> int:
    """Return the octets of a row's texts, also those in lists and mappings."""
    kind: type = type(row)
    return sum(_octets_of(getattr(row, name), cut.get(name)) for name in _texts_of(kind))


@cache
def _texts_of(kind: type) -> Sequence[str]:
    """Return the names of attributes that may be of any size."""
    fields = fields_of(kind)
    return [
        name
        for name in get_type_hints(kind)
        if name not in fields or fields[name].type in {FieldType.TEXT, FieldType.TEXTS}
    ]


def _octets_of(value: object, most: int | None) -> int:
    match value:
        case Enum():
            return 0
        case str():
            text = value[:most]
            return len(text) if text.isascii() else len(text.encode(errors="replace"))
        case tuple():
            return sum(_octets_of(item, None) for item in value)
        case Mapping():
            return sum(_octets_of(part, None) for entry in value.items() for part in entry)
        case _:
            return 0


def _count(rows: Sequence[E], sort: Sequence[SortKey], stands: Callable[[Position], bool]) -> int:
    """Return the number of leading rows whose position meets `stands`."""
    position = position_reader(sort)
    return bisect_left(rows, True, key=lambda row: not stands(position(row)))


def _precedes(one: Position, other: Position, sort: Sequence[SortKey]) -> bool:
    for left, right, key in zip(one, other, sort, strict=True):
        if left != right:
            if left is None or right is None:
                return right is None
            return bool(gt(left, right) if key.is_descending else lt(left, right))
    return False


def _not_in(values: Iterable[Scalar]) -> Callable[[Scalar | None], bool]:
    found = frozenset(values)
    return lambda value: value not in found


def _like(pattern: str) -> Callable[[Scalar], bool]:
    matches = like(pattern)
    return lambda value: matches(text_of(value))


def _not_like(pattern: str) -> Callable[[Scalar | None], bool]:
    matches = like(pattern)
    return lambda value: value is None or not matches(text_of(value))


# Maps an operator to a function that creates its test from the operand; `partial(lt, x)` tests x < value.
_TESTS: Mapping[Operator, Callable[..., Callable[..., bool]]] = {
    Operator.EQ: lambda operand: partial(eq, operand),
    Operator.NEQ: lambda operand: partial(ne, operand),
    Operator.EXISTS: lambda operand: lambda value: (value is not None) is operand,
    Operator.IN: lambda operand: frozenset(operand).__contains__,
    Operator.NOT_IN: _not_in,
    Operator.LIKE: _like,
    Operator.NOT_LIKE: _not_like,
    Operator.GT: lambda operand: partial(lt, operand),
    Operator.GTE: lambda operand: partial(le, operand),
    Operator.LT: lambda operand: partial(gt, operand),
    Operator.LTE: lambda operand: partial(ge, operand),
    Operator.CONTAINS_EVERY: lambda operand: frozenset(operand).issubset,
    Operator.CONTAINS_NONE: lambda operand: frozenset(operand).isdisjoint,
    Operator.BEGINS: lambda operand: lambda value: value.startswith(operand),
    Operator.LONGER_THAN: lambda operand: lambda value: len(value) > operand,
    Operator.NOT_LONGER_THAN: lambda operand: lambda value: len(value) <= operand,
}
_OF_LISTS = frozenset({Operator.CONTAINS_EVERY, Operator.CONTAINS_NONE})
_OF_ALL = frozenset({Operator.NEQ, Operator.NOT_IN, Operator.NOT_LIKE})
_OF_ANY = frozenset({Operator.EQ, Operator.EXISTS, Operator.IN}) | _OF_ALL
