"""Compare two engines on random expressions, and sort what differs by the rows of `differences`."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

from rich.table import Table

from tests.campaigns.dice import Dice
from tests.feelin.culprits import Context, Culprit, culprits, is_same, our_answer
from tests.feelin.differences import DIFFERENCES, explanation
from tests.feelin.engine import Feelin
from tests.feelin.expressions import random_context, random_expression

_AT_ONCE = 200
_MAX_SHOWN = 20


@dataclass(slots=True)
class Comparison:
    """`explained` counts expressions by the difference; one may have several. `unexplained` are texts."""

    seed: str
    expressions: int = 0
    differing: int = 0
    explained: Counter[str] = field(default_factory=Counter)
    unexplained: list[str] = field(default_factory=list)

    def table(self) -> Table:
        same = self.expressions - self.differing
        table = Table(
            title=f"{self.expressions:,} expressions, beside feelin",
            caption=f"{same:,} with the same value, {len(self.unexplained)} unexplained; seed {self.seed}",
            caption_justify="left",
        )
        table.add_column("difference")
        table.add_column("expressions", justify="right")
        table.add_column("explanation", overflow="fold")
        for row in DIFFERENCES:
            table.add_row(row.name, f"{self.explained[row.name]:,}", row.explanation)
        return table


def compared(count: int, seed: str, engine: Feelin) -> Comparison:
    result = Comparison(seed)
    pairs = _random_pairs(count, seed)
    while batch := [*islice(pairs, _AT_ONCE)]:
        for (text, context), theirs in zip(batch, engine.evaluate(batch), strict=True):
            result.expressions += 1
            if not is_same(our_answer(text, context), theirs):
                _explain(text, culprits(text, context, engine), result)
    return result


def _random_pairs(count: int, seed: str) -> Iterator[tuple[str, Context]]:
    dice = Dice(seed)
    return ((random_expression(dice), random_context(dice)) for _ in range(count))


def _explain(text: str, found: list[Culprit], result: Comparison) -> None:
    result.differing += 1
    rows = {culprit.text: explanation(culprit) for culprit in found}
    result.explained.update({row.name for row in rows.values() if row is not None})
    for culprit in found:
        if rows[culprit.text] is None and len(result.unexplained) < _MAX_SHOWN:
            result.unexplained.append(
                f"{culprit.text}\n  ours {culprit.ours}, theirs {culprit.theirs}\n  in {text}\n  with {culprit.context}"
            )
