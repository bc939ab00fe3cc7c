"""Code for numbers, strings, booleans and names."""

from collections.abc import Callable, Mapping
from decimal import Decimal
from types import NoneType
from typing import Final

from server.feel import decimals, nodes
from server.feel.constants import constant_of
from server.feel.decimals import INT_BOUND, Number
from server.feel.generated.block import Block, Emit, Item, Kind, Level, UnsupportedError
from server.feel.limits import MAX_STRING_LENGTH
from server.feel.values import MISSING

_PYTHON: Final = {"=": "==", "!=": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
_EQUALITY: Final = {"=": "is", "!=": "is not"}
_FUNCTIONS: Final = {"+": "add", "-": "subtract", "*": "multiply"}
_FOLDED: Final[Mapping[str, Callable[..., Number]]] = {
    "+": decimals.add,
    "-": decimals.subtract,
    "*": decimals.multiply,
}
_NUMBERS: Final = frozenset({int, Decimal})


def literal(node: nodes.Literal, block: Block, _emit: Emit) -> str:
    return block.constant(node.value)


def name(node: nodes.Name, block: Block, _emit: Emit) -> str:
    return _named(node.name, block, block.levels)


def _named(name: str, block: Block, levels: tuple[Level, ...]) -> str:
    if not levels:
        return _variable(name, block)
    *around, level = levels
    if isinstance(level, Item):
        return _entry(name, block, level, tuple(around))
    if name not in level:
        return _named(name, block, tuple(around))
    found = level[name]
    if found is None:
        raise UnsupportedError(name)
    return found


def _variable(name: str, block: Block) -> str:
    if name not in block.variables:
        variable = block.assigned(f"get({block.source.constant(name)}, MISSING)")
        block.give_up_if(f"{variable} is MISSING")
        block.variables[name] = variable
    return block.variables[name]


def _entry(name: str, block: Block, item: Item, around: tuple[Level, ...]) -> str:
    key = block.source.constant(name)
    if name == "item":
        return block.assigned(f"{item}.get({key}, {item}) if type({item}) is dict else {item}")
    value = block.assigned(f"{item}[{key}] if type({item}) is dict and {key} in {item} else MISSING")
    block.line(f"if {value} is MISSING:")
    otherwise = block.inner()
    otherwise.line(f"{value} = {_named(name, otherwise, around)}")
    return value


def negation(node: nodes.Negation, block: Block, emit: Emit) -> str:
    value = constant_of(node)
    if value is not MISSING:
        return block.constant(value)
    operand = emit(node.operand, block)
    block.require(operand, Kind.NUMBER)
    return block.assigned(
        f"-{operand} if type({operand}) is int else subtract({block.constant(0)}, {operand})", Kind.NUMBER
    )


def arithmetic(node: nodes.Arithmetic, block: Block, emit: Emit) -> str:
    """Generate `a + b - c …` iteratively, because it nests as deep as the chain is long."""
    links: list[nodes.Arithmetic] = []
    first: nodes.Node = node
    while isinstance(first, nodes.Arithmetic):
        links.append(first)
        first = first.left
    value = emit(first, block)
    for link in reversed(links):
        other = emit(link.right, block)
        value = _computed(link.operator, value, other, block)
    return value


def _computed(sign: str, left: str, right: str, block: Block) -> str:
    if sign == "+" and Kind.STRING in {block.kind(left), block.kind(right)}:
        return _concatenated(left, right, block)
    one, other = block.number(left), block.number(right)
    if sign in _FOLDED and one is not None and other is not None:
        return block.constant(_FOLDED[sign](one, other))
    block.require(left, Kind.NUMBER)
    block.require(right, Kind.NUMBER)
    if sign == "/":
        return block.assigned(f"divide({left}, {right})", Kind.NUMBER)
    if sign not in _FUNCTIONS:
        raise UnsupportedError(sign)
    both_whole = " and ".join(
        f"type({each}) is int" for each in (left, right) if block.kind(each) is not Kind.INT
    )
    whole = f"{left} {sign} {right}"
    result = block.assigned(
        f"{whole} if {both_whole} else {_FUNCTIONS[sign]}({left}, {right})" if both_whole else whole,
        Kind.NUMBER,
    )
    block.line(f"if not {-INT_BOUND} < {result} < {INT_BOUND}: {result} = settled({result})")
    return result


def _concatenated(left: str, right: str, block: Block) -> str:
    block.require(left, Kind.STRING)
    block.require(right, Kind.STRING)
    result = block.assigned(f"{left} + {right}", Kind.STRING)
    block.give_up_if(f"len({result}) > {MAX_STRING_LENGTH}")
    block.charge(f"len({result})")
    return result


def comparison(node: nodes.Comparison, block: Block, emit: Emit) -> str:
    left, right = emit(node.left, block), emit(node.right, block)
    return compared(node.operator, left, right, block)


def compared(sign: str, left: str, right: str, block: Block) -> str:
    is_equality, kinds = sign in _EQUALITY, {block.kind(left), block.kind(right)}
    if is_equality and Kind.NULL in kinds:
        return block.assigned(f"{left} {_EQUALITY[sign]} {right}", Kind.BOOLEAN)
    nullable = frozenset({NoneType}) if is_equality else frozenset()
    if Kind.STRING in kinds:
        _require_each(block, left, right, frozenset({str}) | nullable)
    elif kinds & {Kind.INT, Kind.NUMBER}:
        _require_each(block, left, right, _NUMBERS | nullable)
    else:
        same = "EQUATABLE" if is_equality else "ORDERED"
        block.give_up_if(f"type({left}) is not type({right}) or type({left}) not in {same}")
    return block.assigned(f"{left} {_PYTHON[sign]} {right}", Kind.BOOLEAN)


def _require_each(block: Block, left: str, right: str, types: frozenset[type]) -> None:
    block.require_types(left, types)
    block.require_types(right, types)


def between(node: nodes.Between, block: Block, emit: Emit) -> str:
    value, low, high = (emit(each, block) for each in (node.operand, node.low, node.high))
    for each in (value, low, high):
        block.require(each, Kind.NUMBER)
    return block.assigned(f"{low} <= {value} <= {high}", Kind.BOOLEAN)


def membership(node: nodes.In, block: Block, emit: Emit) -> str:
    """Generate tests against constants only; other tests are ambiguous."""
    value = emit(node.operand, block)
    result = _tested(node.tests[0], value, block)
    for test in node.tests[1:]:
        block.line(f"if not {result}:")
        inner = block.inner()
        inner.line(f"{result} = {_tested(test, value, inner)}")
    return result


def _tested(test: nodes.Node, value: str, block: Block) -> str:
    block.source.count(test)
    if isinstance(test, nodes.RangeLiteral):
        return within(test, value, block)
    if isinstance(test, nodes.InputComparison):
        return compared(test.operator, value, _bound(test.operand, block), block)
    return compared("=", value, _bound(test, block), block)


def within(node: nodes.RangeLiteral, value: str, block: Block) -> str:
    low, high = _bound(node.start, block), _bound(node.end, block)
    first = compared(">=" if node.start_included else ">", value, low, block)
    last = compared("<=" if node.end_included else "<", value, high, block)
    return block.assigned(f"{first} and {last}", Kind.BOOLEAN)


def _bound(node: nodes.Node, block: Block) -> str:
    value = constant_of(node)
    if type(value) is not int and type(value) is not str:
        raise UnsupportedError(node)
    return block.constant(value)


def conjunction(node: nodes.Conjunction, block: Block, emit: Emit) -> str:
    return _in_turn(node.operands, "", block, emit)


def disjunction(node: nodes.Disjunction, block: Block, emit: Emit) -> str:
    return _in_turn(node.operands, "not ", block, emit)


def _in_turn(operands: tuple[nodes.Node, ...], negation: str, block: Block, emit: Emit) -> str:
    """Evaluate the operands until the result is decided, in a single block."""
    result = block.assigned(_boolean(operands[0], block, emit), Kind.BOOLEAN)
    inner = block.inner()
    for operand in operands[1:]:
        block.line(f"if {negation}{result}:")
        inner.line(f"{result} = {_boolean(operand, inner, emit)}")
    return result


def _boolean(node: nodes.Node, block: Block, emit: Emit) -> str:
    operand = emit(node, block)
    block.require(operand, Kind.BOOLEAN)
    return operand


def condition(node: nodes.If, block: Block, emit: Emit) -> str:
    result = block.source.variable()
    kinds = set()
    place = block
    for is_met, value in node.branches:
        place.line(f"if {emit(is_met, place)} is True:")
        kinds.add(_chosen(value, result, place.inner(), emit))
        place.line("else:")
        place = place.inner()
    kinds.add(_chosen(node.otherwise, result, place, emit))
    block.learn(result, kinds.pop() if len(kinds) == 1 else Kind.ANY)
    return result


def _chosen(node: nodes.Node, result: str, block: Block, emit: Emit) -> Kind:
    value = emit(node, block)
    block.line(f"{result} = {value}")
    return block.kind(value)
