"""Evaluation of one FEEL expression over variables that the person enters."""

import re
from dataclasses import dataclass
from typing import Final

import msgspec
from aiohttp import web

from edge.console.json_text import object_of, readable
from edge.console.site import Form
from edge.console.visit import REFUSED, Visit

_MOST_SHOWN: Final = 100_000
_PLACE: Final = re.compile(r"at line (\d+), column (\d+)$")
_EXAMPLE: Final = "order.total * 1.19"
_EXAMPLE_VARIABLES: Final = '{\n  "order": {"total": 100}\n}'
# Longer lines are truncated around the error.
_BEFORE_MISTAKE: Final = 60
_AFTER_MISTAKE: Final = 20


class _Warning(msgspec.Struct):
    message: str


class _Evaluation(msgspec.Struct):
    """The result stays text, so that no digit is lost."""

    result: msgspec.Raw
    warnings: list[_Warning] = []


@dataclass(frozen=True, slots=True)
class Result:
    """`is_cut` is whether the text is truncated."""

    text: str
    is_cut: bool
    warnings: tuple[str, ...]


async def expression(visit: Visit) -> web.Response:
    return _page(visit, _EXAMPLE, _EXAMPLE_VARIABLES)


async def evaluate(visit: Visit, form: Form) -> web.Response:
    """Evaluate the expression and show its value below; nothing is stored."""
    # The leading equals sign of models is not part of the expression, and positions do not count it.
    text = form.get("expression", "").replace("\r\n", "\n").removeprefix("=")
    variables = form.get("variables", "")
    try:
        body = {"expression": text, "variables": object_of(variables, "variables")}
        found = msgspec.json.decode(await visit.api.encoded("EvaluateExpression", body), type=_Evaluation)
    except REFUSED as error:
        return _page(visit, text, variables, problem=error)
    return _page(visit, text, variables, result=_result(found))


def _result(found: _Evaluation) -> Result:
    text = readable(bytes(found.result).decode())
    warnings = tuple(warning.message for warning in found.warnings)
    return Result(text[:_MOST_SHOWN], len(text) > _MOST_SHOWN, warnings)


def mistake_of(detail: str, expression: str) -> str:
    """Return the line of the error with a mark below the column; empty without a position."""
    place = _PLACE.search(detail)
    lines = expression.split("\n")
    if place is None or not detail.startswith("expression:") or int(place[1]) > len(lines):
        return ""
    line, column = int(place[1]), int(place[2])
    begin = max(0, column - 1 - _BEFORE_MISTAKE)
    shown = lines[line - 1][begin : column + _AFTER_MISTAKE]
    return f"{shown}\n{' ' * (column - 1 - begin)}^"


def _page(
    visit: Visit,
    text: str,
    variables: str,
    *,
    problem: Exception | None = None,
    result: Result | None = None,
) -> web.Response:
    facts = {
        "expression": text,
        "variables": variables,
        "result": result,
        "mistake": mistake_of(str(problem), text) if problem else "",
        "is_about_variables": str(problem).startswith("variables"),
    }
    return visit.form_page("expression.html", "models", problem, facts)
