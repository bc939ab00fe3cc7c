"""`gnomon lint`: check models as a deployment does, without a server."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from server.bpmn.reader import BpmnReadError, read
from server.cli.failures import REFUSED
from server.cli.files import read_file
from server.dmn import DmnReadError, compile_definitions
from server.dmn.document import parse
from server.dmn.reader import definitions_of
from server.lint.linter import Finding, lint, lint_decisions, lint_unread_decisions, unreadable

DMN_ENDING = ".dmn"


class FileFinding(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A rule that an element of a file breaks; a deployment of it fails if `refuses`."""

    file: str
    line: int
    rule_id: str
    severity: str
    element_id: str
    message: str
    refuses: bool

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}: {self.element_id}".removesuffix(": ")
        return f"{place}: {self.severity}: {self.message} [{self.rule_id}]"


def lint_files(
    files: Annotated[list[Path], typer.Argument(help="BPMN and DMN files; models may import each other.")],
    *,
    is_json: Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")] = False,
) -> None:
    contents = {file: read_file(file) for file in files}
    decisions = [content for file, content in contents.items() if _has_decisions(file)]
    found = [
        _of_file(file, finding)
        for file, content in contents.items()
        for finding in (_of_decisions(content, decisions) if _has_decisions(file) else _of_processes(content))
    ]
    if is_json:
        typer.echo(msgspec.json.encode({"items": found}))
    else:
        for finding in found:
            typer.echo(str(finding))
    if any(finding.refuses for finding in found):
        raise typer.Exit(REFUSED)


def _has_decisions(file: Path) -> bool:
    return file.suffix.lower() == DMN_ENDING


def _of_processes(content: bytes) -> Sequence[Finding]:
    try:
        return lint(read(content))
    except BpmnReadError as error:
        return (unreadable(error),)


def _of_decisions(content: bytes, given: Sequence[bytes]) -> Sequence[Finding]:
    try:
        document = parse(content)
    except DmnReadError as error:
        return (unreadable(error),)
    try:
        definitions_of(document)
    except DmnReadError as error:
        return lint_unread_decisions(document.root, error)
    imports = [each for each in given if each is not content]
    return lint_decisions(document.root, partial(compile_definitions, content, imports=imports))


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
