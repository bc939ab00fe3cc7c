"""Compiles boxed expressions to closures over a frame, one module per family (DMN 1.5 §10.2.2).

Each function takes an expression and the place where it occurs.
"""

from collections.abc import Callable, Mapping

from server.dmn import boxed
from server.dmn.logic import calls, contexts, iterations, literals
from server.dmn.place import Place
from server.dmn.session import Evaluate
from server.dmn.tables import table

_FORMS: Mapping[type[boxed.Expression], Callable[..., Evaluate]] = {
    boxed.LiteralExpression: literals.literal_expression,
    boxed.Conditional: literals.conditional,
    boxed.Context: contexts.context,
    boxed.ListExpression: contexts.list_expression,
    boxed.Relation: contexts.relation,
    boxed.FunctionDefinition: calls.function_definition,
    boxed.Invocation: calls.invocation,
    boxed.For: iterations.for_loop,
    boxed.Quantified: iterations.quantified,
    boxed.Filter: iterations.filtered,
    boxed.DecisionTable: table.decision_table,
}


def compile_logic(expression: boxed.Expression, place: Place) -> Evaluate:
    return _FORMS[type(expression)](expression, place)
