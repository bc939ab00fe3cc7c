import pytest

from server.feel import DialectName, FeelSyntaxError, compile_expression, compile_unary_tests

DIALECTS: tuple[DialectName, ...] = ("camunda", "standard")


@pytest.mark.parametrize(
    ("text", "position"),
    [
        pytest.param("", 0, id="empty"),
        pytest.param("1 +", 3, id="missing operand"),
        pytest.param("(1", 2, id="open parenthesis"),
        pytest.param("1 2", 2, id="two operands"),
        pytest.param("a = b = c", 6, id="chained comparison"),
        pytest.param("a b", 2, id="name with a space"),
        pytest.param('"abc', 0, id="open string"),
        pytest.param("if a then b", 11, id="if without else"),
        pytest.param("for x in xs", 11, id="for without return"),
        pytest.param("{a}", 2, id="entry without a value"),
        pytest.param("{: 1}", 1, id="entry without a key"),
        pytest.param("f(a: 1, 2)", 10, id="named and unnamed arguments"),
        pytest.param("(f)(1)", 3, id="call of an expression"),
        pytest.param("a.1", 1, id="number as a key"),
        pytest.param("a.true", 2, id="literal as a key"),
        pytest.param("then", 0, id="keyword as a name"),
        pytest.param("1e3", 1, id="exponent"),
        pytest.param("a # b", 2, id="unknown symbol"),
        pytest.param("/* open", 0, id="open comment"),
        pytest.param("xs[]", 4, id="empty filter"),
        pytest.param("[1..2", 5, id="open range"),
        pytest.param("function(1) 2", 9, id="parameter that is no name"),
    ],
)
def test_what_is_no_expression_is_refused_where_it_goes_wrong(text: str, position: int) -> None:
    with pytest.raises(FeelSyntaxError) as refused:
        compile_expression(text)

    assert position == refused.value.position


@pytest.mark.parametrize("text", ["<", "1,", "not(1", "[1..", "1 1"])
def test_what_is_no_unary_test_is_refused(text: str) -> None:
    with pytest.raises(FeelSyntaxError):
        compile_unary_tests(text)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("==", "="),
        ("===", "="),
        ("!==", "!="),
        ("=!", "!="),
        ("<>", "!="),
        ("=<", "<="),
        ("=>", ">="),
        ("&&", "and"),
        ("&", "and"),
        ("||", "or"),
        ("|", "or"),
        ("%", "modulo(…)"),
        ("^", "**"),
        (":=", "="),
    ],
)
def test_an_operator_of_another_language_is_refused_with_the_one_that_was_meant(
    written: str, meant: str, dialect: DialectName
) -> None:
    with pytest.raises(FeelSyntaxError) as refused:
        compile_expression(f"a {written} b", dialect=dialect)

    assert refused.value.message == f"expected '{meant}' but found '{written}'"
    assert refused.value.position == 2


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("== 1", "expected '=' but found '=='", id="equality"),
        pytest.param("<> 1", "expected '!=' but found '<>'", id="inequality"),
        pytest.param("=> 1", "expected '>=' but found '=>'", id="at least"),
        pytest.param("=< 1", "expected '<=' but found '=<'", id="at most"),
        pytest.param("1, == 2", "expected '=' but found '=='", id="second test"),
        pytest.param("not(== 1)", "expected '=' but found '=='", id="negated test"),
        pytest.param("!1", "expected 'not(…)' but found '!'", id="negation"),
        pytest.param('"a" || "b"', "expected 'or' but found '||'", id="alternative"),
        pytest.param("'a'", "expected '\"' but found '''", id="single quotes"),
        pytest.param("< < 1", "expected a value but found '<'", id="test of a test"),
    ],
)
def test_a_unary_test_of_another_language_is_refused_with_what_was_meant(
    text: str, message: str, dialect: DialectName
) -> None:
    with pytest.raises(FeelSyntaxError) as refused:
        compile_unary_tests(text, dialect=dialect)

    assert refused.value.message == message


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    ("text", "position"),
    [
        pytest.param("a = < 5", 4, id="comparison"),
        pytest.param("a = = 5", 4, id="comparison with a blank"),
        pytest.param("a += 1", 3, id="sum"),
        pytest.param("- < 5", 2, id="negation"),
        pytest.param("a between > 1 and 2", 10, id="lower end"),
        pytest.param("a between 1 and < 2", 16, id="upper end"),
        pytest.param("some x in > 1 satisfies x", 10, id="source of a loop"),
    ],
)
def test_a_unary_test_is_no_operand(text: str, position: int, dialect: DialectName) -> None:
    with pytest.raises(FeelSyntaxError, match="expected a value") as refused:
        compile_expression(text, dialect=dialect)

    assert refused.value.position == position


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    "text",
    [
        "x in < 5",
        "x in = 1",
        "x in (= 1)",
        "x in (< 5, > 7)",
        "x = (< 5)",
        "xs[> 3]",
        "f(< 5)",
        "[< 5]",
        "if < 5 then 1 else 2",
        "a=-1",
        "a<-1",
        "a >=-1",
        "{a==b: 1}",
    ],
)
def test_comparisons_in_their_places_are_read(text: str, dialect: DialectName) -> None:
    assert compile_expression(text, dialect=dialect).text == text


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    ("text", "message", "position"),
    [
        pytest.param("[1,]", "expected an item but found ']'", 3, id="comma at the end of a list"),
        pytest.param("{a = 1}", "expected ':' but found '='", 3, id="assignment in a context"),
        pytest.param('{"a" = 1}', "expected ':' but found '='", 5, id="assignment to a string"),
        pytest.param("{a: 1,}", "expected a key and ':' but found '}'", 6, id="comma after the entries"),
        pytest.param("return 1", "expected an expression but found 'return'", 0, id="keyword at the start"),
        pytest.param("f(1,)", "expected an expression but found ')'", 4, id="comma after the arguments"),
    ],
)
def test_a_slip_is_refused_where_it_was_made(
    text: str, message: str, position: int, dialect: DialectName
) -> None:
    with pytest.raises(FeelSyntaxError) as refused:
        compile_expression(text, dialect=dialect)

    assert (refused.value.message, refused.value.position) == (message, position)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_reversed_range_may_be_the_last_item(dialect: DialectName) -> None:
    assert compile_expression("count([1, ]2..3]])", dialect=dialect).evaluate({}).value == 2


def test_a_declared_name_may_have_the_operator_of_another_language_in_it() -> None:
    names = frozenset({"a&&b"})

    value = compile_expression("a&&b + 1", names=names, dialect="standard").evaluate({"a&&b": 1}).value

    assert value == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("1 +", "expected an expression but found the end at line 1, column 4", id="operand"),
        pytest.param(
            "a and\n  b && c", "expected 'and' but found '&&' at line 2, column 5", id="second line"
        ),
        pytest.param(
            "a\n\n\n  b", "expected an operator or the end but found 'b' at line 4, column 3", id="name"
        ),
        pytest.param("if a than b", "expected 'then' but found 'than' at line 1, column 6", id="keyword"),
        pytest.param(
            "a AND b",
            "expected an operator or the end but found 'AND'; did you mean 'and'? at line 1, column 3",
            id="capitals",
        ),
        pytest.param(
            "for x in xs retrun x",
            "expected 'return' but found 'retrun' at line 1, column 13",
            id="misspelt keyword",
        ),
        pytest.param(
            "1 < 2 < 3",
            "expected 'and' or 'or' between comparisons but found '<' at line 1, column 7",
            id="chain",
        ),
        pytest.param("a eq b", "expected '=' but found 'eq' at line 1, column 3", id="word"),
        pytest.param("a IS null", "expected '=' but found 'IS' at line 1, column 3", id="word in capitals"),
        pytest.param("a mod b", "expected 'modulo(…)' but found 'mod' at line 1, column 3", id="modulo"),
        pytest.param(
            "a ? b : c", "expected 'if … then … else …' but found '?' at line 1, column 3", id="condition"
        ),
        pytest.param("a ?? b", "expected 'get or else(…)' but found '??' at line 1, column 3", id="default"),
        pytest.param("a?.b", "expected '.' but found '?.' at line 1, column 2", id="optional path"),
        pytest.param("not a", "expected 'not(…)' but found 'not' at line 1, column 1", id="negation"),
        pytest.param("a is not b", "expected '!=' but found 'is not' at line 1, column 3", id="is not"),
        pytest.param(
            "a not in b", "expected 'not(… in …)' but found 'not in' at line 1, column 3", id="not in"
        ),
        pytest.param(
            "if a then b elseif c then d else e",
            "expected 'else if' but found 'elseif' at line 1, column 13",
            id="else if",
        ),
        pytest.param("[1; 2]", "expected ',' but found ';' at line 1, column 3", id="semicolon"),
        pytest.param(
            "f(x -> x)", "expected 'function(…) …' but found '->' at line 1, column 5", id="function"
        ),
        pytest.param(
            'a = "b',
            "expected '\"' at the end of the string that begins here but found the end at line 1, column 5",
            id="open string",
        ),
        pytest.param(
            "a + `b",
            "expected '`' at the end of the name that begins here but found the end at line 1, column 5",
            id="open name",
        ),
    ],
)
def test_an_error_says_where_it_is_what_was_found_and_what_was_meant(text: str, message: str) -> None:
    with pytest.raises(FeelSyntaxError) as refused:
        compile_expression(text)

    assert str(refused.value) == message


@pytest.mark.parametrize("text", ["eq + 1", "{is: 1}.is", "mod(1)", "a = lt", "? = 1", "[?]"])
def test_words_of_other_languages_are_names_where_a_name_may_stand(text: str) -> None:
    assert compile_expression(text).text == text
