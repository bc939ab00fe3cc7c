"""`gnomon lint`: check models by the rules of a deployment, without a server."""

from pathlib import Path
from typing import Annotated

import msgspec
import typer

from server.cli.failures import REFUSED
from server.cli.files import read_file
from server.lint.files import DMN_ENDING, lint_file
from server.lint.linter import Finding


class FileFinding(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A lint finding in a file; `refuses` is true if a deployment would reject the file."""

    file: str
    line: int
    rule_id: str
    severity: str
    element_id: str
    message: str
    refuses: bool

    def __str__(self) -> str:
        line = f":{self.line}" if self.line else ""
        place = f"{self.file}{line}: {self.element_id}".removesuffix(": ")
        return f"{place}: {self.severity}: {self.message} [{self.rule_id}]"


def lint_files(
    files: Annotated[
        list[Path], typer.Argument(help="BPMN, DMN and form files; models may import each other.")
    ],
    *,
    is_json: Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")] = False,
) -> None:
    contents = {file: read_file(file) for file in files}
    decisions = [content for file, content in contents.items() if file.suffix.lower() == DMN_ENDING]
    found = [
        _of_file(file, finding)
        for file, content in contents.items()
        for finding in lint_file(file.name, content, decisions)
    ]
    if is_json:
        typer.echo(msgspec.json.encode({"items": found}))
    else:
        for finding in found:
            typer.echo(str(finding))
    if any(finding.refuses for finding in found):
        raise typer.Exit(REFUSED)


def _of_file(file: Path, finding: Finding) -> FileFinding:
    return FileFinding(
        file=str(file),
        line=finding.line,
        rule_id=finding.rule_id,
        severity=finding.severity,
        element_id=finding.element_id,
        message=finding.message,
        refuses=finding.refuses,
    )
