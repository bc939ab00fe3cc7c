"""Literal expressions (FEEL) and conditional expressions."""

from server import feel
from server.dmn.boxed import Conditional, Element, LiteralExpression
from server.dmn.constants import constant_of
from server.dmn.place import Place, unusable
from server.dmn.session import Evaluate, Frame
from server.feel import MISSING, Value
from server.feel.limits import INNER_CHARACTERS_PER_STEP
from server.feel.text import shown


def literal_expression(literal: LiteralExpression, place: Place) -> Evaluate:
    value = constant_of(literal.text) if place.may_be_plain(literal) else MISSING
    if value is not MISSING and len(literal.text) < INNER_CHARACTERS_PER_STEP:
        return _constant(value)
    expression = place.expression(literal)
    if expression is None:
        return unusable(literal, "the expression is no FEEL")
    return evaluated(expression, literal, place)


def _constant(value: Value) -> Evaluate:
    def constant(frame: Frame) -> Value:
        frame.session.charge(1)
        return value

    return constant


def evaluated(expression: feel.Expression, at: Element, place: Place) -> Evaluate:
    """Return the evaluation of an expression; its failures are recorded under the element's id."""
    types = place.types.model

    def literal(frame: Frame) -> Value:
        session = frame.session
        session.charge(1)
        evaluation = expression.evaluate(frame.scope, session.ports(types))
        for failure in evaluation.failures:
            session.note(at.id, failure.message)
        return evaluation.value

    return literal


def conditional(node: Conditional, place: Place) -> Evaluate:
    condition, then, otherwise = map(place.compile, (node.condition, node.then, node.otherwise))

    def chosen(frame: Frame) -> Value:
        is_met = condition(frame)
        if is_met is None or isinstance(is_met, bool):
            return then(frame) if is_met else otherwise(frame)
        frame.session.note(node.id, f"expected a boolean as condition but found '{shown(is_met)}'")
        return None

    return chosen
