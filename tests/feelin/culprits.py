"""Where two engines part: the innermost parts of an expression that they evaluate differently.

A part is evaluated alone, in a context that has the values its loops and filters would give it, so that what is
found has parts on which both agree, and its difference is its own.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import TypeAlias

from server.feel import FeelError, Value, compile_expression
from server.feel.dialects import STANDARD
from server.feel.json_text import pieces
from server.feel.nodes import (
    Arguments,
    ContextLiteral,
    Filter,
    For,
    In,
    IteratedRange,
    Name,
    Node,
    Quantified,
)
from server.feel.nodes import Iterator as LoopIterator
from server.feel.parser import parse_expression
from server.feel.printer import printed
from tests.feelin.engine import Feelin

Context: TypeAlias = dict[str, Value]
Answer: TypeAlias = dict[str, Value]

MAX_ITEMS = 6
"""Items of a loop or a filter that are looked at."""


@dataclass(frozen=True, slots=True)
class Culprit:
    node: Node
    context: Context
    ours: Answer
    theirs: Answer

    @property
    def text(self) -> str:
        return printed(self.node)

    def value(self, part: Node) -> Value:
        """The values of both engines for a part."""
        return our_answer(printed(part), self.context).get("value")


def our_answer(text: str, context: Context) -> Answer:
    """As feelin's are; what JSON has no form for is written as FEEL would."""
    try:
        value = compile_expression(text, dialect="standard").evaluate(context).value
    except FeelError as error:
        return {"error": f"{type(error).__name__}: {error}"}
    return {"value": json.loads("".join(pieces(value)))}


def is_same(ours: Answer, theirs: Answer) -> bool:
    return json.dumps(ours, sort_keys=True) == json.dumps(theirs, sort_keys=True)


def culprits(text: str, context: Context, engine: Feelin) -> list[Culprit]:
    """Where all parts are the same, and so is what we print for the text, the text itself is the culprit."""
    node = parse_expression(text, dialect=STANDARD)
    found = [*_innermost(node, context, engine)]
    if found:
        return found
    (theirs,) = engine.evaluate([(text, context)])
    return [Culprit(node, context, our_answer(text, context), theirs)]


def _innermost(node: Node, context: Context, engine: Feelin) -> Iterator[Culprit]:
    text = printed(node)
    ours = our_answer(text, context)
    (theirs,) = engine.evaluate([(text, context)])
    if is_same(ours, theirs):
        return
    found = [each for part, inner in parts(node, context) for each in _innermost(part, inner, engine)]
    yield from found or [Culprit(node, context, ours, theirs)]


def _value(node: Node, context: Context) -> Value:
    return our_answer(printed(node), context).get("value")


def parts(
    node: Node, context: Context, value_of: Callable[[Node, Context], Value] = _value
) -> Iterator[tuple[Node, Context]]:
    """Parts of a node, each with a context for its evaluation."""
    match node:
        case For(iterators, body) | Quantified(iterators, body):
            yield from _of_loop(iterators, body, context, value_of)
        case Filter(source, condition):
            yield source, context
            for item in _items(source, context, value_of):
                entries = item if isinstance(item, dict) else {}
                yield condition, {**context, "item": item, **entries}
        case ContextLiteral(entries):
            inner = dict(context)
            for key, value in entries:
                yield value, inner
                inner = {**inner, key: value_of(value, inner)}
        case In(operand, _):
            yield operand, context
        case Name():
            return
        case _:
            yield from ((part, context) for part in _fields(node))


def _of_loop(
    iterators: Sequence[LoopIterator],
    body: Node,
    context: Context,
    value_of: Callable[[Node, Context], Value],
) -> Iterator[tuple[Node, Context]]:
    first, *further = iterators
    if isinstance(first.source, IteratedRange):
        yield first.source.start, context
        yield first.source.end, context
    else:
        yield first.source, context
    for item in _items(first.source, context, value_of):
        inner = {**context, first.name: item}
        yield from _of_loop(further, body, inner, value_of) if further else [(body, inner)]


def _items(
    source: "Node | IteratedRange", context: Context, value_of: Callable[[Node, Context], Value]
) -> list[Value]:
    if isinstance(source, IteratedRange):
        source = For((LoopIterator("i", source, 0),), Name("i", 0))
    value = value_of(source, context)
    return value[:MAX_ITEMS] if isinstance(value, list) else [] if value is None else [value]


def _fields(part: object) -> Iterator[Node]:
    """The nodes right under this one."""
    for field in fields(part) if is_dataclass(part) else ():
        value = getattr(part, field.name)
        yield from _nodes(value)


def _nodes(value: object) -> Iterator[Node]:
    if isinstance(value, Arguments):
        value = value.values
    if isinstance(value, tuple):
        for each in value:
            yield from _nodes(each)
    elif is_dataclass(value) and type(value).__module__ == Name.__module__:
        yield value  # type: ignore[misc]  # it is one of the module's nodes
