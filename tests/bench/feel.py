"""Warm evaluation of FEEL: ours, feelin in node, and what SpiffWorkflow evaluates in place of FEEL.

Microseconds of one evaluation, best of some rounds: CPU time of ours and of SpiffWorkflow in this process, elapsed time
inside of node for feelin. Ours has compiled each text before, and evaluated it until it has code of its own; the others
have no such step and read it each time.
SpiffWorkflow 3 evaluates Python, so it is given Python that means the same, and its data with attributes for free.
"""

import time
from collections.abc import Callable
from math import inf
from statistics import median
from types import SimpleNamespace

from rich.markup import escape
from rich.table import Table
from SpiffWorkflow.bpmn.script_engine import PythonScriptEngine

from server.feel import Value, compile_expression
from server.feel.expressions import QUICK_AFTER
from tests.feelin.engine import ABSENT, feelin, is_here

SECONDS = 0.25
ROUNDS = 5
GOAL = 10.0

CONTEXT: dict[str, Value] = {
    "total": 1250,
    "rate": 19,
    "name": "Ada Lovelace",
    "country": "DE",
    "paid": True,
    "note": None,
    "limits": [100, 500, 1000, 5000],
    "order": {
        "id": "A-17",
        "total": 1250,
        "customer": {"name": "Ada", "age": 36, "tags": ["vip", "new"]},
        "lines": [
            {"sku": f"sku-{number}", "price": 10 * number, "count": number % 4} for number in range(1, 11)
        ],
    },
    "numbers": [*range(1000)],
}

TEXTS: dict[str, str] = {
    "42": "42",
    "total": "total",
    "total > 1000": "total > 1000",
    "total * 2 + rate - 1": "total * 2 + rate - 1",
    "total * rate / 100": "total * rate / 100",
    "-(total - rate) * 3": "-(total - rate) * 3",
    'country = "DE"': "country == 'DE'",
    "note = null": "note is None",
    "order.customer.name": "order.customer.name",
    "order.total > 1000 and order.customer.age >= 18": "order.total > 1000 and order.customer.age >= 18",
    'paid and total > 100 and country = "DE"': "paid and total > 100 and country == 'DE'",
    'total < 100 or country = "FR" or paid': "total < 100 or country == 'FR' or paid",
    'if total > 1000 then "large" else "small"': "'large' if total > 1000 else 'small'",
    'if total > 5000 then "a" else if total > 1000 then "b" else "c"': (
        "'a' if total > 5000 else 'b' if total > 1000 else 'c'"
    ),
    "total between 1000 and 2000": "1000 <= total <= 2000",
    "total in [1000..2000]": "1000 <= total <= 2000",
    'country in ("DE", "AT", "CH")': "country in ('DE', 'AT', 'CH')",
    '"Hello " + name': "'Hello ' + name",
    "{total: total, net: total * 100 / (100 + rate)}": "dict(total=total, net=total * 100 / (100 + rate))",
    "[total, rate, name]": "[total, rate, name]",
    "limits[1]": "limits[0]",
    "limits[-1]": "limits[-1]",
    "limits[item > 400]": "[item for item in limits if item > 400]",
    "order.lines[price > 50]": "[item for item in order.lines if item.price > 50]",
    "order.lines.price": "[item.price for item in order.lines]",
    "sum(order.lines.price)": "sum(item.price for item in order.lines)",
    "for item in order.lines return item.price * item.count": "[item.price * item.count for item in order.lines]",
    "some item in order.lines satisfies item.price > 90": "any(item.price > 90 for item in order.lines)",
    "every item in order.lines satisfies item.count < 4": "all(item.count < 4 for item in order.lines)",
    "count(limits)": "len(limits)",
    'contains(name, "love")': "'love' in name",
    "upper case(name)": "name.upper()",
    "string length(name)": "len(name)",
    "max(limits)": "max(limits)",
    "numbers[item > 500]": "[item for item in numbers if item > 500]",
}
"""FEEL, and the Python that means the same."""


def table() -> Table:
    costs = {text: _in_turn(_ours(text), _spiff(python)) for text, python in TEXTS.items()}
    ours, spiff = ({text: cost[side] for text, cost in costs.items()} for side in (0, 1))
    theirs = _feelin()
    caption = "" if theirs else ABSENT
    table = Table(
        title=f"Warm evaluation, µs, best of {ROUNDS} rounds", caption=caption, caption_justify="left"
    )
    columns = (
        "expression",
        "Gnomon",
        "feelin",
        "ratio",
        "SpiffWorkflow (Python)",
        "ratio",
        f"goal {GOAL:g}×",
    )
    for column in columns:
        table.add_column(column, justify="left" if column == "expression" else "right")
    for text in TEXTS:
        table.add_row(
            escape(text),
            f"{ours[text]:.2f}",
            *_beside(theirs.get(text), ours[text]),
            *_beside(spiff[text], ours[text]),
        )
    medians = [
        median(others[text] / ours[text] for text in TEXTS) if others else 0.0 for others in (theirs, spiff)
    ]
    met = "reached" if min(medians) >= GOAL else "missed"
    table.add_section()
    table.add_row(
        "median", f"{median(ours.values()):.2f}", "", f"{medians[0]:.1f}×", "", f"{medians[1]:.1f}×", met
    )
    return table


def _beside(other: float | None, ours: float) -> tuple[str, str]:
    return ("", "") if other is None else (f"{other:.2f}", f"{other / ours:.1f}×")


def _feelin() -> dict[str, float]:
    if not is_here():
        return {}
    with feelin() as engine:
        nanoseconds = engine.nanoseconds([*TEXTS], CONTEXT, seconds=SECONDS)
    return {text: each / 1000 for text, each in zip(TEXTS, nanoseconds, strict=True)}


def _ours(text: str) -> Callable[[], object]:
    expression = compile_expression(text)
    for _ in range(QUICK_AFTER + 1):
        assert not expression.evaluate(CONTEXT).failures, text
    return lambda: expression.evaluate(CONTEXT)


def _spiff(python: str) -> Callable[[], object]:
    engine = PythonScriptEngine()
    task = SimpleNamespace(data={name: _attributes(value) for name, value in CONTEXT.items()})
    return lambda: engine.evaluate(task, python)


def _attributes(value: Value) -> object:
    """Entries as attributes, as paths of Python need them."""
    if isinstance(value, list):
        return [*map(_attributes, value)]
    if isinstance(value, dict):
        return SimpleNamespace(**{name: _attributes(entry) for name, entry in value.items()})
    return value


def _in_turn(*runs: Callable[[], object]) -> list[float]:
    """Microseconds; taken in turn, so that a slow moment of the machine meets both."""
    best = [inf] * len(runs)
    for _ in range(ROUNDS):
        best = [min(cost, _round(run)) for cost, run in zip(best, runs, strict=True)]
    return best


def _round(run: Callable[[], object]) -> float:
    count, begun = 0, time.process_time()
    while (elapsed := time.process_time() - begun) < SECONDS / ROUNDS:
        for _ in range(100):
            run()
        count += 100
    return elapsed / count * 1e6
