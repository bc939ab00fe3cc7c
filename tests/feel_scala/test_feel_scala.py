"""The explanations of the comparison; `make feel-reference` makes a long run."""

from collections.abc import Iterator

import pytest

from tests.feel_scala.answers import is_same, our_answer
from tests.feel_scala.culprits import culprits
from tests.feel_scala.differences import DIFFERENCES, Difference, explanation
from tests.feel_scala.engine import ABSENT, FeelScala, Question, feel_scala, is_here

pytestmark = pytest.mark.skipif(not is_here(), reason=ABSENT)


@pytest.fixture(scope="module")
def engine() -> Iterator[FeelScala]:
    with feel_scala() as process:
        yield process


@pytest.mark.parametrize("row", [pytest.param(row, id=row.name) for row in DIFFERENCES])
def test_every_explanation_has_an_example_that_differs(row: Difference, engine: FeelScala) -> None:
    question = Question(row.example)
    (theirs,) = engine.answers([question])

    found = culprits(question, theirs, engine)

    assert not is_same(our_answer(row.example, {}), theirs)
    assert {each.name for each in map(explanation, found) if each} == {row.name}
