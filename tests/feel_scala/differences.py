"""Known differences between feel-scala and our Camunda dialect on the same part: one row for each.

A row has an example and says which culprits are its own. A difference without a row is unexplained, and the run fails.
docs/feel.md has the same examples, with both values.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tests.feel_scala.culprits import Culprit
from tests.feel_scala.predicates import (
    calls,
    compares_a_moment_in_two_zones,
    depends_on_an_iterator,
    divides_a_duration,
    ends_with_an_exception,
    has,
    has_a_long_quotient,
    has_a_range_as_a_value,
    has_more,
    is_between_a_call,
    is_if_an_operand,
    is_keyword,
    is_of_the_standard,
    is_out_of_bounds,
    is_out_of_scale,
    is_part_of_a_negative_duration,
    is_the_least_list,
    looks_for_a_context,
    names_a_parameter,
    negates_a_duration,
    takes_its_own_type,
)


@dataclass(frozen=True, slots=True)
class Difference:
    name: str
    explanation: str
    example: str
    takes: Callable[[Culprit], bool]
    input_value: str | None = None


def explanation(culprit: Culprit) -> Difference | None:
    return next((row for row in DIFFERENCES if row.takes(culprit)), None)


DIFFERENCES: Sequence[Difference] = (
    Difference(
        "range as a value",
        "A range is a value in the arguments of some functions and in tests only; elsewhere it is null or no text.",
        "{a: [1..3]}.a",
        has_a_range_as_a_value,
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
        negates_a_duration,
    ),
    Difference(
        "duration out of bounds",
        "A factor or a part of a date is cut to 32 bits; ours is exact, or null.",
        '@"P1M" * 4294967297',
        is_out_of_bounds,
    ),
    Difference(
        "exception",
        "An exception of Java ends the evaluation; ours is null with a failure.",
        "modulo(3, 0)",
        ends_with_an_exception,
    ),
    Difference(
        "moment in two zones",
        "The same moment in two zones is before itself, by its local time or the name of its zone.",
        '@"2024-06-15T10:00:00+02:00" <= @"2024-06-15T08:00:00Z"',
        compares_a_moment_in_two_zones,
    ),
    Difference(
        "context in a list",
        "A context is not found in a list, since its identity is compared.",
        "{a: 1} in [{a: 1}]",
        looks_for_a_context,
    ),
    Difference(
        "list of one list",
        "A list that is the only item is the least and the greatest; two of them end the evaluation.",
        "min([[1]])",
        is_the_least_list,
    ),
    Difference(
        "dependent iterator",
        "An iterator does not see those before it.",
        "for x in [[1]], y in x return y",
        depends_on_an_iterator,
    ),
    Difference(
        "value of its own type",
        "A conversion refuses a value that needs none, and a date where it makes a date and time.",
        'date and time(@"2024-02-29")',
        takes_its_own_type,
    ),
    Difference(
        "call after between",
        "A name, `between` and the name of a function are read as the name of one function.",
        "[1, 2, 3][item between abs(1) and 2]",
        is_between_a_call,
    ),
    Difference(
        "syntax of the standard",
        "Types with parameters, types of parameters, and tests that begin with `=` or `!=` are no text.",
        "[1] instance of list<number>",
        is_of_the_standard,
    ),
    Difference(
        "builtin of the standard",
        "There is no `is`, `list replace` or `range`.",
        "is(1, 1)",
        has_more,
    ),
    Difference(
        "midnight at the end",
        "The hour 24 is null in a date and time.",
        '@"2021-01-01T24:00:00"',
        has("T24:00:00"),
    ),
    Difference(
        "year with a zero",
        "A year of more than four digits may begin with a zero.",
        'date and time("01211-12-31T11:22:33")',
        has(r"\b0\d{4,}-"),
    ),
    Difference(
        "remainder of a long quotient",
        "The remainder of a quotient with more than 34 digits is an exception of Java, or rounded.",
        "modulo(10 ** 40, 7)",
        has_a_long_quotient,
    ),
    Difference(
        "scale out of bounds",
        "A scale of any length is taken.",
        "round up(5.5, 6177)",
        is_out_of_scale,
    ),
    Difference(
        "name of a parameter",
        "A parameter of `floor` and one of `round half down` have other names than the documentation says.",
        "floor(n: 5.5, scale: 0)",
        names_a_parameter,
    ),
    Difference(
        "escape in a key",
        "An escape in the key of a context entry stands for itself.",
        'get entries({"\\n": 1}).key',
        has(r'"[^"]*\\[^"]*":'),
    ),
    Difference(
        "code of a character",
        "`\\u00e9` in a string is no character.",
        '"\\u00e9"',
        has(r"\\u[0-9a-fA-F]{4}"),
    ),
    Difference(
        "keyword as a name",
        "Some keywords alone are the names of variables.",
        "every",
        is_keyword,
    ),
    Difference(
        "white space in a name",
        "The words of a name are apart by a single blank.",
        'upper  case("a")',
        has(r"\w(?:\s{2,}|\n)\w[\w ]*\("),
    ),
    Difference(
        "from base64",
        "The function is of a later release than 1.21.",
        'from base64("YQ==")',
        calls("from base64"),
    ),
    Difference(
        "order of entries",
        "Entries of a context of more than four come in the order of a hash table.",
        "get entries({a: 1, b: 2, c: 3, d: 4, e: 5}).key",
        calls("get entries"),
    ),
    Difference(
        "digits as text",
        "Trailing zeros and exponents of a number are written, fractions of the seconds of a duration are not.",
        'string(@"PT0.5S")',
        calls("string", "to json"),
    ),
    Difference(
        "part of a duration",
        "A duration is divided in whole milliseconds.",
        '@"PT1S" / 7',
        divides_a_duration,
    ),
    Difference(
        "part of a negative duration",
        "The fraction of a second of a negative duration is taken from the second before.",
        '(@"PT0.5S" - @"P1D").seconds',
        is_part_of_a_negative_duration,
    ),
    Difference(
        "if as an operand",
        "A condition or a loop without parentheses is no operand.",
        "1 + if true then 1 else 2",
        is_if_an_operand,
    ),
    Difference(
        "offset of a part of a second",
        "An offset of a time is cut to whole seconds, and ignored if it is longer than 18 hours; ours refuses both.",
        'time(1, 1, 2, @"PT0.5S")',
        calls("time"),
    ),
)
