"""Compare both engines on random questions, and sort what differs by the rows of `differences`."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain, islice

from rich.table import Table

from tests.campaigns.dice import Dice
from tests.feel_scala.answers import is_same, our_answer, our_value
from tests.feel_scala.collected import questions as collected_questions
from tests.feel_scala.culprits import culprits
from tests.feel_scala.differences import DIFFERENCES, explanation
from tests.feel_scala.engine import Answer, FeelScala, Question
from tests.feel_scala.expressions import random_question

_AT_ONCE = 200
_MAX_SHOWN = 20


@dataclass(slots=True)
class Comparison:
    """`explained` and `unexplained` count differing parts, `shown` are some texts of those without a row."""

    seed: str
    expressions: int = 0
    collected: int = 0
    differing: int = 0
    explained: Counter[str] = field(default_factory=Counter)
    unexplained: int = 0
    shown: list[str] = field(default_factory=list)

    def table(self) -> Table:
        same = self.expressions - self.differing
        table = Table(
            title=f"{self.expressions:,} expressions beside feel-scala, {self.collected:,} of them collected",
            caption=f"{same:,} with the same value, {self.unexplained:,} differences unexplained; seed {self.seed}",
            caption_justify="left",
        )
        table.add_column("difference")
        table.add_column("parts", justify="right")
        table.add_column("explanation", overflow="fold")
        for row in DIFFERENCES:
            table.add_row(row.name, f"{self.explained[row.name]:,}", row.explanation)
        return table


def compared(count: int, seed: str, engine: FeelScala) -> Comparison:
    """Compare that many random expressions, and those that are collected."""
    result = Comparison(seed)
    collected = [*collected_questions(seed)]
    result.collected = len(collected)
    questions = chain(collected, _random_questions(count, seed))
    while batch := [*islice(questions, _AT_ONCE)]:
        for question, theirs in zip(batch, engine.answers(batch), strict=True):
            result.expressions += 1
            if not is_same(_ours(question), theirs):
                _explain(question, theirs, engine, result)
    return result


def _random_questions(count: int, seed: str) -> Iterator[Question]:
    dice = Dice(seed)
    return (random_question(dice) for _ in range(count))


def _ours(question: Question) -> Answer:
    variables = our_value(question.variables, {})
    assert isinstance(variables, dict)
    if question.input_value is None:
        return our_answer(question.text, variables)
    return our_answer(question.text, variables, our_value(question.input_value, {}), is_test=True)


def _explain(question: Question, theirs: Answer, engine: FeelScala, result: Comparison) -> None:
    result.differing += 1
    for culprit in culprits(question, theirs, engine):
        row = explanation(culprit)
        if row is not None:
            result.explained[row.name] += 1
            continue
        result.unexplained += 1
        if len(result.shown) < _MAX_SHOWN:
            tested = "" if culprit.input_value is None else f"  of {culprit.input_value}"
            result.shown.append(
                f"{culprit.text}{tested}\n  ours {culprit.ours}, theirs {culprit.theirs}\n  in {question.text}"
            )
