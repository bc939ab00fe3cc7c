"""`gnomon lint`: check models as a deployment does, without a server."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from server import forms
from server.bpmn.reader import BpmnReadError, read
from server.cli.failures import REFUSED
from server.cli.files import read_file
from server.dmn import DmnReadError, compile_definitions
from server.dmn.document import parse
from server.dmn.reader import definitions_of
from server.forms import FormReadError
from server.lint.linter import (
    Finding,
    lint,
    lint_decisions,
    lint_form,
    lint_unread_decisions,
    unreadable,
    unreadable_form,
)

DMN_ENDING = ".dmn"
FORM_ENDING = ".form"


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
    decisions = [content for file, content in contents.items() if _has_decisions(file)]
    found = [
        _of_file(file, finding)
        for file, content in contents.items()
        for finding in _findings(file, content, decisions)
    ]
    if is_json:
        typer.echo(msgspec.json.encode({"items": found}))
    else:
        for finding in found:
            typer.echo(str(finding))
    if any(finding.refuses for finding in found):
        raise typer.Exit(REFUSED)


def _findings(file: Path, content: bytes, decisions: Sequence[bytes]) -> Sequence[Finding]:
    if file.suffix.lower() == FORM_ENDING:
        return _of_form(content)
    return _of_decisions(content, decisions) if _has_decisions(file) else _of_processes(content)


def _of_form(content: bytes) -> Sequence[Finding]:
    try:
        return lint_form(forms.read(content))
    except FormReadError as error:
        return (unreadable_form(error),)


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
