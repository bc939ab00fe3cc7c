import pytest

from server.feel import FeelSyntaxError, Value, compile_expression, compile_unary_tests

NAMES = frozenset(
    {
        "first name",
        "first name of all",
        "a-b",
        "it's 100%",
        "not ready",
        "Über größe",
        "last name",
        "is factor",
    }
)
SCOPE: dict[str, Value] = {
    "first name": "Ada",
    "first name of all": "Eve",
    "a-b": 7,
    "a": 5,
    "b": 1,
    "it's 100%": 100,
    "not ready": True,
    "Über größe": 3,
    "person": {"last name": "Lovelace", "a-b": 8},
    "people": [{"last name": "Lovelace"}, {"last name": "Hopper"}],
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("first name", "Ada", id="space"),
        pytest.param("first   name", "Ada", id="any blanks"),
        pytest.param("first name of all", "Eve", id="the longest"),
        pytest.param("a-b + 1", 8, id="minus"),
        pytest.param("a - b", 7, id="minus with blanks"),
        pytest.param("a*b", 5, id="no name"),
        pytest.param("it's 100% * 2", 200, id="symbols"),
        pytest.param("if not ready then 1 else 2", 1, id="keyword inside"),
        pytest.param("Über größe", 3, id="letters"),
        pytest.param("person.last name", "Lovelace", id="path"),
        pytest.param("person.a-b", 8, id="path with minus"),
        pytest.param('people[last name = "Hopper"]', [{"last name": "Hopper"}], id="filter"),
        pytest.param("people.last name", ["Lovelace", "Hopper"], id="path of a list"),
        pytest.param('"first name"', "first name", id="string"),
        pytest.param("{first name: 1, x: first name}.x", 1, id="entry"),
        pytest.param("{is factor: function(x) x + 1, y: is factor(1)}.y", 2, id="function"),
        pytest.param("string length(first name)", 3, id="builtin"),
        pytest.param('@"10:00:00+01:00".time offset = @"PT1H"', True, id="property"),
    ],
)
def test_declared_names_are_read_as_one(text: str, expected: Value) -> None:
    for dialect in ("camunda", "standard"):
        assert expected == compile_expression(text, names=NAMES, dialect=dialect).evaluate(SCOPE).value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("{first name: 1, second: first name + 1}.second", 2, id="entry"),
        pytest.param('{"x+y": 1, z: x+y}.z', 1, id="quoted entry"),
        pytest.param("{first name: 1}.first name", 1, id="path to an entry"),
        pytest.param("for each one in [1, 2] return each one + 1", [2, 3], id="loop variable"),
        pytest.param("some each one in [1, 2] satisfies each one > 1", True, id="quantified variable"),
        pytest.param("(function(left side, right side) left side - right side)(3, 1)", 2, id="parameters"),
        pytest.param("(function(a+b, c/d: number) a+b * c/d)(3, 2)", 6, id="parameters with symbols"),
        pytest.param(
            "{f: function(x-y 1) x-y 1 + 1, r: f(x - y 1: 2)}.r", 3, id="parameter with symbols, by name"
        ),
        pytest.param(
            "{a-b: 1, f: function(a-b-c) a-b-c, r: f(5)}.r", 5, id="parameter that begins as another name"
        ),
        pytest.param("for x-y in [1, 2] return x-y * 2", [2, 4], id="iterator with symbols"),
        pytest.param("some x.y in [1, 2] satisfies x.y = 2", True, id="quantified name with symbols"),
        pytest.param(
            "{f: function(left side: number) left side, x: f(left side: 3)}.x", 3, id="named argument"
        ),
    ],
)
def test_the_standard_reads_names_that_the_text_itself_binds(text: str, expected: Value) -> None:
    assert expected == compile_expression(text, dialect="standard").evaluate({}).value


def test_unary_tests_know_the_names_too() -> None:
    tests = compile_unary_tests("< a-b, first name", names=NAMES)

    assert [tests.evaluate(value, {"a-b": 3, "first name": 9}).value for value in (2, 9, 5)] == [
        True,
        True,
        False,
    ]


def test_a_text_is_compiled_for_its_names() -> None:
    plain, named = compile_expression("a-b"), compile_expression("a-b", names=NAMES)

    assert (plain.evaluate(SCOPE).value, named.evaluate(SCOPE).value) == (4, 7)
    assert named.variables == {"a-b"}
    assert named is compile_expression("a-b", names=frozenset(NAMES))


def test_names_that_nobody_declared_are_refused() -> None:
    with pytest.raises(FeelSyntaxError):
        compile_expression("first name")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("🐎 + 1", 8, id="beyond the basic plane"),
        pytest.param("🐎🐎.x1🐴", 2, id="path"),
        pytest.param("a‿b", 3, id="tie"),
        pytest.param("l·l", 4, id="middle dot"),
        pytest.param("女1 - 女1", 0, id="ideographs"),
        pytest.param("[1, 2][item = 2 and 🐎 > 1]", [2], id="in a filter"),
        pytest.param("for 🐴 in [1] return 🐴 + 🐎", [8], id="loop variable"),
    ],
)
def test_a_word_has_all_characters_that_the_standard_counts_in(text: str, expected: Value) -> None:
    scope: dict[str, Value] = {"🐎": 7, "🐎🐎": {"x1🐴": 2}, "a‿b": 3, "l·l": 4, "女1": 5}

    assert expected == compile_expression(text).evaluate(scope).value


@pytest.mark.parametrize("text", ["☀ + 1", "a\u1680b", "a\ufeffb", "·a", "×"])
def test_other_characters_are_in_no_word(text: str) -> None:
    with pytest.raises(FeelSyntaxError):
        compile_expression(text)
