"""Functions on lists. Parameters annotated `Spread` also accept single arguments."""

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from decimal import Decimal
from functools import cmp_to_key, reduce
from typing import TypeGuard

from server.feel import decimals
from server.feel.comparison import RELATIONS, identity, is_same
from server.feel.decimals import Number, truncated
from server.feel.errors import InvocationError
from server.feel.kleene import kleene_and, kleene_or
from server.feel.limits import MAX_LIST_LENGTH
from server.feel.run import Run, bounded_length, measure
from server.feel.signatures import Family, Spread
from server.feel.text import shown
from server.feel.values import Function, Value


def list_contains(run: Run, list_: list[Value], element: Value) -> bool:
    measure(run, list_, element)
    return any(is_same(run, item, element) for item in list_)


def count(list_: list[Value]) -> int:
    return len(list_)


def is_empty(list_: list[Value]) -> bool:
    return not list_


def minimum(run: Run, list_: Spread) -> Value:
    return _first_by("<", run, list_)


def maximum(run: Run, list_: Spread) -> Value:
    return _first_by(">", run, list_)


def _first_by(sign: str, run: Run, items: list[Value]) -> Value:
    comes_first = RELATIONS[sign]
    first = items[0] if items else None
    for item in items:
        is_earlier = comes_first(run, item, first, None)
        if is_earlier is None:
            return None
        first = item if is_earlier else first
    return first


def sum_(list_: Spread) -> Value:
    return decimals.total(_numbers(list_)) if list_ else None


def product(list_: Spread) -> Value:
    return reduce(decimals.multiply, _numbers(list_)) if list_ else None


def mean(list_: Spread) -> Value:
    return _mean(_numbers(list_)) if list_ else None


def median(list_: Spread) -> Value:
    numbers = sorted(_numbers(list_))
    if not numbers:
        return None
    middle = len(numbers) // 2
    return numbers[middle] if len(numbers) % 2 else _mean(numbers[middle - 1 : middle + 1])


def stddev(list_: Spread) -> Value:
    numbers = _numbers(list_)
    if len(numbers) <= 1:
        return None
    mean = _mean(numbers)
    deviations = [decimals.subtract(number, mean) for number in numbers]
    squares = reduce(decimals.add, [decimals.multiply(each, each) for each in deviations])
    return decimals.of_float(math.sqrt(decimals.divide(squares, len(numbers) - 1)))


def mode(list_: Spread) -> list[Value]:
    counts = Counter(_numbers(list_))
    most = max(counts.values(), default=0)
    return [*sorted(number for number, times in counts.items() if times == most)]


def _mean(numbers: Sequence[Number]) -> Number:
    return decimals.divide(decimals.total(numbers), len(numbers))


def _numbers(items: list[Value]) -> list[Number]:
    if not _are_numbers(items):
        raise InvocationError(f"expected a list of numbers but found '{shown(items)}'")
    return items


def _are_numbers(items: list[Value]) -> TypeGuard[list[Number]]:
    return _NUMBERS.issuperset(map(type, items))


_NUMBERS = frozenset({int, Decimal})


def all_(list_: Spread) -> Value:
    return kleene_and(*list_)


def any_(list_: Spread) -> Value:
    return kleene_or(*list_)


def sublist(run: Run, list_: list[Value], start_position: Number) -> list[Value]:
    return list_[max(0, _index_in(run, list_, start_position, "start position")) :]


def sublist_of_length(run: Run, list_: list[Value], start_position: Number, length: Number) -> list[Value]:
    start = _index_in(run, list_, start_position, "start position")
    end = start + max(0, truncated(length, MAX_LIST_LENGTH))
    return list_[max(0, start) : max(0, end)]


def append(list_: list[Value], *item: Value) -> list[Value]:
    return [*list_, *item]


def concatenate(list_: Spread) -> list[Value]:
    """Concatenate lists; an item that is not a list counts as a list of one."""
    bounded_length(sum(len(each) if isinstance(each, list) else 1 for each in list_))
    return [item for each in list_ for item in (each if isinstance(each, list) else [each])]


def insert_before(run: Run, list_: list[Value], position: Number, newItem: Value) -> list[Value]:  # noqa: N803 - FEEL's name
    index = max(0, _index_in(run, list_, position, "position"))
    return [*list_[:index], newItem, *list_[index:]]


def remove(run: Run, list_: list[Value], position: Number) -> list[Value]:
    index = _index_in(run, list_, position, "position")
    return [*list_] if index < 0 else [*list_[:index], *list_[index + 1 :]]


def _index_in(run: Run, items: list[Value], position: Number, name: str) -> int:
    """Return the zero-based index of a position, which counts from 1, or backwards from -1.

    A dialect that clips positions returns an index outside the list unchanged, negative before the first
    item.
    """
    whole = truncated(position, MAX_LIST_LENGTH)
    if whole == 0:
        raise InvocationError(f"{name} must be a non-zero number")
    index = whole - 1 if whole > 0 else len(items) + whole
    if not run.dialect.clips_positions and not 0 <= index <= len(items):
        raise InvocationError(f"{name} {whole} is outside of a list of {len(items)} items")
    return index


def list_replace(run: Run, list_: list[Value], position: Number, newItem: Value) -> list[Value]:  # noqa: N803 - FEEL's name
    index = _index_in(run, list_, position, "position")
    if not 0 <= index < len(list_):
        raise InvocationError(f"position {shown(position)} is outside of a list of {len(list_)} items")
    return [*list_[:index], newItem, *list_[index + 1 :]]


def list_replace_where(run: Run, list_: list[Value], match: Function, newItem: Value) -> list[Value]:  # noqa: N803 - FEEL's name
    if len(match.parameters) != _PAIR:
        raise InvocationError(f"expected a function of two parameters but found '{shown(match)}'")
    verdicts = [match.invoke(run, (item, newItem)) for item in list_]
    if not all(isinstance(verdict, bool) for verdict in verdicts):
        raise InvocationError("expected a function that is true or false for every item")
    return [newItem if verdict else item for item, verdict in zip(list_, verdicts, strict=True)]


def reverse(list_: list[Value]) -> list[Value]:
    return list_[::-1]


def index_of(run: Run, list_: list[Value], match: Value) -> list[Value]:
    measure(run, list_, match)
    return [position for position, item in enumerate(list_, 1) if is_same(run, item, match)]


def union(run: Run, list_: Spread) -> list[Value]:
    return distinct_values(run, concatenate(list_))


def distinct_values(run: Run, list_: list[Value]) -> list[Value]:
    measure(run, list_)
    return [*_first_items(run, list_).values()]


def duplicate_values(run: Run, list_: list[Value]) -> list[Value]:
    measure(run, list_)
    counts = Counter(identity(run, item) for item in list_)
    return [item for key, item in _first_items(run, list_).items() if counts[key] > 1]


def _first_items(run: Run, items: list[Value]) -> dict[Hashable, Value]:
    result: dict[Hashable, Value] = {}
    for item in items:
        result.setdefault(identity(run, item), item)
    return result


def flatten(run: Run, list_: list[Value]) -> list[Value]:
    measure(run, list_)
    result: list[Value] = []
    _flatten_into(result, list_)
    return result


def _flatten_into(result: list[Value], items: list[Value]) -> None:
    for item in items:
        if isinstance(item, list):
            _flatten_into(result, item)
        else:
            result.append(item)


def sort(run: Run, list_: list[Value], precedes: Function) -> list[Value]:
    if len(precedes.parameters) != _PAIR:
        raise InvocationError(f"expected a function of two parameters but found '{shown(precedes)}'")

    def is_before(left: Value, right: Value) -> bool:
        answer = precedes.invoke(run, (left, right))
        if not isinstance(answer, bool):
            raise InvocationError(f"expected a boolean from the function but found '{shown(answer)}'")
        return answer

    def order(left: Value, right: Value) -> int:
        return -1 if is_before(left, right) else int(is_before(right, left))

    return sorted(list_, key=cmp_to_key(order))


_PAIR = 2


def partition(list_: list[Value], size: Number) -> list[Value]:
    length = truncated(size, MAX_LIST_LENGTH)
    if length <= 0:
        raise InvocationError(f"'size' should be greater than zero but was '{shown(size)}'")
    return [list_[start : start + length] for start in range(0, len(list_), length)]


FUNCTIONS: Family = {
    "list contains": list_contains,
    "count": count,
    "is empty": is_empty,
    "min": minimum,
    "max": maximum,
    "sum": sum_,
    "product": product,
    "mean": mean,
    "median": median,
    "stddev": stddev,
    "mode": mode,
    "all": all_,
    "and": all_,
    "any": any_,
    "or": any_,
    "sublist": (sublist, sublist_of_length),
    "append": append,
    "concatenate": concatenate,
    "insert before": insert_before,
    "remove": remove,
    "list replace": (list_replace, list_replace_where),
    "reverse": reverse,
    "index of": index_of,
    "union": union,
    "distinct values": distinct_values,
    "duplicate values": duplicate_values,
    "flatten": flatten,
    "sort": sort,
    "partition": partition,
}
