"""`gnomon dmn`: evaluate a decision from a file without a server, and show the matched rules."""

from pathlib import Path
from typing import Annotated

import typer

from server.cli.decision import compiled, evaluated, show
from server.cli.dialects import DialectChoice
from server.cli.expression import variables_of
from server.cli.failures import REFUSED


def dmn(
    *,
    file: Annotated[Path, typer.Argument(help="DMN file.")],
    decision: Annotated[str, typer.Argument(help="Id of a decision or decision service in the file.")],
    input_file: Annotated[
        Path | None,
        typer.Option("--input", help="File with the variables, a JSON object.", show_default=False),
    ] = None,
    imports: Annotated[
        list[Path] | None,
        typer.Option("--import", help="DMN file that the file imports.", show_default=False),
    ] = None,
    dialect: Annotated[
        DialectChoice, typer.Option(help="Evaluate like the engine, or as DMN 1.5 specifies.")
    ] = DialectChoice.CAMUNDA,
    is_json: Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")] = False,
) -> None:
    model = compiled(file, imports or [], dialect.value)
    evaluation = evaluated(model, decision, {} if input_file is None else variables_of(input_file))
    show(evaluation, is_json=is_json)
    if evaluation.failure is not None:
        raise typer.Exit(REFUSED)
