"""`for`, `some` and `every`."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from server.feel import decimals, limits, nodes
from server.feel.errors import FeelError
from server.feel.failures import FailureType
from server.feel.names import Closure, Compile, Names
from server.feel.run import Run, bounded_length
from server.feel.values import Value, is_number


class _Iteration(NamedTuple):
    """`end` is None where a list is walked, not a range."""

    start: Closure
    end: Closure | None
    slot: int
    position: int


class _NothingToIterateError(FeelError):
    """The failure is noted already; the whole loop is null."""


def for_loop(node: nodes.For, names: Names, compile_node: Compile) -> Closure:
    inner = names.inner()
    iterations = _iterations(node.iterators, inner, compile_node)
    partial = inner.bind("partial")
    body, size, _ = inner.layout.measured(lambda: compile_node(node.result, inner))

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


def quantified(node: nodes.Quantified, names: Names, compile_node: Compile) -> Closure:
    """Three-valued: the first that decides does, else null if one was null."""
    inner = names.inner()
    iterations = _iterations(node.iterators, inner, compile_node)
    condition, size, _ = inner.layout.measured(lambda: compile_node(node.condition, inner))
    deciding, otherwise = not node.is_every, node.is_every

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


def _iterations(
    iterators: tuple[nodes.Iterator, ...], names: Names, compile_node: Compile
) -> tuple[_Iteration, ...]:
    """Later iterators see the names of earlier ones."""
    return tuple(_iteration(iterator, names, compile_node) for iterator in iterators)


def _iteration(iterator: nodes.Iterator, names: Names, compile_node: Compile) -> _Iteration:
    source = iterator.source
    if isinstance(source, nodes.IteratedRange):
        start, end = compile_node(source.start, names), compile_node(source.end, names)
        return _Iteration(start, end, names.bind(iterator.name).slot, iterator.position)
    items = compile_node(source, names)
    return _Iteration(items, None, names.bind(iterator.name).slot, iterator.position)


def _rounds(run: Run, iterations: tuple[_Iteration, ...], size: int) -> Iterator[None]:
    """Put each combination of items into the slots, the last iterator turning fastest.

    A round costs as many steps as what is evaluated in it has forms.
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
    if iteration.end is None:
        return iter(_charged(run, _list(run, start, iteration.position), size))
    return iter(_charged(run, _range(run, start, iteration.end(run), iteration.position), size))


def _charged(run: Run, items: Sequence[Value], size: int) -> Sequence[Value]:
    run.charge(bounded_length(len(items)) * size)
    return items


def _list(run: Run, items: Value, position: int) -> list[Value]:
    if not isinstance(items, list):
        raise _refused(run, "Expected list but found '{}'", items, position)
    return items


def _range(run: Run, start: Value, end: Value, position: int) -> Sequence[Value]:
    if not is_number(start) or not is_number(end):
        raise _refused(run, "Expected number but found '{}'", end if is_number(start) else start, position)
    distance = decimals.truncated(decimals.subtract(end, start), limits.MAX_STEPS)
    step = -1 if distance < 0 else 1
    if type(start) is int:
        return range(start, start + distance + step, step)
    return [decimals.add(start, step * index) for index in range(bounded_length(abs(distance) + 1))]


def _refused(run: Run, complaint: str, value: Value, position: int) -> _NothingToIterateError:
    run.fail(FailureType.INVALID_TYPE, complaint, value, position=position)
    return _NothingToIterateError()
