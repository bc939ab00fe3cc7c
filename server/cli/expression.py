"""A FEEL expression from the command line: evaluated and printed."""

import re
import secrets
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import typer

from server.cli.failures import NOT_BEGUN, give_up
from server.cli.files import read_file
from server.cli.output import Output
from server.feel import (
    DialectName,
    EvaluationError,
    Failure,
    FeelSyntaxError,
    Ports,
    Value,
    compile_expression,
    json_text,
)
from server.feel.errors import place_of
from server.feel.failures import FailureType
from server.feel.suggestions import nearest
from server.feel.text import shown
from server.feel.values import type_name
from server.platform.clock import SystemClock

_MOST_SHOWN: Final = 60
"""Characters of a line shown on each side of an error."""


@dataclass(frozen=True, slots=True)
class Evaluated:
    """The result of an expression; `error` is set if there is no value. `names` are the variables' names."""

    value: Value
    failures: tuple[Failure, ...] = ()
    error: str | None = None
    names: Collection[str] = ()


def variables_of(file: Path) -> dict[str, Value]:
    """Read a JSON object of variables from a file; exit on an error."""
    try:
        variables = json_text.read(read_file(file).decode())
    except ValueError as error:
        give_up(f"{file}: {error}")
    if not isinstance(variables, dict):
        give_up(f"expected {file} to be a JSON object")
    return variables


def evaluated(text: str, variables: dict[str, Value], dialect: DialectName) -> Evaluated:
    """Evaluate an expression; every variable name is parsed as a name, even one with spaces or operators."""
    try:
        compiled = compile_expression(text, names=frozenset(variables), dialect=dialect)
    except FeelSyntaxError as error:
        typer.echo(f"error: {error}\n{_marked(text, error.position)}", err=True)
        raise typer.Exit(NOT_BEGUN) from error
    try:
        found = compiled.evaluate(variables, Ports(now=SystemClock().now(), bits=secrets.randbits))
    except EvaluationError as error:
        return Evaluated(None, error=str(error))
    return Evaluated(found.value, found.failures, names=variables.keys())


def _marked(text: str, position: int) -> str:
    """Return the line of a position with a mark below it, cut to a readable length."""
    line, column = place_of(text, position)
    first = max(0, column - _MOST_SHOWN)
    shown_line = text.split("\n")[line - 1][first : first + 2 * _MOST_SHOWN]
    return f"{shown_line}\n{' ' * (column - 1 - first)}^"


def show(evaluation: Evaluated, *, text: str, is_json: bool) -> None:
    output = Output(is_json=is_json)
    if is_json:
        output.document(json_text.variable(_document(evaluation)).encode())
    elif evaluation.error is not None:
        output.print(f"failed: {evaluation.error}")
    else:
        notes = [_note(failure, text, evaluation.names) for failure in evaluation.failures]
        output.print("\n".join([f"{shown(evaluation.value)}  ({type_name(evaluation.value)})", *notes]))


def _note(failure: Failure, text: str, names: Collection[str]) -> str:
    """Return the warning of a failure that produced null, with its position."""
    note = f"warning: {failure.type}: {failure.message}"
    if failure.position is None:
        return note
    line, column = place_of(text, failure.position)
    return f"{note}{_hint(failure, text[failure.position :], names)} (line {line}, column {column})"


def _hint(failure: Failure, rest: str, names: Collection[str]) -> str:
    """Return a suggestion if the name at the start of `rest` is a misspelt variable."""
    name = re.match(r"\w+", rest)
    if failure.type is not FailureType.NO_VARIABLE_FOUND or name is None:
        return ""
    meant = nearest(name[0], names)
    return f". Did you mean '{meant}'?" if meant else ""


def _document(evaluation: Evaluated) -> Value:
    if evaluation.error is not None:
        return {"error": evaluation.error}
    return {
        "value": evaluation.value,
        "type": type_name(evaluation.value),
        "failures": [
            {"type": failure.type.value, "message": failure.message, "position": failure.position}
            for failure in evaluation.failures
        ],
    }
