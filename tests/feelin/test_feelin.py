"""A short run of the comparison; `make fuzz` makes a long one."""

from collections.abc import Iterator

import pytest

from tests.feelin.comparison import compared
from tests.feelin.culprits import culprits, is_same, our_answer
from tests.feelin.differences import DIFFERENCES, Difference, explanation
from tests.feelin.engine import ABSENT, Feelin, feelin, is_here

pytestmark = pytest.mark.skipif(not is_here(), reason=ABSENT)


@pytest.fixture(scope="module")
def engine() -> Iterator[Feelin]:
    with feelin() as process:
        yield process


def test_every_difference_is_explained(engine: Feelin) -> None:
    comparison = compared(1_000, "short", engine)

    assert comparison.unexplained == []
    assert comparison.expressions == 1_000


@pytest.mark.parametrize("row", [pytest.param(row, id=row.name) for row in DIFFERENCES])
def test_every_explanation_has_an_example_that_differs(row: Difference, engine: Feelin) -> None:
    (theirs,) = engine.evaluate([(row.example, {})])

    found = culprits(row.example, {}, engine)

    assert not is_same(our_answer(row.example, {}), theirs)
    assert {each.name for each in map(explanation, found) if each} == {row.name}
