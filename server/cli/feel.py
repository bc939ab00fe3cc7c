"""`gnomon feel`: evaluate an expression without a server, and show its value, type and failures."""

from pathlib import Path
from typing import Annotated

import typer

from server.cli.dialects import DialectChoice
from server.cli.expression import evaluated, show, variables_of
from server.cli.failures import REFUSED


def feel(
    *,
    expression: Annotated[str, typer.Argument(help="FEEL text; a leading `=` is ignored.")],
    context: Annotated[
        Path | None, typer.Option(help="File with the variables, a JSON object.", show_default=False)
    ] = None,
    dialect: Annotated[
        DialectChoice, typer.Option(help="Evaluate like the engine, or as DMN 1.5 specifies.")
    ] = DialectChoice.CAMUNDA,
    is_json: Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")] = False,
) -> None:
    variables = {} if context is None else variables_of(context)
    text = expression.removeprefix("=")
    evaluation = evaluated(text, variables, dialect.value)
    show(evaluation, text=text, is_json=is_json)
    if evaluation.error is not None:
        raise typer.Exit(REFUSED)
