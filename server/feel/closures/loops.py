"""`for`, `some` and `every`."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from server.feel import decimals, limits, nodes
from server.feel.errors import FeelError
from server.feel.failures import FailureType
from server.feel.names import Closure, Compile, Names
from server.feel.run import Run, bounded_length
from server.feel.temporal.values import Date
from server.feel.values import Range, Value, is_number


class _Iteration(NamedTuple):
    """One iterator; `end` is None for a list, set for a range."""

    start: Closure
    end: Closure | None
    slot: int
    position: int


class _NothingToIterateError(FeelError):
    """The loop has no result and is null; the failure was already recorded."""


def for_loop(node: nodes.For, names: Names, compile_node: Compile) -> Closure:
    inner = names.inner()
    iterations = _iterations(node.iterators, inner, compile_node)
    partial = inner.bind("partial")
    body, size, _ = inner.layout.measured(lambda: compile_node(node.result, inner))
    if len(iterations) == 1 and not partial.is_used:
        return _mapped(iterations[0], body, size)

    def collected(run: Run) -> Value:
        result: list[Value] = []
        try:
            for _ in _rounds(run, iterations, size):
                if partial.is_used:
                    run.charge(len(result))
                    run.slots[partial.slot] = result.copy()
                result.append(body(run))
        except _NothingToIterateError:
            return None
        return result

    return collected


def _mapped(iteration: _Iteration, body: Closure, size: int) -> Closure:
    """Compile the most common loop: one iterator, without use of `partial`."""
    slot = iteration.slot

    def mapped(run: Run) -> Value:
        slots, result = run.slots, []
        try:
            for item in _items(run, iteration, size):
                slots[slot] = item
                result.append(body(run))
        except _NothingToIterateError:
            return None
        return result

    return mapped


def quantified(node: nodes.Quantified, names: Names, compile_node: Compile) -> Closure:
    """Compile `some` or `every` in three-valued logic.

    The first deciding item determines the result. Otherwise it is null if the condition was null for an item.
    """
    inner = names.inner()
    iterations = _iterations(node.iterators, inner, compile_node)
    condition, size, _ = inner.layout.measured(lambda: compile_node(node.condition, inner))
    deciding, otherwise = not node.is_every, node.is_every
    if len(iterations) == 1:
        return _decided(iterations[0], condition, size, deciding=deciding)

    def holds(run: Run) -> Value:
        result: bool | None = otherwise
        try:
            for _ in _rounds(run, iterations, size):
                value = condition(run)
                if value is deciding:
                    return deciding
                if value is not otherwise:
                    result = None
        except _NothingToIterateError:
            return None
        return result

    return holds


def _decided(iteration: _Iteration, condition: Closure, size: int, *, deciding: bool) -> Closure:
    """Compile the most common `some` or `every`: one iterator."""
    slot, otherwise = iteration.slot, not deciding

    def holds(run: Run) -> Value:
        slots = run.slots
        result: bool | None = otherwise
        try:
            for item in _items(run, iteration, size):
                slots[slot] = item
                value = condition(run)
                if value is deciding:
                    return deciding
                if value is not otherwise:
                    result = None
        except _NothingToIterateError:
            return None
        return result

    return holds


def _iterations(
    iterators: tuple[nodes.Iterator, ...], names: Names, compile_node: Compile
) -> tuple[_Iteration, ...]:
    """Compile the iterators; later ones see the names of earlier ones."""
    return tuple(_iteration(iterator, names, compile_node) for iterator in iterators)


def _iteration(iterator: nodes.Iterator, names: Names, compile_node: Compile) -> _Iteration:
    source = iterator.source
    if isinstance(source, nodes.IteratedRange):
        start, end = compile_node(source.start, names), compile_node(source.end, names)
        return _Iteration(start, end, names.bind(iterator.name).slot, iterator.position)
    items = compile_node(source, names)
    return _Iteration(items, None, names.bind(iterator.name).slot, iterator.position)


def _rounds(run: Run, iterations: tuple[_Iteration, ...], size: int) -> Iterator[None]:
    """Bind each combination of items to the slots; the last iterator varies fastest.

    A round costs as many steps as its body has nodes.
    """
    slots, last = run.slots, len(iterations) - 1
    turning = [_items(run, iterations[0], size)]
    while turning:
        level = len(turning) - 1
        for item in turning[-1]:
            slots[iterations[level].slot] = item
            if level < last:
                turning.append(_items(run, iterations[level + 1], size))
                break
            yield
        else:
            turning.pop()


def _items(run: Run, iteration: _Iteration, size: int) -> Iterator[Value]:
    start = iteration.start(run)
    if iteration.end is not None:
        items = _stepped(run, start, iteration.end(run), iteration.position)
    elif isinstance(start, Range):
        items = _within(run, start, iteration.position)
    else:
        items = _list(run, start, iteration.position)
    run.charge(bounded_length(len(items)) * size)
    return iter(items)


def _list(run: Run, items: Value, position: int) -> list[Value]:
    if isinstance(items, list):
        return items
    if run.dialect.converts_singletons and items is not None:
        return [items]
    raise _refused(run, "Expected list but found '{}'", items, position)


def _within(run: Run, interval: Range, position: int) -> Sequence[Value]:
    """Return all steps from start to end, without excluded ends."""
    if not interval.is_interval:
        raise _refused(run, "Expected a range with two ends but found '{}'", interval, position)
    items = _stepped(run, interval.start, interval.end, position)
    first = 0 if interval.start_included else 1
    return items[first : len(items) if interval.end_included or items[-1] != interval.end else -1]


def _stepped(run: Run, start: Value, end: Value, position: int) -> Sequence[Value]:
    if isinstance(start, Date) and isinstance(end, Date):
        days = _steps(start.epoch_day, end.epoch_day - start.epoch_day)
        run.charge(bounded_length(len(days)) * _STEPS_FOR_A_DATE)
        return [Date.of_epoch_day(day) for day in days]
    if not is_number(start) or not is_number(end):
        raise _refused(run, "Expected number but found '{}'", end if is_number(start) else start, position)
    distance = decimals.truncated(decimals.subtract(end, start), limits.MAX_STEPS)
    if type(start) is int:
        return _steps(start, distance)
    step = -1 if distance < 0 else 1
    return [decimals.add(start, step * index) for index in range(bounded_length(abs(distance) + 1))]


_STEPS_FOR_A_DATE = 4


def _steps(start: int, distance: int) -> range:
    step = -1 if distance < 0 else 1
    return range(start, start + distance + step, step)


def _refused(run: Run, complaint: str, value: Value, position: int) -> _NothingToIterateError:
    run.fail(FailureType.INVALID_TYPE, complaint, value, position=position)
    return _NothingToIterateError()
