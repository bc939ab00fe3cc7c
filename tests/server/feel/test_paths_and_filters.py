import pytest

from server.feel import Value, compile_expression


def value_of(text: str, **variables: Value) -> Value:
    return compile_expression(text).evaluate(variables).value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("{a: {b: 1}}.a.b", 1, id="nested"),
        pytest.param("{}.a", None, id="missing entry"),
        pytest.param("null.a", None, id="null"),
        pytest.param("{}.a.b.c", None, id="missing on the way"),
        pytest.param("[{a: 1}, {a: 2}].a", [1, 2], id="list"),
        pytest.param("[{a: 1}, {}].a", [1, None], id="list with a gap"),
        pytest.param("[[{a: 1}], [{a: 2}]].a", [[1], [2]], id="list of lists"),
        pytest.param("{`a b`: 1}.`a b`", 1, id="quoted"),
        pytest.param("{for: 1}.for + {if: {in: 2}}.if.in", 3, id="keywords"),
        pytest.param("(1).a", None, id="number"),
        pytest.param("[1..3].end", 3, id="property of a range"),
    ],
)
def test_a_path_looks_into_contexts(text: str, expected: Value) -> None:
    assert repr(expected) == repr(value_of(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("[1, 2, 3][1]", 1, id="first"),
        pytest.param("[1, 2, 3][-1]", 3, id="last"),
        pytest.param("[1, 2, 3][4]", None, id="after the end"),
        pytest.param("[1, 2, 3][0]", None, id="zero"),
        pytest.param("[1, 2, 3][-4]", None, id="before the start"),
        pytest.param("{i: 2, x: [4, 5][i]}.x", 5, id="variable"),
        pytest.param("[4, 5][1 + 1]", 5, id="arithmetic"),
        pytest.param("[4, 5][count([1, 2])]", 5, id="call"),
        pytest.param("1[1]", None, id="no list"),
        pytest.param("[[1, 2], [3]][1][2]", 2, id="twice"),
    ],
)
def test_an_index_counts_from_one_or_backwards(text: str, expected: Value) -> None:
    assert repr(expected) == repr(value_of(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("[1, 2, 3][item > 1]", [2, 3], id="item"),
        pytest.param("[{a: 1}, {a: 2}][a > 1]", [{"a": 2}], id="entry"),
        pytest.param("[{a: 1}, {a: 2}][item.a > 1]", [{"a": 2}], id="entry of item"),
        pytest.param(
            "{a: 5, x: [{a: 1}, {b: 1}][a = 5]}.x", [{"b": 1}], id="outer name where the item has none"
        ),
        pytest.param("[{item: 7}][item = 7]", [{"item": 7}], id="entry called item"),
        pytest.param("[1, 2][null]", [], id="null"),
        pytest.param('[1, 2]["a"]', [], id="string"),
        pytest.param("[true, false][item]", [True], id="item as condition"),
        pytest.param("[{a: true}, {a: false}][a]", [{"a": True}], id="boolean entry"),
        pytest.param("[[1, 2], [3]][item[1] > 1]", [[3]], id="filter inside a filter"),
        pytest.param("[1, 2, 3][odd(item)]", [1, 3], id="call"),
        pytest.param(
            "[{a: [1, 5]}, {a: [2]}][count(a[item > 1]) = 1].a", [[1, 5], [2]], id="filter on an entry"
        ),
    ],
)
def test_a_filter_keeps_the_items_that_fulfil_it(text: str, expected: Value) -> None:
    assert repr(expected) == repr(value_of(text))
