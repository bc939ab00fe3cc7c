"""Calls of a function and paths of a variable as written, for programs that read expressions without evaluating them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass

from server.feel import nodes
from server.feel.dialects import DIALECTS
from server.feel.parser import parse_expression
from server.feel.printer import printed

# The texts of a call's arguments, by parameter name.
WrittenCall = Mapping[str, str]


def written_calls(text: str, name: str, parameters: Sequence[str]) -> list[WrittenCall]:
    """Return the calls of a function in an expression of Camunda's dialect, in order; raises FeelSyntaxError."""
    tree = parse_expression(text, frozenset(), DIALECTS["camunda"])
    return [
        _written(node.arguments, parameters)
        for node in _inside(tree)
        if isinstance(node, nodes.Call) and node.name == name
    ]


def written_paths(text: str, root: str) -> frozenset[tuple[str, ...]]:
    """Return the keys after a variable in an expression of Camunda's dialect; raises FeelSyntaxError.

    `a.b.c` gives `("b", "c")` for `a`. A use of the whole variable gives an empty tuple.
    """
    tree = parse_expression(text, frozenset(), DIALECTS["camunda"])
    inner: set[int] = set()
    found: set[tuple[str, ...]] = set()
    for node in _inside(tree):
        if id(node) in inner:
            continue
        keys: list[str] = []
        source = node
        while isinstance(source, nodes.Path):
            keys.append(source.key)
            source = source.source
            inner.add(id(source))
        if isinstance(source, nodes.Name) and source.name == root:
            found.add(tuple(reversed(keys)))
    return frozenset(found)


def _written(arguments: nodes.Arguments, parameters: Sequence[str]) -> WrittenCall:
    names = arguments.names if arguments.names is not None else parameters
    return {name: printed(value) for name, value in zip(names, arguments.values, strict=False)}


def _inside(tree: object) -> Iterator[object]:
    """Yield the node and all nodes below it in text order."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, tuple):
            waiting.extend(reversed(node))
        elif is_dataclass(node):
            waiting.extend(reversed([getattr(node, field.name) for field in fields(node)]))
