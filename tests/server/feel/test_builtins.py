"""Every builtin: it is in a table, and its parameters have the names that the standard, or Camunda, gives them."""

from pathlib import Path

import pytest

from server.feel import compile_expression
from server.feel.builtins import CAMUNDA_PARAMETERS, SIGNATURES

TABLES = "".join(
    path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("test_builtins_*.py")
)
POINTS_AND_RANGES: set[tuple[str, ...]] = {
    ("point1", "point2"),
    ("point", "range"),
    ("range", "point"),
    ("range1", "range2"),
}

# DMN 1.5 §10.3.4, tables 72 to 80; a further argument of any number has the name of its parameter.
STANDARD_PARAMETERS: dict[str, set[tuple[str, ...]]] = {
    "number": {("from", "grouping separator", "decimal separator")},
    "string": {("from",)},
    "date": {("from",), ("year", "month", "day")},
    "time": {("from",), ("hour", "minute", "second", "offset")},
    "date and time": {("from",), ("date", "time")},
    "duration": {("from",)},
    "years and months duration": {("from", "to")},
    "range": {("from",)},
    "not": {("negand",)},
    "substring": {("string", "start position"), ("string", "start position", "length")},
    "string length": {("string",)},
    "upper case": {("string",)},
    "lower case": {("string",)},
    "contains": {("string", "match")},
    "starts with": {("string", "match")},
    "ends with": {("string", "match")},
    "substring before": {("string", "match")},
    "substring after": {("string", "match")},
    "replace": {("input", "pattern", "replacement", "flags")},
    "matches": {("input", "pattern", "flags")},
    "split": {("string", "delimiter")},
    "string join": {("list", "delimiter")},
    "list contains": {("list", "element")},
    "list replace": {("list", "position", "newItem"), ("list", "match", "newItem")},
    "count": {("list",)},
    "min": {("list",)},
    "max": {("list",)},
    "sum": {("list",)},
    "product": {("list",)},
    "mean": {("list",)},
    "median": {("list",)},
    "stddev": {("list",)},
    "mode": {("list",)},
    "all": {("list",)},
    "any": {("list",)},
    "sublist": {("list", "start position"), ("list", "start position", "length")},
    "append": {("list", "item")},
    "concatenate": {("list",)},
    "insert before": {("list", "position", "newItem")},
    "remove": {("list", "position")},
    "reverse": {("list",)},
    "index of": {("list", "match")},
    "union": {("list",)},
    "distinct values": {("list",)},
    "flatten": {("list",)},
    "sort": {("list", "precedes")},
    "decimal": {("n", "scale")},
    "floor": {("n", "scale")},
    "ceiling": {("n", "scale")},
    "round up": {("n", "scale")},
    "round down": {("n", "scale")},
    "round half up": {("n", "scale")},
    "round half down": {("n", "scale")},
    "abs": {("n",)},
    "modulo": {("dividend", "divisor")},
    "sqrt": {("number",)},
    "log": {("number",)},
    "exp": {("number",)},
    "odd": {("number",)},
    "even": {("number",)},
    "is": {("value1", "value2")},
    "before": POINTS_AND_RANGES,
    "after": POINTS_AND_RANGES,
    "meets": {("range1", "range2")},
    "met by": {("range1", "range2")},
    "overlaps": {("range1", "range2")},
    "overlaps before": {("range1", "range2")},
    "overlaps after": {("range1", "range2")},
    "finishes": {("point", "range"), ("range1", "range2")},
    "finished by": {("range", "point"), ("range1", "range2")},
    "includes": {("range", "point"), ("range1", "range2")},
    "during": {("point", "range"), ("range1", "range2")},
    "starts": {("point", "range"), ("range1", "range2")},
    "started by": {("range", "point"), ("range1", "range2")},
    "coincides": {("point1", "point2"), ("range1", "range2")},
    "now": {()},
    "today": {()},
    "day of week": {("date",)},
    "day of year": {("date",)},
    "week of year": {("date",)},
    "month of year": {("date",)},
    "get value": {("m", "key")},
    "get entries": {("m",)},
    "context": {("entries",)},
    "context put": {("context", "key", "value"), ("context", "keys", "value")},
    "context merge": {("contexts",)},
}


def parameters_of(name: str) -> set[tuple[str, ...]]:
    return {tuple(parameter.name for parameter in each.parameters) for each in SIGNATURES[name]}


def test_every_builtin_is_in_a_table() -> None:
    assert not [name for name in SIGNATURES if f"{name}(" not in TABLES]


@pytest.mark.parametrize("name", STANDARD_PARAMETERS)
def test_parameters_have_the_names_of_the_standard(name: str) -> None:
    assert STANDARD_PARAMETERS[name] <= parameters_of(name)


def test_every_further_name_stands_for_a_parameter() -> None:
    for name, further in CAMUNDA_PARAMETERS.items():
        parameters = {parameter for each in parameters_of(name) for parameter in each}

        assert {*further.values()} <= parameters
        assert parameters.isdisjoint(further)


@pytest.mark.parametrize(
    "text",
    [
        "abs(n: -1) = 1",
        "append(list: [1], item: 2) = [1, 2]",
        'get value(m: {a: 1}, key: "a") = 1',
        "get entries(m: {a: 1})[1].value = 1",
        "union(list: [[1], [1, 2]]) = [1, 2]",
        "concatenate(list: [[1], [2]]) = [1, 2]",
        "sublist(list: [1, 2], start position: 2) = [2]",
    ],
)
def test_both_dialects_know_the_parameters_of_the_standard(text: str) -> None:
    for dialect in ("camunda", "standard"):
        assert compile_expression(text, dialect=dialect).evaluate({}).value is True


@pytest.mark.parametrize(
    "text",
    [
        "abs(number: -1) = 1",
        "append(list: [1], items: 2) = [1, 2]",
        'get value(context: {a: 1}, key: "a") = 1',
        "get entries(context: {a: 1})[1].value = 1",
        "union(lists: [[1], [1, 2]]) = [1, 2]",
        "sublist(list: [1, 2], start: 2) = [2]",
        'from json(json: "1") = 1',
        'extract(string: "ab", pattern: "a") = ["a"]',
    ],
)
def test_camundas_dialect_knows_its_own_parameters_too(text: str) -> None:
    assert compile_expression(text).evaluate({}).value is True
    assert compile_expression(text, dialect="standard").evaluate({}).value is not True


@pytest.mark.parametrize(
    "text", ["abs(x: -1)", "floor(number: 1.5)", 'upper case(text: "a")', "count(lists: [1])"]
)
def test_a_parameter_of_another_name_is_not_found(text: str) -> None:
    for dialect in ("camunda", "standard"):
        evaluation = compile_expression(text, dialect=dialect).evaluate({})

        assert evaluation.value is None
        assert evaluation.failures[0].type == "NO_FUNCTION_FOUND"
