"""Relations between points and ranges (DMN 1.5 §10.3.4.9, table 78)."""

import inspect
from functools import wraps
from typing import TypeAlias

from server.feel.comparison import are_ordered, precedes
from server.feel.constants import constant_of, temporal_literal
from server.feel.decimals import Number
from server.feel.errors import FeelSyntaxError, InvocationError
from server.feel.nodes import Node, RangeLiteral
from server.feel.parser import parse_expression
from server.feel.run import Run
from server.feel.signatures import Builtin, Family
from server.feel.temporal.values import Date, DateTime, DaysDuration, MonthsDuration, Time
from server.feel.text import shown
from server.feel.values import MISSING, Range, Value

Point: TypeAlias = Number | str | Date | Time | DateTime | DaysDuration | MonthsDuration


def range_(from_: str) -> Range:
    """Parse a range literal, whose ends must be literals too (DMN 1.5 §10.3.4.1)."""
    try:
        node = parse_expression(from_)
    except FeelSyntaxError as error:
        raise InvocationError(f"no range in '{shown(from_)}'") from error
    if not isinstance(node, RangeLiteral):
        raise InvocationError(f"no range in '{shown(from_)}'")
    start, end = _end(node.start), _end(node.end)
    if not are_ordered(start, end) or not precedes(start, end):
        raise InvocationError(f"no range from '{shown(start)}' to '{shown(end)}'")
    return Range(start, end, start_included=node.start_included, end_included=node.end_included)


def _end(node: Node) -> Value:
    temporal, constant = temporal_literal(node), constant_of(node)
    return temporal if constant is MISSING else constant


def before_point(point1: Point, point2: Point) -> bool:
    return _less(point1, point2)


def before_range(point: Point, range_: Range) -> bool:
    return _less(point, range_.start) or (_same(point, range_.start) and not range_.start_included)


def range_before_point(range_: Range, point: Point) -> bool:
    return _less(range_.end, point) or (_same(range_.end, point) and not range_.end_included)


def before_of_ranges(range1: Range, range2: Range) -> bool:
    touches = range1.end is not None and _same(range1.end, range2.start)
    return _less(range1.end, range2.start) or (
        touches and not (range1.end_included and range2.start_included)
    )


def after_point(point1: Point, point2: Point) -> bool:
    return before_point(point2, point1)


def after_range(point: Point, range_: Range) -> bool:
    return range_before_point(range_, point)


def range_after_point(range_: Range, point: Point) -> bool:
    return before_range(point, range_)


def after_of_ranges(range1: Range, range2: Range) -> bool:
    return before_of_ranges(range2, range1)


def meets(range1: Range, range2: Range) -> bool:
    return range1.end_included and range2.start_included and _same(range1.end, range2.start)


def met_by(range1: Range, range2: Range) -> bool:
    return meets(range2, range1)


def overlaps(range1: Range, range2: Range) -> bool:
    return _reaches(range1, range2) and _reaches(range2, range1)


def overlaps_before(range1: Range, range2: Range) -> bool:
    return _starts_earlier(range1, range2) and _reaches(range1, range2) and not _ends_later(range1, range2)


def overlaps_after(range1: Range, range2: Range) -> bool:
    return overlaps_before(range2, range1)


def finishes_point(point: Point, range_: Range) -> bool:
    return range_.end_included and _same(point, range_.end)


def finishes(range1: Range, range2: Range) -> bool:
    return _same_end(range1, range2) and not _starts_earlier(range1, range2)


def finished_by_point(range_: Range, point: Point) -> bool:
    return finishes_point(point, range_)


def finished_by(range1: Range, range2: Range) -> bool:
    return finishes(range2, range1)


def includes_point(range_: Range, point: Point) -> bool:
    is_outside = before_range(point, range_) or range_before_point(range_, point)
    return not is_outside


def includes(range1: Range, range2: Range) -> bool:
    return not _starts_earlier(range2, range1) and not _ends_later(range2, range1)


def during_of_point(point: Point, range_: Range) -> bool:
    return includes_point(range_, point)


def during(range1: Range, range2: Range) -> bool:
    return includes(range2, range1)


def starts_point(point: Point, range_: Range) -> bool:
    return range_.start_included and _same(point, range_.start)


def starts(range1: Range, range2: Range) -> bool:
    return _same_start(range1, range2) and not _ends_later(range1, range2)


def started_by_point(range_: Range, point: Point) -> bool:
    return starts_point(point, range_)


def started_by(range1: Range, range2: Range) -> bool:
    return starts(range2, range1)


def coincides_of_points(point1: Point, point2: Point) -> bool:
    return _same(point1, point2)


def coincides(range1: Range, range2: Range) -> bool:
    return _same_start(range1, range2) and _same_end(range1, range2)


def _starts_earlier(left: Range, right: Range) -> bool:
    if left.start is None or right.start is None:
        return right.start is not None
    return _less(left.start, right.start) or (
        _same(left.start, right.start) and left.start_included and not right.start_included
    )


def _ends_later(left: Range, right: Range) -> bool:
    if left.end is None or right.end is None:
        return right.end is not None
    return _less(right.end, left.end) or (
        _same(left.end, right.end) and left.end_included and not right.end_included
    )


def _reaches(left: Range, right: Range) -> bool:
    """Whether the left range does not end before the right one starts."""
    return not before_of_ranges(left, right)


def _same_start(left: Range, right: Range) -> bool:
    return left.start_included is right.start_included and _same(left.start, right.start)


def _same_end(left: Range, right: Range) -> bool:
    return left.end_included is right.end_included and _same(left.end, right.end)


def _less(left: Value, right: Value) -> bool:
    """Whether left is less than right; an unbounded side is neither before nor after a point."""
    if left is None or right is None:
        return False
    _refuse_incomparable(left, right)
    return not precedes(right, left)


def _same(left: Value, right: Value) -> bool:
    if left is None or right is None:
        return left is right
    _refuse_incomparable(left, right)
    return precedes(left, right) and precedes(right, left)


def _refuse_incomparable(left: Value, right: Value) -> None:
    if not are_ordered(left, right):
        raise InvocationError(f"'{shown(left)}' can't be compared with '{shown(right)}'")


def _of_intervals(*functions: Builtin) -> tuple[Builtin, ...]:
    """Refuse ranges such as `(!= 5)`, which consist of two parts."""
    return tuple(map(_of_interval, functions))


def _of_interval(function: Builtin) -> Builtin:
    @wraps(function)
    def checked(run: Run, *values: Value) -> Value:
        for value in values:
            if isinstance(value, Range) and not value.is_interval:
                raise InvocationError(f"'{shown(value)}' is not an interval")
            if not run.dialect.relates_strings and isinstance(_point_of(value), str):
                raise InvocationError(f"'{shown(value)}' is neither before nor after others")
        return function(*values)

    first = inspect.Parameter("run", inspect.Parameter.POSITIONAL_ONLY, annotation=Run)
    own = inspect.signature(function)
    checked.__signature__ = own.replace(parameters=[first, *_positional(own)])  # type: ignore[attr-defined]  # read by inspect
    return checked


def _positional(signature: inspect.Signature) -> list[inspect.Parameter]:
    return [*signature.parameters.values()]


def _point_of(value: Value) -> Value:
    """Return the value itself, or one end of a range."""
    if not isinstance(value, Range):
        return value
    return value.end if value.start is None else value.start


FUNCTIONS: Family = {
    "range": range_,
    "before": _of_intervals(before_point, before_range, range_before_point, before_of_ranges),
    "after": _of_intervals(after_point, after_range, range_after_point, after_of_ranges),
    "meets": _of_intervals(meets),
    "met by": _of_intervals(met_by),
    "overlaps": _of_intervals(overlaps),
    "overlaps before": _of_intervals(overlaps_before),
    "overlaps after": _of_intervals(overlaps_after),
    "finishes": _of_intervals(finishes_point, finishes),
    "finished by": _of_intervals(finished_by_point, finished_by),
    "includes": _of_intervals(includes_point, includes),
    "during": _of_intervals(during_of_point, during),
    "starts": _of_intervals(starts_point, starts),
    "started by": _of_intervals(started_by_point, started_by),
    "coincides": _of_intervals(coincides_of_points, coincides),
}
