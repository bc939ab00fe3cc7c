import pytest

from server.feel import FeelSyntaxError, Ports, Value, coerced, compile_expression, parse_type
from server.feel.types import ANY, ContextType, FunctionType, ListType, NamedType, RangeType, Type
from server.feel.values import is_number

NUMBER, STRING = NamedType("number"), NamedType("string")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("number", NUMBER),
        ("Any", ANY),
        ("date and time", NamedType("date and time")),
        ("date time", NamedType("date and time")),
        ("day-time-duration", NamedType("days and time duration")),
        ("years and months duration", NamedType("years and months duration")),
        ("list<number>", ListType(NUMBER)),
        ("list<list<date and time>>", ListType(ListType(NamedType("date and time")))),
        ("range<string>", RangeType(STRING)),
        ("context<>", ContextType(())),
        ("context<a: string, b c: list<number>>", ContextType((("a", STRING), ("b c", ListType(NUMBER))))),
        ("function<> -> Any", FunctionType((), ANY)),
        ("function<number, string>->number", FunctionType((NUMBER, STRING), NUMBER)),
        ("tLoan", NamedType("tLoan")),
        ("imported.tLoan", NamedType("imported.tLoan")),
        ("loan type", NamedType("loan type")),
    ],
)
def test_a_type_is_read(text: str, expected: Type) -> None:
    assert expected == parse_type(text)


@pytest.mark.parametrize(
    "text", ["", "list<", "list<number", "context<a>", "function<>", "1", "number string,"]
)
def test_what_is_no_type_is_refused(text: str) -> None:
    with pytest.raises(FeelSyntaxError):
        parse_type(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 instance of number", True),
        ("1.5 instance of Any", True),
        ("null instance of Any", False),
        ("null instance of number", False),
        ("null instance of null", True),
        ('"a" instance of number', False),
        ("true instance of boolean", True),
        ('@"2024-01-01" instance of date', True),
        ('@"2024-01-01" instance of date and time', False),
        ('@"2024-01-01T10:00:00Z" instance of date and time', True),
        ('@"10:00:00" instance of time', True),
        ('@"P1D" instance of days and time duration', True),
        ('@"P1D" instance of day-time-duration', True),
        ('@"P1Y" instance of years and months duration', True),
        ("[1..2] instance of range", True),
        ("[1..2] instance of range<number>", True),
        ("[1..2] instance of range<string>", False),
        ("[1, 2] instance of list", True),
        ("[1, 2] instance of list<number>", True),
        ('[1, "a"] instance of list<number>', False),
        ("[1, null] instance of list<number>", True),
        ("{a: 1} instance of context", True),
        ("{a: 1, b: 2} instance of context<a: number>", True),
        ("{b: 2} instance of context<a: number>", False),
        ("(function(a) a) instance of function", True),
        ("(function(a) a) instance of function<number> -> Any", True),
        ("(function(a) a) instance of function<> -> Any", False),
        ("(function(a: string) a) instance of function<number> -> Any", False),
        ("1 instance of tUnknown", False),
        ("1 instance of number and true", True),
    ],
)
def test_instance_of(text: str, expected: bool) -> None:  # noqa: FBT001 - a row of the table
    assert expected is compile_expression(text).evaluate({}).value


def test_types_of_a_model_are_asked_through_the_port() -> None:
    ports = Ports(types={"tScore": lambda value: is_number(value) and value >= 0})

    evaluation = compile_expression(
        "[1 instance of tScore, -1 instance of tScore, [2] instance of list<tScore>]"
    )

    assert evaluation.evaluate({}, ports).value == [True, False, True]


@pytest.mark.parametrize(
    ("text", "value", "expected"),
    [
        ("number", 1, 1),
        ("number", [1], 1),
        ("number", "a", None),
        ("list<number>", 1, [1]),
        ("list<number>", "a", None),
        ("number", None, None),
        ("Any", [1], [1]),
    ],
)
def test_a_value_is_converted_to_a_type(text: str, value: Value, expected: Value) -> None:
    assert expected == coerced(value, parse_type(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("{f: function(a: number, b) a, x: f(1, true)}.x", 1, id="of the type"),
        pytest.param('{f: function(a: number) a, x: f("a")}.x', None, id="not of the type"),
        pytest.param("{f: function(a: number) a, x: f(null)}.x", None, id="null"),
        pytest.param("{f: function(a: list<number>) a, x: f(1)}.x", [1], id="converted"),
        pytest.param('{f: function(a) external {java: {class: "X"}}, x: f(1)}.x', None, id="external"),
    ],
)
def test_a_typed_function_takes_what_is_of_its_types(text: str, expected: Value) -> None:
    assert repr(expected) == repr(compile_expression(text).evaluate({}).value)


def test_an_external_function_says_that_it_is_not_run() -> None:
    text = '{f: function(a) external {java: {class: "java.lang.Math", method signature: "cos(double)"}}, x: f(1)}.x'

    evaluation = compile_expression(text).evaluate({})

    assert [failure.message for failure in evaluation.failures] == ["External functions are disabled"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("{f: function(a) function(b) a - b, x: f(3)(1)}.x", 2, id="call of a result"),
        pytest.param("[function(a) a + 1][1](1)", 2, id="call of an item"),
        pytest.param("1(2)", None, id="call of a number"),
        pytest.param("(function(a) a)(1, 2)", None, id="too many arguments"),
        pytest.param("{apply: function(f, x) f(x), y: apply(abs, -3)}.y", 3, id="builtin as a value"),
        pytest.param("{abs: 5, x: abs}.x", 5, id="shadowed builtin"),
        pytest.param('sort(["b", "a"], function(x: string, y: string) x < y)', ["a", "b"], id="sort"),
    ],
)
def test_functions_are_values_in_the_standard(text: str, expected: Value) -> None:
    assert repr(expected) == repr(compile_expression(text, dialect="standard").evaluate({}).value)
