"""Code for unary tests, which decision tables evaluate by the thousand.

The code takes the same steps from the budget as the closures, or gives up before it takes any. It therefore
only supports forms with known steps: numbers, strings, booleans, entries of contexts, and builtins that do
not use the run, because these could charge for the time of a regular expression.
"""

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Final, NamedTuple, TypeAlias, cast

from server.feel import nodes
from server.feel.budget import Budget
from server.feel.constants import constant_of, temporal_literal
from server.feel.dialects import Dialect
from server.feel.generated import scalars
from server.feel.generated.block import Block, Emit, Kind, Source, UnsupportedError
from server.feel.generated.calls import accepted_arguments, kind_of_result, signature_of
from server.feel.generated.quick import RUNTIME
from server.feel.limits import CHARACTERS_PER_STEP
from server.feel.names import CELL_INPUT
from server.feel.nodes import Node, Tests
from server.feel.run import SIZED, cost
from server.feel.values import Missing, Value

Lookup: TypeAlias = Callable[[str, Missing], Value | Missing]
Code: TypeAlias = Callable[[Lookup, Value, Budget], bool | None]
"""Tests a value in a scope, or returns None without using the budget, so that the closures evaluate."""

_CACHED_SHAPES: Final = 1024
_ORDERED: Final = "ORDERED"
_VALUE: Final = "value"
_FREE_OF_COST: Final = frozenset({Kind.BOOLEAN, Kind.INT})
_STRINGS_MADE: Final = re.compile(r"steps \+= len\(\w+\)$")


class Template(NamedTuple):
    """A function that creates the code, and its constants for these tests: names, builtins and values."""

    made: Callable[..., Code]
    constants: tuple[object, ...]


def generate_tests(tests: Tests, dialect: Dialect) -> Code | None:
    """Generate the code of unary tests; None if they have a form without code generation."""
    template = template_of(tests, dialect)
    return None if template is None else template.made(*template.constants)


def template_of(tests: Tests, dialect: Dialect) -> Template | None:
    """Return the template of unary tests; None if they have a form without code generation."""
    source = Source({})
    block = Block(source, 3)
    try:
        if not tests.tests or (tests.is_negated and any(map(_is_truth, tests.tests))):
            return None
        if dialect.binds_cell_input:
            block.levels = ({CELL_INPUT: _VALUE},)
        result = _any_of(tests.tests, block)
    except (UnsupportedError, ArithmeticError, RecursionError):
        return None
    if any(map(_STRINGS_MADE.search, source.lines)):
        return None
    if any("steps +=" in line for line in source.lines):
        block.give_up_if("steps > budget.left")
        block.line("budget.left -= steps")
    block.line(f"return {'not ' if tests.is_negated else ''}{result}")
    # The lines contain only names of this package and numbers; texts of tenants are parameters.
    constants = tuple(name for name in source.namespace if name.startswith("k"))
    types = frozenset((name, found) for name, found in source.namespace.items() if isinstance(found, type))
    made = _compiled("\n".join(source.lines), constants, types)
    return Template(made, tuple(source.namespace[name] for name in constants))


@lru_cache(_CACHED_SHAPES)
def _compiled(
    lines: str, constants: tuple[str, ...], types: frozenset[tuple[str, type]]
) -> Callable[..., Code]:
    """Compile lines; tests that differ only in names and values share the function that creates their code."""
    head = [
        f"def made({', '.join(constants)}):",
        "    def code(get, value, budget):",
        *(["        steps = 0"] if "steps" in lines else []),
        "        try:",
    ]
    tail = ["        except SURPRISES: return None", "    return code"]
    namespace: dict[str, object] = {**RUNTIME, **dict(types)}
    exec("\n".join([*head, lines, *tail]), namespace)  # noqa: S102
    return cast("Callable[..., Code]", namespace["made"])


def _any_of(tests: tuple[Node, ...], block: Block) -> str:
    """Generate the tests so that each is evaluated only if the previous ones did not accept."""
    result = block.assigned(_test(tests[0], block), Kind.BOOLEAN)
    for test in tests[1:]:
        block.line(f"if not {result}:")
        inner = block.inner()
        inner.line(f"{result} = {_test(test, inner)}")
    return result


def _test(node: Node, block: Block) -> str:
    """Generate one test as in `closures.unary_tests`: a test that uses the input is a boolean, others are compared."""
    if isinstance(node, nodes.RangeLiteral):
        return scalars.within(node, _VALUE, block)
    constant = constant_of(node)
    if _is_truth(node) or type(constant) is int or type(constant) is str:
        return scalars.compared("=", _VALUE, block.constant(cast("Value", constant)), block)
    found = _emit(node, block)
    if _speaks_of_input(node):
        block.require(found, Kind.BOOLEAN)
        return found
    block.give_up_if(f"type({found}) not in {_ORDERED}")
    return scalars.compared("=", _VALUE, found, block)


def _is_truth(node: Node) -> bool:
    return isinstance(node, nodes.Literal) and isinstance(node.value, bool)


def _speaks_of_input(node: object) -> bool:
    """Whether a test uses the input; forms that bind their own input do not occur in tests with code."""
    if isinstance(node, nodes.InputValue | nodes.InputComparison):
        return True
    if isinstance(node, nodes.In):
        return _speaks_of_input(node.operand)
    if isinstance(node, tuple):
        return any(map(_speaks_of_input, node))
    parts = getattr(node, "__dataclass_fields__", ())
    return any(_speaks_of_input(getattr(node, name)) for name in parts)


def _input_value(_node: nodes.InputValue, _block: Block, _emit_part: Emit) -> str:
    return _VALUE


def _input_comparison(node: nodes.InputComparison, block: Block, emit: Emit) -> str:
    return scalars.compared(node.operator, _VALUE, emit(node.operand, block), block)


def _entry(node: nodes.Path, block: Block, emit: Emit) -> str:
    source, key = emit(node.source, block), block.constant(node.key)
    block.give_up_if(f"type({source}) is not dict")
    return block.assigned(f"{source}[{key}]")


def _call(node: nodes.Call, block: Block, emit: Emit) -> str:
    signature = signature_of(node, block)
    if signature is None or node.arguments.names is not None or signature.wants_run or temporal_literal(node):
        raise UnsupportedError(node)
    arguments = [emit(value, block) for value in node.arguments.values]
    accepted_arguments(signature, arguments, block)
    costs = [_cost(*each, block) for each in zip(signature.types, arguments, strict=False)]
    costs += [f"cost({argument})" for argument in arguments[len(signature.types) :]]
    block.charge(" + ".join(["1", *filter(None, costs)]))
    function, kind = block.source.constant(signature.function), kind_of_result(signature)
    result = block.assigned(f"{function}({', '.join(arguments)})", kind)
    if kind not in _FREE_OF_COST:
        block.charge(f"cost({result})")
    return result


def _cost(types: frozenset[type] | None, argument: str, block: Block) -> str:
    """Return the expression of an argument's steps, empty if it has none."""
    constant = block.source.namespace.get(argument)
    if isinstance(constant, str):
        return str(cost(constant) or "")
    if types is not None and types.isdisjoint(SIZED):
        return ""
    return f"len({argument}) // {CHARACTERS_PER_STEP}" if types == frozenset({str}) else f"cost({argument})"


_FORMS: Final[Mapping[type, Callable[..., str]]] = {
    nodes.Literal: scalars.literal,
    nodes.Name: scalars.name,
    nodes.InputValue: _input_value,
    nodes.InputComparison: _input_comparison,
    nodes.Negation: scalars.negation,
    nodes.Arithmetic: scalars.arithmetic,
    nodes.Comparison: scalars.comparison,
    nodes.Between: scalars.between,
    nodes.In: scalars.membership,
    nodes.Conjunction: scalars.conjunction,
    nodes.Disjunction: scalars.disjunction,
    nodes.If: scalars.condition,
    nodes.Path: _entry,
    nodes.Call: _call,
}


def _emit(node: Node, block: Block) -> str:
    form = _FORMS.get(type(node))
    if form is None:
        raise UnsupportedError(node)
    block.source.count(node)
    return form(node, block, _emit)
