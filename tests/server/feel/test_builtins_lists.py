from decimal import Decimal

import pytest

from server.feel import Value, compile_expression


def value_of(text: str, **variables: Value) -> Value:
    return compile_expression(text).evaluate(variables).value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("list contains([1, [true]], [true])", True, id="contains"),
        pytest.param("list contains([1], true)", False, id="one is not true"),
        pytest.param("count([1, 2])", 2, id="count"),
        pytest.param("min(3, 1, 2)", 1, id="minimum of arguments"),
        pytest.param('max(["a", "c", "b"])', "c", id="maximum of strings"),
        pytest.param('min(1, "a")', None, id="incomparable"),
        pytest.param("min([])", None, id="minimum of nothing"),
        pytest.param("sum([1, 2.5])", Decimal("3.5"), id="sum"),
        pytest.param("sum(1, 2)", 3, id="sum of arguments"),
        pytest.param('sum([1, "a"])', None, id="sum of no numbers"),
        pytest.param("sum([])", None, id="sum of nothing"),
        pytest.param("product(2, 3)", 6, id="product"),
        pytest.param("mean(1, 2)", Decimal("1.5"), id="mean"),
        pytest.param("median(1, 4, 2, 3)", Decimal("2.5"), id="median"),
        pytest.param("median([])", None, id="median of nothing"),
        pytest.param("stddev(2, 4, 7, 5)", Decimal("2.0816659994661326"), id="standard deviation"),
        pytest.param("stddev([1])", None, id="standard deviation of one"),
        pytest.param("mode([6, 1, 9, 6, 1])", [1, 6], id="mode"),
        pytest.param("mode([])", [], id="mode of nothing"),
        pytest.param("all([true, null])", None, id="all with an unknown"),
        pytest.param("any(false, true)", True, id="any of arguments"),
        pytest.param("and([])", True, id="and of nothing"),
        pytest.param("or([])", False, id="or of nothing"),
        pytest.param("sublist([1, 2, 3], 2)", [2, 3], id="sublist"),
        pytest.param("sublist([1, 2, 3], -2, 1)", [2], id="sublist from the end"),
        pytest.param("sublist([1], 0)", None, id="sublist from zero"),
        pytest.param("append([1], 2, [3])", [1, 2, [3]], id="append"),
        pytest.param("concatenate([1], [2, 3])", [1, 2, 3], id="concatenate"),
        pytest.param("insert before([1, 3], 2, 2)", [1, 2, 3], id="insert"),
        pytest.param("insert before(list: [3], position: 1, newItem: 2)", [2, 3], id="insert by name"),
        pytest.param("remove([1, 2, 3], -1)", [1, 2], id="remove"),
        pytest.param("list replace([1, 2, 3], 2, 7)", [1, 7, 3], id="replace"),
        pytest.param("list replace([1, 2, 3], -1, 7)", [1, 2, 7], id="replace from the end"),
        pytest.param("list replace([1, 2], 3, 7)", None, id="replace behind the end"),
        pytest.param(
            "list replace([1, 2, 3], function(item, new) item < new, 3)",
            [3, 3, 3],
            id="replace by a function",
        ),
        pytest.param("list replace([1], function(item, new) null, 3)", None, id="replace by no condition"),
        pytest.param("list replace([1], function(item) true, 3)", None, id="replace by a function of one"),
        pytest.param("sublist(list: [1, 2], start: 2)", [2], id="sublist by an older name"),
        pytest.param("all()", None, id="all of no arguments"),
        pytest.param("reverse([1, 2])", [2, 1], id="reverse"),
        pytest.param("index of([1, 2, 1], 1)", [1, 3], id="index of"),
        pytest.param("index of([null], null)", [1], id="index of null"),
        pytest.param("union([1, 2], [2.0, 3])", [1, 2, 3], id="union"),
        pytest.param("distinct values([1, true, 1.0, [1], [1]])", [1, True, [1]], id="distinct values"),
        pytest.param("duplicate values([1, {a: 1}, 1, {a: 1}, 2])", [1, {"a": 1}], id="duplicate values"),
        pytest.param("flatten([1, [2, [3, []]]])", [1, 2, 3], id="flatten"),
        pytest.param("sort([1, 3, 2], function(a, b) a > b)", [3, 2, 1], id="sort"),
        pytest.param("sort([1], function(a) a)", None, id="sort by a function of one"),
        pytest.param("sort([2, null], function(a, b) a < b)", None, id="sort what has no order"),
        pytest.param("sort([1, 2], function(a, b) 1)", None, id="sort by a number"),
        pytest.param("sort([1], function(a, b) null)", [1], id="sort one"),
        pytest.param("partition([1, 2, 3], 2)", [[1, 2], [3]], id="partition"),
        pytest.param("partition([1], 0)", None, id="partition by zero"),
        pytest.param("is empty([])", True, id="empty"),
    ],
)
def test_list_functions(text: str, expected: Value) -> None:
    assert repr(expected) == repr(value_of(text))
