"""Ranges with one or two ends."""

from collections.abc import Callable, Mapping

from server.feel.comparison import are_ordered, precedes
from server.feel.failures import FailureType
from server.feel.names import Closure, Compile, Names
from server.feel.nodes import InputComparison, RangeLiteral
from server.feel.run import Run
from server.feel.values import Range, Value


def range_literal(node: RangeLiteral, names: Names, compile_node: Compile) -> Closure:
    start, end = compile_node(node.start, names), compile_node(node.end, names)

    may_descend = names.layout.dialect.ranges_descend

    def range_value(run: Run) -> Value:
        low, high = start(run), end(run)
        if not are_ordered(low, high) or not (may_descend or precedes(low, high)):
            run.fail(
                FailureType.INVALID_TYPE, "no range from '{}' to '{}'", low, high, position=node.position
            )
            return None
        return Range(low, high, start_included=node.start_included, end_included=node.end_included)

    return range_value


_RANGES_BY_SIGN: Mapping[str, Callable[[Value], Range]] = {
    "<": lambda end: Range(None, end, start_included=False, end_included=False),
    "<=": lambda end: Range(None, end, start_included=False, end_included=True),
    ">": lambda start: Range(start, None, start_included=False, end_included=False),
    ">=": lambda start: Range(start, None, start_included=True, end_included=False),
    "=": lambda point: Range(point, point, start_included=True, end_included=True, sign="="),
    "!=": lambda point: Range(point, point, start_included=False, end_included=False, sign="!="),
}


def range_by_sign(node: InputComparison, names: Names, compile_node: Compile) -> Closure:
    operand, range_of = compile_node(node.operand, names), _RANGES_BY_SIGN[node.operator]

    def range_value(run: Run) -> Value:
        end = operand(run)
        if not are_ordered(end, end):
            run.refuse("no range to '{}'", end, position=node.position)
            return None
        return range_of(end)

    return range_value
