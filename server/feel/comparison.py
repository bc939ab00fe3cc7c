"""Equality and order, three-valued: true, false, or null for what cannot be compared."""

import operator
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import TypeAlias

from server.feel.failures import FailureType
from server.feel.run import Run, measure
from server.feel.values import Range, Value

Relation: TypeAlias = Callable[[Run, Value, Value, int | None], Value]

_NUMBERS = [(left, right) for left in (int, Decimal) for right in (int, Decimal)]

EQUATABLE: frozenset[tuple[type, type]] = frozenset(
    [*_NUMBERS, (bool, bool), (str, str), (list, list), (dict, dict), (Range, Range)]
)
ORDERED: frozenset[tuple[type, type]] = frozenset([*_NUMBERS, (str, str)])


def equal(run: Run, left: Value, right: Value, position: int | None = None) -> bool | None:
    if left is None or right is None:
        return left is right
    if (type(left), type(right)) not in EQUATABLE:
        run.fail(FailureType.NOT_COMPARABLE, "Can't compare '{}' with '{}'", left, right, position=position)
        return None
    measure(run, left, right)
    return is_same(left, right)


def is_same(left: Value, right: Value) -> bool:
    """Two-valued equality, as it holds inside lists and contexts; the values must be measured."""
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(is_same, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(is_same(item, right[key]) for key, item in left.items())
    if left is None or right is None:
        return left is right
    return (type(left), type(right)) in EQUATABLE and left == right


def not_equal(run: Run, left: Value, right: Value, position: int | None = None) -> bool | None:
    result = equal(run, left, right, position)
    return None if result is None else not result


def _order(compare: Callable[..., bool]) -> Relation:
    def relation(run: Run, left: Value, right: Value, position: int | None = None) -> bool | None:
        if (type(left), type(right)) in ORDERED:
            return compare(left, right)
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
