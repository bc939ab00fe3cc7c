import pytest

from server.feel import FeelSyntaxError, compile_expression, compile_unary_tests


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
        pytest.param("a.if", 2, id="keyword as a key"),
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
