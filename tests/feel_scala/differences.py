"""Known differences between feel-scala and our Camunda dialect on the same part: one row for each.

A row has an example and says which culprits are its own. A difference without a row is unexplained, and the run fails.
docs/feel.md has the same examples, with both values.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

from server.feel import Date, DateTime, DaysDuration, MonthsDuration, Time, Value
from server.feel.nodes import (
    Arguments,
    Arithmetic,
    Between,
    Call,
    For,
    In,
    IteratedRange,
    Negation,
    Quantified,
)
from server.feel.values import is_number
from tests.feel_scala.culprits import Culprit


@dataclass(frozen=True, slots=True)
class Difference:
    name: str
    explanation: str
    example: str
    takes: Callable[[Culprit], bool]
    input_value: str | None = None


def explanation(culprit: Culprit) -> Difference | None:
    return next((row for row in DIFFERENCES if row.takes(culprit)), None)


_NULL = {"value": None}
_NO_TEXT = {"error": "parse"}
_RANGE = re.compile(r"\.\.")


def _has_a_range_as_a_value(culprit: Culprit) -> bool:
    is_nothing = culprit.theirs == _NO_TEXT or (culprit.theirs == _NULL and culprit.input_value is None)
    return is_nothing and bool(_RANGE.search(culprit.text))


def _negates_a_duration(culprit: Culprit) -> bool:
    match culprit.node:
        case Negation(operand, _):
            return isinstance(culprit.value(operand), DaysDuration | MonthsDuration)
        case _:
            return False


def _calls(*names: str) -> Callable[[Culprit], bool]:
    return lambda culprit: isinstance(culprit.node, Call) and culprit.node.name in names


def _ends_with_an_exception(culprit: Culprit) -> bool:
    return culprit.theirs == {"error": "evaluation"} and (
        culprit.ours == _NULL or (culprit.input_value is not None and "value" in culprit.ours)
    )


def _divides_a_duration(culprit: Culprit) -> bool:
    match culprit.node:
        case Arithmetic("/", left, _, _):
            return isinstance(culprit.value(left), DaysDuration)
        case _:
            return False


def _is_if_an_operand(culprit: Culprit) -> bool:
    return culprit.theirs == _NO_TEXT and bool(_IF.search(culprit.text))


_IF = re.compile(r"[-+*/<>=] if\b")


def _is_out_of_bounds(culprit: Culprit) -> bool:
    match culprit.node:
        case Arithmetic("*", left, right, _):
            factors = [culprit.value(left), culprit.value(right)]
            has_duration = any(isinstance(factor, DaysDuration | MonthsDuration) for factor in factors)
            return has_duration and (culprit.ours == _NULL or any(map(_is_long, factors)))
        case Call(name="date" | "time"):
            return culprit.ours == _NULL and any(map(_is_long, culprit.values()))
        case _:
            return False


def _is_long(value: Value) -> bool:
    """Whether 32 bits do not hold the number."""
    return is_number(value) and not -(2**31) <= value < 2**31


def _compares_a_moment_in_two_zones(culprit: Culprit) -> bool:
    """The moments may be operands or items of a list that is one."""
    flat = [item for value in culprit.values() for item in (value if isinstance(value, list) else [value])]
    moments = [value for value in flat if isinstance(value, DateTime) and value.zone is not None]
    return any(one.in_utc == other.in_utc and one != other for one, other in combinations(moments, 2))


def _looks_for_a_context(culprit: Culprit) -> bool:
    match culprit.node:
        case In(operand, _):
            return isinstance(culprit.value(operand), dict) and culprit.theirs == {"value": False}
        case Call(name="list contains"):
            return any(isinstance(value, dict) for value in culprit.values())
        case _:
            return culprit.input_value is not None and culprit.input_value.startswith(("{", "c"))


def _depends_on_an_iterator(culprit: Culprit) -> bool:
    match culprit.node:
        case For((first, _, *_)) | Quantified((first, _, *_)) if not isinstance(first.source, IteratedRange):
            is_never_left = culprit.value(first.source) == []
            return culprit.theirs == _NULL and (is_never_left or bool(_DEPENDENT.match(culprit.text)))
        case _:
            return False


_DEPENDENT = re.compile(r"(?:for|some|every) (\w+) in .*, \w+ in \1\b")


def _takes_its_own_type(culprit: Culprit) -> bool:
    match culprit.node:
        case Call("date and time" | "time" | "duration", Arguments((argument,))):
            kinds = Date | DateTime | Time | DaysDuration | MonthsDuration
            return culprit.theirs == _NULL and isinstance(culprit.value(argument), kinds)
        case _:
            return False


def _is_between_a_call(culprit: Culprit) -> bool:
    return isinstance(culprit.node, Between) and bool(_CALL_AFTER_BETWEEN.search(culprit.text))


_CALL_AFTER_BETWEEN = re.compile(r"\b\w+ between \w+(?: \w+)*\(")


DIFFERENCES: Sequence[Difference] = (
    Difference(
        "range as a value",
        "A range is a value in the arguments of some functions and in tests only; elsewhere it is null or no text.",
        "{a: [1..3]}.a",
        _has_a_range_as_a_value,
    ),
    Difference(
        "test in parentheses",
        "The result of a test in parentheses is compared with the input, so that null accepts null.",
        "([1..5])",
        lambda culprit: culprit.differs_by_parentheses,
        input_value="null",
    ),
    Difference(
        "negative duration",
        "A duration with a minus before it is null.",
        '-@"PT1H"',
        _negates_a_duration,
    ),
    Difference(
        "duration out of bounds",
        "A factor or a part of a date is cut to 32 bits; ours is exact, or null.",
        '@"P1M" * 4294967297',
        _is_out_of_bounds,
    ),
    Difference(
        "exception",
        "An exception of Java ends the evaluation; ours is null with a failure.",
        "modulo(3, 0)",
        _ends_with_an_exception,
    ),
    Difference(
        "moment in two zones",
        "The same moment in two zones is before itself, by its local time or the name of its zone.",
        '@"2024-06-15T10:00:00+02:00" <= @"2024-06-15T08:00:00Z"',
        _compares_a_moment_in_two_zones,
    ),
    Difference(
        "context in a list",
        "A context is not found in a list, since its identity is compared.",
        "{a: 1} in [{a: 1}]",
        _looks_for_a_context,
    ),
    Difference(
        "dependent iterator",
        "An iterator does not see those before it.",
        "for x in [[1]], y in x return y",
        _depends_on_an_iterator,
    ),
    Difference(
        "value of its own type",
        "A conversion refuses a value that needs none, and a date where it makes a date and time.",
        'date and time(@"2024-02-29")',
        _takes_its_own_type,
    ),
    Difference(
        "call after between",
        "A name, `between` and the name of a function are read as the name of one function.",
        "[1, 2, 3][item between abs(1) and 2]",
        _is_between_a_call,
    ),
    Difference(
        "from base64",
        "The function is of a later release than 1.21.",
        'from base64("YQ==")',
        _calls("from base64"),
    ),
    Difference(
        "order of entries",
        "Entries of a context of more than four come in the order of a hash table.",
        "get entries({a: 1, b: 2, c: 3, d: 4, e: 5}).key",
        _calls("get entries"),
    ),
    Difference(
        "digits as text",
        "Trailing zeros and exponents of a number are written, fractions of the seconds of a duration are not.",
        'string(@"PT0.5S")',
        _calls("string", "to json"),
    ),
    Difference(
        "part of a duration",
        "A duration is divided in whole milliseconds.",
        '@"PT1S" / 7',
        _divides_a_duration,
    ),
    Difference(
        "if as an operand",
        "A condition without parentheses is no operand.",
        "1 + if true then 1 else 2",
        _is_if_an_operand,
    ),
    Difference(
        "offset of a part of a second",
        "An offset of a time is cut to whole seconds, and ignored if it is longer than 18 hours; ours refuses both.",
        'time(1, 1, 2, @"PT0.5S")',
        _calls("time"),
    ),
)
