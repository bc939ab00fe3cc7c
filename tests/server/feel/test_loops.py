from decimal import Decimal

import pytest

from server.feel import Value, compile_expression


def value_of(text: str, **variables: Value) -> Value:
    return compile_expression(text).evaluate(variables).value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("for x in [1, 2] return x * 2", [2, 4], id="list"),
        pytest.param("for x in 1..3 return x", [1, 2, 3], id="range"),
        pytest.param("for x in 3..1 return x", [3, 2, 1], id="downwards"),
        pytest.param("for x in 0.5..2 return x", [Decimal("0.5"), Decimal("1.5")], id="fractions"),
        pytest.param("for x in [1, 2], y in [x, 10] return x * y", [1, 10, 4, 20], id="later sees earlier"),
        pytest.param("for x in [] return x", [], id="nothing"),
        pytest.param("for x in 1..4 return count(partial)", [0, 1, 2, 3], id="partial result"),
        pytest.param("for x in 1..2 return partial", [[], [[]]], id="partial result does not grow later"),
        pytest.param("for x in 1 return x", None, id="no list"),
        pytest.param('for x in 1.."a" return x', None, id="no range"),
        pytest.param("for x in [1, 2], y in x return y", None, id="inner source is no list"),
        pytest.param("for `a b` in [1] return `a b`", [1], id="quoted name"),
        pytest.param("for x in [1, 2] return for y in [x] return x + y", [[2], [4]], id="inside each other"),
    ],
)
def test_for_collects_results(text: str, expected: Value) -> None:
    assert repr(expected) == repr(value_of(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("some x in [1, 2] satisfies x > 1", True, id="some"),
        pytest.param("some x in [1, 2] satisfies x > 2", False, id="none"),
        pytest.param("some x in [] satisfies true", False, id="some of nothing"),
        pytest.param("every x in [] satisfies false", True, id="all of nothing"),
        pytest.param("every x in [1, 2] satisfies x > 0", True, id="every"),
        pytest.param("every x in [1, 2] satisfies x > 1", False, id="not every"),
        pytest.param("some x in [1, null] satisfies x > 1", None, id="unknown"),
        pytest.param("every x in [null, 1] satisfies x > 1", False, id="one decides"),
        pytest.param("some x in [1, 2], y in [2, 3] satisfies x = y", True, id="several iterators"),
        pytest.param("every x in 5 satisfies x > 1", None, id="no list"),
    ],
)
def test_quantifiers_have_three_values(text: str, expected: Value) -> None:
    assert repr(expected) == repr(value_of(text))
