"""A decision table of many rules, found by index and beside it rule by rule; milliseconds of CPU of one evaluation."""

import time
from collections.abc import Callable, Sequence
from functools import partial
from xml.sax.saxutils import escape

from rich.table import Table

from server.dmn import compile_definitions
from server.feel import UnaryTests, Value, compile_unary_tests
from tests.campaigns.dice import Dice

RULES = 1_000
INPUTS = ("country", "product", "age", "amount", "score", "segment")
GOAL_MILLISECONDS = 1.0
SECONDS = 1.0
ROUNDS = 3
ASKED = 50
"""Inputs that are evaluated in turn."""

_NAMESPACE = "https://www.omg.org/spec/DMN/20230324/MODEL/"


def table() -> Table:
    table = Table(
        title=f"A decision table of {RULES:,} rules × {len(INPUTS)} inputs, ms of CPU an evaluation"
    )
    for column in ("hit policy", "indexed", "rule by rule", "ratio", f"goal < {GOAL_MILLISECONDS:g} ms"):
        table.add_column(column, justify="left" if column == "hit policy" else "right")
    dice = Dice("decisions")
    cells = [[_cell(dice, name) for name in INPUTS] for _ in range(RULES)]
    asked = [{name: _value(dice, name) for name in INPUTS} for _ in range(ASKED)]
    naive = _Naive(cells)
    for policy in ("FIRST", "COLLECT"):
        decisions = compile_definitions(_model(cells, policy))
        most = 1 if policy == "FIRST" else RULES
        for variables in asked:
            found = decisions.evaluate("d", variables).evaluated[0].matched_rules
            assert [rule.index for rule in found] == naive.matching(variables, most)
        indexed = _milliseconds([partial(decisions.evaluate, "d", each) for each in asked])
        looped = _milliseconds([partial(naive.matching, each, most) for each in asked])
        met = "reached" if indexed < GOAL_MILLISECONDS else "missed"
        table.add_row(policy, f"{indexed:.3f}", f"{looped:.3f}", f"{looped / indexed:.0f}×", met)
    return table


class _Naive:
    """An engine that evaluates each cell of each rule until one does not hold."""

    def __init__(self, cells: Sequence[Sequence[str]]) -> None:
        self._rules: list[list[UnaryTests]] = [[*map(compile_unary_tests, rule)] for rule in cells]

    def matching(self, variables: dict[str, Value], most: int) -> list[int]:
        found: list[int] = []
        for number, rule in enumerate(self._rules, 1):
            tests = zip(INPUTS, rule, strict=True)
            if all(test.evaluate(variables[name], variables).value is True for name, test in tests):
                found.append(number)
                if len(found) == most:
                    break
        return found


def _cell(dice: Dice, name: str) -> str:
    """Equality for names, an interval or a bound for numbers; one in six accepts everything."""
    if dice.between(1, 6) == 1:
        return "-"
    if name in _WORDS:
        return f'"{dice.choice(_WORDS[name])}"'
    low = dice.between(0, 80)
    return dice.choice([f"[{low}..{low + 20})", f">= {low}", f"< {low + 20}", f"[{low}..{low + 10}]"])


_WORDS = {
    "country": ["DE", "AT", "CH", "FR", "IT"],
    "product": ["loan", "card", "account"],
    "segment": ["private", "business", "public"],
}


def _value(dice: Dice, name: str) -> Value:
    return dice.choice(_WORDS[name]) if name in _WORDS else dice.between(0, 100)


def _model(cells: Sequence[Sequence[str]], policy: str) -> bytes:
    inputs = "".join(
        f'<input id="i{n}"><inputExpression id="e{n}"><text>{name}</text></inputExpression></input>'
        for n, name in enumerate(INPUTS)
    )
    rules = "".join(
        f'<rule id="r{number}">'
        + "".join(
            f'<inputEntry id="r{number}i{n}"><text>{escape(cell)}</text></inputEntry>'
            for n, cell in enumerate(rule)
        )
        + f'<outputEntry id="r{number}o"><text>{number}</text></outputEntry></rule>'
        for number, rule in enumerate(cells)
    )
    return (
        f'<definitions xmlns="{_NAMESPACE}" id="m" name="m" namespace="urn:bench"><decision id="d" name="d">'
        f'<decisionTable id="t" hitPolicy="{policy}">{inputs}<output id="o"/>{rules}</decisionTable></decision></definitions>'
    ).encode()


def _milliseconds(runs: Sequence[Callable[[], object]]) -> float:
    """The best mean of some rounds."""
    return min(_round(runs) for _ in range(ROUNDS))


def _round(runs: Sequence[Callable[[], object]]) -> float:
    count, begun = 0, time.process_time()
    while (elapsed := time.process_time() - begun) < SECONDS / ROUNDS:
        for run in runs:
            run()
        count += len(runs)
    return elapsed / count * 1e3
