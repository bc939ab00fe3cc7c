"""Values of constant parts of a text, known at compile time."""

from collections.abc import Callable, Mapping
from decimal import Decimal

from server.feel import decimals
from server.feel.nodes import Call, Literal, Negation, Node
from server.feel.temporal import parser
from server.feel.temporal.values import Temporal
from server.feel.values import MISSING, Missing, Value

_READERS: Mapping[str, Callable[[str], Temporal]] = {
    "date": parser.date,
    "time": parser.time,
    "date and time": parser.date_time,
    "duration": parser.duration,
}
TEMPORAL_LITERALS = frozenset(_READERS)
"""Functions whose call with a string literal is a constant."""


def constant_of(node: Node) -> Value | Missing:
    """Return the value of a literal or negated number; MISSING for other nodes."""
    if isinstance(node, Literal):
        return node.value
    if isinstance(node, Negation):
        number = constant_of(node.operand)
        if type(number) is int or isinstance(number, Decimal):
            return decimals.subtract(0, number) if isinstance(number, Decimal) else -number
    return MISSING


def temporal_literal(node: Node) -> Temporal | None:
    """Return the value of a call such as `date("2024-02-29")`; None if it would fail, which must happen at evaluation."""
    if not isinstance(node, Call) or node.arguments.names is not None or len(node.arguments.values) != 1:
        return None
    read, text = _READERS.get(node.name), constant_of(node.arguments.values[0])
    if read is None or not isinstance(text, str):
        return None
    try:
        return read(text)
    except ValueError:
        return None
