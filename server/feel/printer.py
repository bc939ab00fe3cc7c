"""Prints a syntax tree as text that parses to the same tree, with minimal blanks and parentheses."""

from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal

from server.feel import nodes
from server.feel.lexer import WORD
from server.feel.pratt import PROPERTIES_WITH_SPACES, RESERVED
from server.feel.temporal import formatter
from server.feel.types import ContextType, FunctionType, ListType, NamedType, RangeType, Type
from server.feel.values import Value, is_temporal


def printed(node: nodes.Node) -> str:
    return _PRINTERS[type(node)](node)


def printed_tests(tests: nodes.Tests) -> str:
    listed = _listed(tests.tests)
    if tests.is_negated:
        return f"not({listed})"
    # A lone `not(…)` would be parsed as negated tests.
    return f"({listed})" if listed.startswith("not(") else listed or "-"


def printed_type(kind: Type) -> str:
    match kind:
        case NamedType(name):
            return name
        case ListType(item):
            return f"list<{printed_type(item)}>"
        case RangeType(end):
            return f"range<{printed_type(end)}>"
        case ContextType(entries):
            return f"context<{', '.join(f'{_words(key)}: {printed_type(entry)}' for key, entry in entries)}>"
        case FunctionType(parameters, result):
            return f"function<{', '.join(map(printed_type, parameters))}> -> {printed_type(result)}"


def _listed(parts: Iterable[nodes.Node]) -> str:
    return ", ".join(map(printed, parts))


def _operand(node: nodes.Node) -> str:
    return printed(node) if isinstance(node, _OPERANDS) else f"({printed(node)})"


_OPERANDS = (
    nodes.Literal,
    nodes.Name,
    nodes.InputValue,
    nodes.ListLiteral,
    nodes.ContextLiteral,
    nodes.RangeLiteral,
    nodes.Path,
    nodes.Filter,
    nodes.Call,
    nodes.QualifiedCall,
    nodes.Invocation,
)


def _literal(node: nodes.Literal) -> str:
    return _value(node.value)


def _value(value: Value) -> str:
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, Decimal):
        return f"{value:f}"
    return f'@"{formatter.written(value)}"' if is_temporal(value) else str(value)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _name(name: str) -> str:
    return name if WORD.fullmatch(name) and name not in RESERVED else f"`{name}`"


def _words(name: str) -> str:
    """Print a name that may consist of several words."""
    return name if all(map(WORD.fullmatch, name.split(" "))) else f"`{name}`"


def _key(name: str) -> str:
    return name if tuple(name.split(" ")) in PROPERTIES_WITH_SPACES.values() else _name(name)


def _context(node: nodes.ContextLiteral) -> str:
    return "{" + ", ".join(f"{_quoted(key)}: {printed(value)}" for key, value in node.entries) + "}"


def _range(node: nodes.RangeLiteral) -> str:
    opening, closing = "[" if node.start_included else "(", "]" if node.end_included else ")"
    return f"{opening}{_operand(node.start)}..{_operand(node.end)}{closing}"


def _binary(node: nodes.Arithmetic | nodes.Comparison) -> str:
    return f"{_operand(node.left)} {node.operator} {_operand(node.right)}"


def _between(node: nodes.Between) -> str:
    return f"{_operand(node.operand)} between {_operand(node.low)} and {_operand(node.high)}"


def _if(node: nodes.If) -> str:
    branches = [f"if {_operand(test)} then {_operand(value)} else " for test, value in node.branches]
    return "".join(branches) + _operand(node.otherwise)


def _for(node: nodes.For) -> str:
    return f"for {_iterators(node.iterators)} return {_operand(node.result)}"


def _quantified(node: nodes.Quantified) -> str:
    word = "every" if node.is_every else "some"
    return f"{word} {_iterators(node.iterators)} satisfies {_operand(node.condition)}"


def _iterators(iterators: tuple[nodes.Iterator, ...]) -> str:
    return ", ".join(f"{_name(each.name)} in {_source(each.source)}" for each in iterators)


def _source(source: "nodes.Node | nodes.IteratedRange") -> str:
    if isinstance(source, nodes.IteratedRange):
        return f"{_operand(source.start)}..{_operand(source.end)}"
    return _operand(source)


def _path(node: nodes.Path) -> str:
    return f"{_operand(node.source)}.{_key(node.key)}"


def _filter(node: nodes.Filter) -> str:
    return f"{_operand(node.source)}[{printed(node.condition)}]"


def _arguments(arguments: nodes.Arguments) -> str:
    if arguments.names is None:
        return f"({_listed(arguments.values)})"
    pairs = zip(arguments.names, arguments.values, strict=True)
    return "(" + ", ".join(f"{_words(name)}: {printed(value)}" for name, value in pairs) + ")"


def _qualified_call(node: nodes.QualifiedCall) -> str:
    return f"{_operand(node.source)}.{_key(node.name)}{_arguments(node.arguments)}"


def _lambda(node: nodes.Lambda) -> str:
    parameters = ", ".join(
        _words(name) + (f": {printed_type(kind)}" if kind else "")
        for name, kind in zip(node.parameters, node.types, strict=True)
    )
    body = printed(node.body) if isinstance(node.body, nodes.External) else _operand(node.body)
    return f"function({parameters}) {body}"


_PRINTERS: Mapping[type, Callable[..., str]] = {
    nodes.Literal: _literal,
    nodes.Name: lambda node: _name(node.name),
    nodes.InputValue: lambda _: "?",
    nodes.ListLiteral: lambda node: f"[{_listed(node.items)}]",
    nodes.ContextLiteral: _context,
    nodes.RangeLiteral: _range,
    nodes.Negation: lambda node: f"-{_operand(node.operand)}",
    nodes.Arithmetic: _binary,
    nodes.Comparison: _binary,
    nodes.Between: _between,
    nodes.In: lambda node: f"{_operand(node.operand)} in ({_listed(node.tests)})",
    nodes.InstanceOf: lambda node: f"{_operand(node.operand)} instance of {printed_type(node.type)}",
    nodes.Conjunction: lambda node: " and ".join(map(_operand, node.operands)),
    nodes.Disjunction: lambda node: " or ".join(map(_operand, node.operands)),
    nodes.If: _if,
    nodes.For: _for,
    nodes.Quantified: _quantified,
    nodes.Path: _path,
    nodes.Filter: _filter,
    nodes.Call: lambda node: node.name + _arguments(node.arguments),
    nodes.QualifiedCall: _qualified_call,
    nodes.Invocation: lambda node: f"({printed(node.function)}){_arguments(node.arguments)}",
    nodes.Lambda: _lambda,
    nodes.External: lambda node: f"external {printed(node.mapping)}",
    nodes.InputComparison: lambda node: f"{node.operator} {_operand(node.operand)}",
}
