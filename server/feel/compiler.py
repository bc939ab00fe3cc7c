"""Compiles a syntax tree to closures.

Each node becomes one Python function of the `Run`, with its parts, constants and slots bound. Only this table
knows all node types.
"""

from collections.abc import Callable, Mapping

from server.feel import nodes
from server.feel.closures import (
    calls,
    functions,
    literals,
    logic,
    loops,
    operators,
    paths,
    ranges,
    unary_tests,
)
from server.feel.names import CELL_INPUT, INPUT, Closure, Layout, Names

_FORMS: Mapping[type, Callable[..., Closure]] = {
    nodes.Literal: literals.literal,
    nodes.Name: literals.name,
    nodes.InputValue: literals.input_value,
    nodes.ListLiteral: literals.list_literal,
    nodes.ContextLiteral: literals.context_literal,
    nodes.RangeLiteral: ranges.range_literal,
    nodes.Negation: operators.negation,
    nodes.Arithmetic: operators.arithmetic,
    nodes.Comparison: operators.comparison,
    nodes.Between: operators.between,
    nodes.InstanceOf: operators.instance_of,
    nodes.Conjunction: logic.conjunction,
    nodes.Disjunction: logic.disjunction,
    nodes.If: logic.condition,
    nodes.Path: paths.path,
    nodes.Filter: paths.filtered,
    nodes.For: loops.for_loop,
    nodes.Quantified: loops.quantified,
    nodes.In: unary_tests.membership,
    nodes.InputComparison: unary_tests.input_comparison,
    nodes.Call: calls.call,
    nodes.QualifiedCall: calls.qualified_call,
    nodes.Invocation: calls.invocation,
    nodes.Lambda: functions.definition,
    nodes.External: functions.external,
}


def compile_expression(node: nodes.Node, layout: Layout) -> Closure:
    return _compile(node, Names(layout))


def compile_unary_tests(tests: nodes.Tests, layout: Layout) -> Closure:
    """Compile unary tests; the closure reads the input from slot 0."""
    names = Names(layout)
    binding = names.bind(INPUT)
    if layout.dialect.binds_cell_input:
        names.bind_also(CELL_INPUT, binding)
    return unary_tests.tests(tests, names, binding, _compile)


def _compile(node: nodes.Node, names: Names) -> Closure:
    names.layout.enter()
    closure = _FORMS[type(node)](node, names, _compile)
    names.layout.leave()
    return closure
