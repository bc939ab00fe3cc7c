"""The explanations of the comparison; `make feel-reference` makes a long run."""

import re
from collections.abc import Iterator

import pytest

from tests.feel_scala.answers import is_same, our_answer
from tests.feel_scala.culprits import culprits
from tests.feel_scala.differences import DIFFERENCES, Difference, explanation
from tests.feel_scala.engine import ABSENT, FeelScala, Question, feel_scala, is_here
from tests.server.feel.page import rows as page_rows

pytestmark = pytest.mark.skipif(not is_here(), reason=ABSENT)


@pytest.fixture(scope="module")
def engine() -> Iterator[FeelScala]:
    with feel_scala() as process:
        yield process


PAGE = [*page_rows("Beside feel-scala")]


@pytest.mark.parametrize("row", [pytest.param(row, id=row.name) for row in DIFFERENCES])
def test_every_explanation_has_an_example_that_differs(row: Difference, engine: FeelScala) -> None:
    question = Question(row.example, input_value=row.input_value)
    (theirs,) = engine.answers([question])

    found = culprits(question, theirs, engine)

    assert not is_same(our_answer(row.example, {}, is_test=row.input_value is not None), theirs)
    assert {each.name for each in map(explanation, found) if each} == {row.name}


def test_the_page_has_the_example_of_every_explanation() -> None:
    examples = {
        f"`{row.input_value}` and `{row.example}`" if row.input_value else f"`{row.example}`"
        for row in DIFFERENCES
    }

    assert examples == {example for example, *_ in PAGE}


@pytest.mark.parametrize(("example", "_ours", "theirs", "_rule"), PAGE)
def test_feel_scala_answers_as_the_page_says(
    example: str, _ours: str, theirs: str, _rule: str, engine: FeelScala
) -> None:
    *input_value, text = re.findall(r"`([^`]*)`", example)
    (answer,) = engine.answers([Question(text, input_value=input_value[0] if input_value else None)])

    stated = our_answer(theirs.strip("`"), {}) if theirs.startswith("`") else _ERRORS[theirs]

    assert is_same(stated, answer)


_ERRORS = {"no text": {"error": "parse"}, "no result": {"error": "evaluation"}}
