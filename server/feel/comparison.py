"""Equality and order in three-valued logic: null for values that cannot be compared."""

import operator
from collections.abc import Callable, Hashable, Mapping
from decimal import Decimal
from functools import partial
from typing import TypeAlias

from server.feel.failures import FailureType
from server.feel.run import Run, measure
from server.feel.temporal.comparison import rank
from server.feel.values import TEMPORAL_TYPES, Range, Value, is_temporal

Relation: TypeAlias = Callable[[Run, Value, Value, int | None], Value]

_NUMBERS = [(left, right) for left in (int, Decimal) for right in (int, Decimal)]

_TEMPORAL = [(kind, kind) for kind in TEMPORAL_TYPES]
_EQUATABLE: frozenset[tuple[type, type]] = frozenset(
    [*_NUMBERS, *_TEMPORAL, (bool, bool), (str, str), (list, list), (dict, dict), (Range, Range)]
)
_PLAINLY_ORDERED: frozenset[tuple[type, type]] = frozenset([*_NUMBERS, (str, str)])


def equal(run: Run, left: Value, right: Value, position: int | None = None) -> bool | None:
    if left is None or right is None:
        return left is right
    if (type(left), type(right)) not in _EQUATABLE or (is_temporal(left) and not are_ordered(left, right)):
        run.fail(FailureType.NOT_COMPARABLE, "Can't compare '{}' with '{}'", left, right, position=position)
        return None
    measure(run, left, right)
    return is_same(run, left, right)


def is_same(run: Run, left: Value, right: Value) -> bool:
    """Two-valued equality, as inside lists and contexts; the values must have been measured."""
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(partial(is_same, run), left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(
            is_same(run, item, right[key]) for key, item in left.items()
        )
    if left is None or right is None:
        return left is right
    if is_temporal(left) and is_temporal(right):
        return run.dialect.identity(left) == run.dialect.identity(right)
    return (type(left), type(right)) in _EQUATABLE and left == right


def identity(run: Run, value: Value) -> Hashable:
    """Return a hashable that is equal for equal values, unlike Python's `1 == True`. The value must have been measured."""
    if isinstance(value, list):
        return tuple(map(partial(identity, run), value))
    if isinstance(value, dict):
        return frozenset((key, identity(run, item)) for key, item in value.items())
    if is_temporal(value):
        return run.dialect.identity(value)
    return (bool, value) if isinstance(value, bool) else value


def are_ordered(left: Value, right: Value) -> bool:
    """Whether two values belong to one order, including equal values."""
    if is_temporal(left) and is_temporal(right):
        return rank(left)[0] == rank(right)[0]
    return (type(left), type(right)) in _PLAINLY_ORDERED


def precedes(left: Value, right: Value) -> bool:
    """Whether left is not after right; the values must belong to one order."""
    return _not_after(_ranked(left), _ranked(right))


def _ranked(value: Value) -> object:
    return rank(value) if is_temporal(value) else value


_not_after: Callable[..., bool] = operator.le


def not_equal(run: Run, left: Value, right: Value, position: int | None = None) -> bool | None:
    result = equal(run, left, right, position)
    return None if result is None else not result


def _order(compare: Callable[..., bool]) -> Relation:
    def relation(run: Run, left: Value, right: Value, position: int | None = None) -> bool | None:
        if (type(left), type(right)) in _PLAINLY_ORDERED:
            return compare(left, right)
        if are_ordered(left, right):
            return compare(_ranked(left), _ranked(right))
        run.fail(FailureType.NOT_COMPARABLE, "Can't compare '{}' with '{}'", left, right, position=position)
        return None

    return relation


RELATIONS: Mapping[str, Relation] = {
    "=": equal,
    "!=": not_equal,
    "<": _order(operator.lt),
    "<=": _order(operator.le),
    ">": _order(operator.gt),
    ">=": _order(operator.ge),
}
