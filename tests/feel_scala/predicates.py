"""Which culprits a known difference explains: one predicate for each row of `differences`."""

import re
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from fractions import Fraction
from itertools import combinations

from server.feel import Date, DateTime, DaysDuration, MonthsDuration, Time, Value
from server.feel.decimals import INT_BOUND
from server.feel.nodes import (
    Arguments,
    Arithmetic,
    Call,
    Filter,
    For,
    In,
    InputComparison,
    InstanceOf,
    IteratedRange,
    Lambda,
    Negation,
    Path,
    Quantified,
)
from server.feel.pratt import RESERVED
from server.feel.temporal.values import SECOND
from server.feel.types import NamedType
from server.feel.values import is_number
from tests.feel_scala.answers import our_value
from tests.feel_scala.culprits import Culprit

_NULL = {"value": None}
NO_TEXT = {"error": "parse"}
_RANGE = re.compile(r"\.\.")


def has_a_range_as_a_value(culprit: Culprit) -> bool:
    if culprit.theirs not in (_NULL, NO_TEXT) or (
        culprit.theirs == _NULL and culprit.input_value is not None
    ):
        return False
    value = culprit.ours.get("value")
    return bool(_RANGE.search(culprit.text)) or (isinstance(value, dict) and value["$"] == "range")


def negates_a_duration(culprit: Culprit) -> bool:
    match culprit.node:
        case Negation(operand, _):
            return isinstance(culprit.value(operand), DaysDuration | MonthsDuration)
        case _:
            return False


def calls(*names: str) -> Callable[[Culprit], bool]:
    return lambda culprit: isinstance(culprit.node, Call) and culprit.node.name in names


def ends_with_an_exception(culprit: Culprit) -> bool:
    return culprit.theirs == {"error": "evaluation"} and (
        culprit.ours == _NULL
        or (culprit.input_value is not None and "value" in culprit.ours)
        or _is_filter_of_nothing(culprit)
    )


def _is_filter_of_nothing(culprit: Culprit) -> bool:
    """Its condition is never evaluated here, and once there."""
    match culprit.node:
        case Filter(source):
            return culprit.value(source) == []
        case _:
            return False


def divides_a_duration(culprit: Culprit) -> bool:
    match culprit.node:
        case Arithmetic("/", left, _, _):
            return isinstance(culprit.value(left), DaysDuration)
        case _:
            return False


def is_if_an_operand(culprit: Culprit) -> bool:
    return culprit.theirs == NO_TEXT and bool(_IF.search(culprit.text))


_IF = re.compile(r"(?:[-+*/<>=]|\bin|\bbetween|\bbetween .* and) (?:if|for|some|every)\b")


def is_out_of_bounds(culprit: Culprit) -> bool:
    match culprit.node:
        case Arithmetic("*", left, right, _):
            factors = [culprit.value(left), culprit.value(right)]
            has_duration = any(isinstance(factor, DaysDuration | MonthsDuration) for factor in factors)
            return has_duration and (culprit.ours == _NULL or any(map(_is_long, factors)))
        case Arithmetic("/", left, _, _):
            return culprit.ours == _NULL and isinstance(culprit.value(left), MonthsDuration)
        case Call(name="date" | "time"):
            return culprit.ours == _NULL and any(map(_is_long, culprit.values()))
        case _:
            return False


def _is_long(value: Value) -> bool:
    """Whether 32 bits do not hold the number."""
    return is_number(value) and not -(2**31) <= value < 2**31


def compares_a_moment_in_two_zones(culprit: Culprit) -> bool:
    """The moments may be operands, items of a list that is one, or the input of a test."""
    values = [*culprit.values(), our_value(culprit.input_value or "null", culprit.context)]
    flat = [item for value in values for item in (value if isinstance(value, list) else [value])]
    moments = [value for value in flat if isinstance(value, DateTime) and value.zone is not None]
    return any(one.in_utc == other.in_utc and one != other for one, other in combinations(moments, 2))


def looks_for_a_context(culprit: Culprit) -> bool:
    match culprit.node:
        case In(operand, _):
            return isinstance(culprit.value(operand), dict) and culprit.theirs == {"value": False}
        case Call(name="list contains"):
            return any(isinstance(value, dict) for value in culprit.values())
        case _:
            return culprit.input_value is not None and culprit.input_value.startswith(("{", "c"))


def is_the_least_list(culprit: Culprit) -> bool:
    match culprit.node:
        case Call("min" | "max", Arguments((argument,))):
            value = culprit.value(argument)
            return isinstance(value, list) and len(value) == 1 and isinstance(value[0], list)
        case _:
            return False


def depends_on_an_iterator(culprit: Culprit) -> bool:
    match culprit.node:
        case For((first, _, *_)) | Quantified((first, _, *_)) if not isinstance(first.source, IteratedRange):
            is_never_left = culprit.value(first.source) == []
            is_null = culprit.theirs == _NULL or culprit.input_value is not None
            # A variable outside with the name of the earlier iterator takes its place there.
            return (is_null and is_never_left) or bool(_DEPENDENT.match(culprit.text))
        case _:
            return False


_DEPENDENT = re.compile(r"(?:for|some|every) (\w+) in .*, \w+ in \1\b")


def takes_its_own_type(culprit: Culprit) -> bool:
    match culprit.node:
        case Call("date and time" | "time" | "duration", Arguments((argument,))):
            kinds = Date | DateTime | Time | DaysDuration | MonthsDuration
            return culprit.theirs == _NULL and isinstance(culprit.value(argument), kinds)
        case _:
            return False


def is_between_a_call(culprit: Culprit) -> bool:
    """Parentheses around the operand make it a call in a part that holds the comparison, too."""
    return bool(_CALL_AFTER_BETWEEN.search(culprit.text))


_CALL_AFTER_BETWEEN = re.compile(r"\b\w+ between (?:\w+ )*\w*\(")


def is_part_of_a_negative_duration(culprit: Culprit) -> bool:
    match culprit.node:
        case Path(source, "seconds" | "minutes" | "hours" | "days"):
            value = culprit.value(source)
            return (
                isinstance(value, DaysDuration) and value.nanoseconds < 0 and value.nanoseconds % SECOND != 0
            )
        case _:
            return False


def is_of_the_standard(culprit: Culprit) -> bool:
    return culprit.theirs == NO_TEXT and culprit.node is not None and _has_own_syntax(culprit.node)


def _has_own_syntax(node: object) -> bool:
    """Whether types have parameters, or a test an operator, which feel-scala does not read."""
    match node:
        case InstanceOf(_, kind) if not isinstance(kind, NamedType):
            return True
        case Lambda(_, types, _) if any(types):
            return True
        case InputComparison("=" | "!="):
            return True
        case tuple():
            return any(map(_has_own_syntax, node))
        case _:
            names = [field.name for field in fields(node)] if is_dataclass(node) else ()
            return any(_has_own_syntax(getattr(node, name)) for name in names)


def has_more(culprit: Culprit) -> bool:
    return calls("is", "list replace", "range")(culprit) and culprit.theirs == _NULL


def has_a_long_quotient(culprit: Culprit) -> bool:
    values = culprit.values()
    if not calls("modulo")(culprit) or len(values) != 2 or not all(map(is_number, values)):
        return False
    dividend, divisor = (Fraction(value) for value in values if is_number(value))
    return divisor != 0 and abs(dividend / divisor) >= INT_BOUND


def is_out_of_scale(culprit: Culprit) -> bool:
    return (
        culprit.ours == _NULL and calls(*_ROUNDED)(culprit) and any(map(_is_a_long_scale, culprit.values()))
    )


_ROUNDED = ("decimal", "floor", "ceiling", "round up", "round down", "round half up", "round half down")


def _is_a_long_scale(value: Value) -> bool:
    """DMN 1.5 §10.3.4.5 bounds a scale."""
    return is_number(value) and not -6111 <= value <= 6176


def names_a_parameter(culprit: Culprit) -> bool:
    match culprit.node:
        case Call("floor" | "round half down", Arguments(_, names)):
            return names is not None and culprit.theirs == _NULL
        case _:
            return False


def has(pattern: str) -> Callable[[Culprit], bool]:
    found = re.compile(pattern)
    return lambda culprit: bool(found.search(culprit.text))


def is_keyword(culprit: Culprit) -> bool:
    return culprit.text in RESERVED and culprit.ours == NO_TEXT
