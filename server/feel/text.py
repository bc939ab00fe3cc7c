"""Values as FEEL texts: `{a:1, b:["x", null]}`.

They are written piece by piece from a stack, so that deep and long values are safe.
"""

from collections.abc import Callable, Iterator
from decimal import Decimal
from types import NoneType
from typing import TypeAlias

from server.feel import limits
from server.feel.temporal import formatter
from server.feel.temporal.values import Temporal
from server.feel.values import Context, Function, Range, Value

_Pieces: TypeAlias = Iterator["str | _Pieces"]


def shown(value: Value) -> str:
    """Return a value for a message, truncated if long."""
    text = ""
    for piece in pieces(value):
        text += piece[: limits.MAX_SHOWN_LENGTH]
        if len(text) > limits.MAX_SHOWN_LENGTH:
            return text[: limits.MAX_SHOWN_LENGTH] + "…"
    return text


def pieces(value: Value) -> Iterator[str]:
    stack = [_written(value)]
    while stack:
        for piece in stack[-1]:
            if not isinstance(piece, str):
                stack.append(piece)
                break
            yield piece
        else:
            stack.pop()


def _written(value: Value) -> _Pieces:
    return _WRITERS[type(value)](value)


def _list(items: list[Value]) -> _Pieces:
    yield "["
    for index, item in enumerate(items):
        if index:
            yield ", "
        yield _written(item)
    yield "]"


def _context(context: Context) -> _Pieces:
    yield "{"
    for index, (key, item) in enumerate(context.items()):
        yield f", {key}:" if index else f"{key}:"
        yield _written(item)
    yield "}"


def _range(value: Range) -> _Pieces:
    if value.sign:
        yield f"({value.sign} "
        yield _written(value.start)
        yield ")"
        return
    if value.start is None or value.end is None:
        sign = "<" if value.start is None else ">"
        included = value.end_included if value.start is None else value.start_included
        yield f"({sign}{'=' if included else ''} "
        yield _written(value.end if value.start is None else value.start)
        yield ")"
        return
    yield "[" if value.start_included else "("
    yield _written(value.start)
    yield ".."
    yield _written(value.end)
    yield "]" if value.end_included else ")"


def _temporal(value: Temporal) -> _Pieces:
    yield formatter.written(value)


def _function(function: Function) -> _Pieces:
    yield f"function({', '.join(function.parameters)})"


_WRITERS: dict[type, Callable[..., _Pieces]] = {
    NoneType: lambda _: iter(("null",)),
    bool: lambda value: iter(("true" if value else "false",)),
    int: lambda value: iter((str(value),)),
    Decimal: lambda value: iter((f"{value:f}",)),
    str: lambda value: iter(('"', value, '"')),
    list: _list,
    dict: _context,
    Range: _range,
    Function: _function,
    **dict.fromkeys(formatter.WRITERS, _temporal),
}
