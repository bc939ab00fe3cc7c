"""Input entries of constants, comparisons, ranges and lists of them, recognized without FEEL's parser.

The spans equal those that `cells` derives from the parsed text.
"""

import re
from typing import Final

from server.dmn.constants import BLANK, MAX_LENGTH, NUMBER, STRING, value_of
from server.dmn.tables.cells import EQUATED_ONLY, KINDS, Span
from server.feel import Value

_ANYTHING: Final = frozenset({"", "-"})
_BOUND = f"{NUMBER}|{STRING}"
_TEST = re.compile(
    rf"{BLANK}(?:([<>]=?|=)?{BLANK}({_BOUND}|true|false|null)"
    rf"|([\[(\]]){BLANK}({_BOUND}){BLANK}\.\.{BLANK}({_BOUND}){BLANK}([\])\[])){BLANK}(,|\Z)"
)


def plain_spans(text: str) -> tuple[Span, ...] | None:
    """Return the spans of which one must contain the input; None if the text may be something else."""
    if text in _ANYTHING:
        return ()
    if len(text) > MAX_LENGTH:
        return None
    spans: list[Span] = []
    position, more = 0, True
    while more:
        match = _TEST.match(text, position)
        span = None if match is None else _span(match)
        if match is None or span is None:
            return None
        spans.append(span)
        position, more = match.end(), match[7] == ","
    return tuple(spans)


def _span(match: re.Match[str]) -> Span | None:
    sign, constant, opening, low, high, closing, _ = match.groups()
    if opening is not None:
        return _range(value_of(low), value_of(high), opening, closing)
    value = value_of(constant)
    kind = KINDS[type(value)]
    if sign is None:
        return Span(kind, (value, 0), (value, 1))
    return None if kind in EQUATED_ONLY else _compared(sign, kind, value)


def _compared(sign: str, kind: type, bound: Value) -> Span:
    after = int(sign in {"<=", ">", "="})
    if sign[0] == "<":
        return Span(kind, None, (bound, after))
    return Span(kind, (bound, 0 if sign == "=" else after), (bound, 1) if sign == "=" else None)


def _range(low: Value, high: Value, opening: str, closing: str) -> Span | None:
    kind = KINDS[type(low)]
    if KINDS[type(high)] is not kind:
        return None
    return Span(kind, (low, int(opening != "[")), (high, int(closing == "]")))
