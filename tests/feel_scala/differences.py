"""Known differences between feel-scala and our Camunda dialect on the same part: one row for each.

A row has an example and says which culprits are its own. A difference without a row is unexplained, and the run fails.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from server.feel import DaysDuration, MonthsDuration
from server.feel.nodes import Arithmetic, Call, Negation
from tests.feel_scala.culprits import Culprit


@dataclass(frozen=True, slots=True)
class Difference:
    name: str
    explanation: str
    example: str
    takes: Callable[[Culprit], bool]


def explanation(culprit: Culprit) -> Difference | None:
    return next((row for row in DIFFERENCES if row.takes(culprit)), None)


_NOTHING = ({"value": None}, {"error": "parse"})
_RANGE = re.compile(r"\.\.")


def _has_a_range_as_a_value(culprit: Culprit) -> bool:
    return culprit.theirs in _NOTHING and bool(_RANGE.search(culprit.text))


def _negates_a_duration(culprit: Culprit) -> bool:
    match culprit.node:
        case Negation(operand, _):
            return isinstance(culprit.value(operand), DaysDuration | MonthsDuration)
        case _:
            return False


def _calls(*names: str) -> Callable[[Culprit], bool]:
    return lambda culprit: isinstance(culprit.node, Call) and culprit.node.name in names


def _ends_with_an_exception(culprit: Culprit) -> bool:
    return culprit.theirs == {"error": "evaluation"} and culprit.ours == {"value": None}


def _sorts_by_what_is_no_boolean(culprit: Culprit) -> bool:
    return _calls("sort")(culprit) and culprit.theirs == {"value": None}


def _divides_a_duration(culprit: Culprit) -> bool:
    match culprit.node:
        case Arithmetic("/", left, _, _):
            return isinstance(culprit.value(left), DaysDuration)
        case _:
            return False


def _is_if_an_operand(culprit: Culprit) -> bool:
    return culprit.theirs == {"error": "parse"} and bool(_IF.search(culprit.text))


_IF = re.compile(r"[-+*/] if\b")


def _is_out_of_bounds(culprit: Culprit) -> bool:
    match culprit.node:
        case Arithmetic("*", left, right, _):
            durations = DaysDuration | MonthsDuration
            has_duration = isinstance(culprit.value(left), durations) or isinstance(
                culprit.value(right), durations
            )
            return has_duration and culprit.ours == {"value": None}
        case _:
            return False


DIFFERENCES: Sequence[Difference] = (
    Difference(
        "range as a value",
        "A range is a value in the arguments of some functions and in tests only; elsewhere it is null or no text.",
        "{a: [1..3]}.a",
        _has_a_range_as_a_value,
    ),
    Difference(
        "negative duration",
        "A duration with a minus before it is null.",
        '-@"PT1H"',
        _negates_a_duration,
    ),
    Difference(
        "exception",
        "An exception of Java ends the evaluation; ours is null with a failure.",
        "modulo(3, 0)",
        _ends_with_an_exception,
    ),
    Difference(
        "sort by no boolean",
        "A list is null that is sorted by a function with another result than a boolean; ours leaves their order.",
        "sort([1, null], function(x, y) x < y)",
        _sorts_by_what_is_no_boolean,
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
        "get entries({a: 1, b: 2, c: 3, d: 4, e: 5, f: 6})",
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
        "A condition without parentheses is no operand of arithmetic.",
        "1 + if true then 1 else 2",
        _is_if_an_operand,
    ),
    Difference(
        "duration out of bounds",
        "A factor is cut to 64 bits, and what a duration grows to is cut likewise; ours is null.",
        '@"P1Y" * 12345678901234567890',
        _is_out_of_bounds,
    ),
    Difference(
        "offset of a part of a second",
        "An offset of a time is cut to whole seconds, and ignored if it is longer than 18 hours; ours refuses both.",
        'time(1, 1, 2, @"PT0.5S")',
        _calls("time"),
    ),
)
