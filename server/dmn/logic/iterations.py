"""Boxed `for`, `some`, `every` and filters."""

from collections.abc import Iterator
from typing import Final

from server import feel
from server.dmn.boxed import Expression, Filter, For, Iteration, Quantified
from server.dmn.place import Place
from server.dmn.session import Evaluate, Frame
from server.feel import Value
from server.feel.text import shown

_ITEM: Final = "item"


class _NoResultError(Exception):
    """The expression has no result and is null; the failure was already recorded."""


class _Source:
    """The items of a list or range, iterated as FEEL does in this dialect."""

    def __init__(self, source: Expression, place: Place) -> None:
        self._id = source.id
        self._evaluate = place.compile(source)
        self._items = feel.compile_expression("for item in source return item", dialect=place.dialect.name)

    def items(self, frame: Frame) -> Iterator[Value]:
        scope: dict[str, Value] = {"source": self._evaluate(frame)}
        items = self._items.evaluate(scope).value
        if not isinstance(items, list):
            frame.session.note(self._id, f"expected a list but found '{shown(scope['source'])}'")
            raise _NoResultError
        frame.session.charge(len(items))
        return iter(items)


def for_loop(node: For, place: Place) -> Evaluate:
    source, body = _parts(node, place)

    def collected(frame: Frame) -> Value:
        try:
            return [body(frame.inner({node.variable: item})) for item in source.items(frame)]
        except _NoResultError:
            return None

    return collected


def quantified(node: Quantified, place: Place) -> Evaluate:
    """Compile `some` or `every`; the result is null if the condition is not a boolean for an item."""
    source, condition = _parts(node, place)
    combined = all if node.is_every else any

    def holds(frame: Frame) -> Value:
        try:
            items = source.items(frame)
            return combined(
                [_boolean(frame, node, condition(frame.inner({node.variable: item}))) for item in items]
            )
        except _NoResultError:
            return None

    return holds


def filtered(node: Filter, place: Place) -> Evaluate:
    """Compile a filter; its condition sees `item`, and the entries of an item that is a context."""
    source, condition = _Source(node.source, place), place.compile(node.match)

    def selected(frame: Frame) -> Value:
        try:
            items = source.items(frame)
            return [item for item in items if _boolean(frame, node, condition(_around(frame, item)))]
        except _NoResultError:
            return None

    return selected


def _parts(node: Iteration, place: Place) -> tuple[_Source, Evaluate]:
    return _Source(node.source, place), place.inner((node.variable,)).compile(node.body)


def _around(frame: Frame, item: Value) -> Frame:
    return frame.inner({**item, _ITEM: item.get(_ITEM, item)} if isinstance(item, dict) else {_ITEM: item})


def _boolean(frame: Frame, node: Expression, value: Value) -> bool:
    if isinstance(value, bool):
        return value
    frame.session.note(node.id, f"expected a boolean but found '{shown(value)}'")
    raise _NoResultError
