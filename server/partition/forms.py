"""Form files of a deployment: read and linted."""

import hashlib
from collections.abc import Sequence

from server import forms
from server.engine.deployment_commands import FormFile
from server.forms import FormReadError
from server.lint.linter import describe, lint_form, refusals, unreadable_form

FORM_ENDING = ".form"


def form_files(files: Sequence[tuple[str, bytes]], problems: list[str]) -> list[FormFile]:
    """The deployable forms; findings about the others are appended to `problems`."""
    return [file for name, content in files if (file := _file(name, content, problems))]


def _file(name: str, content: bytes, problems: list[str]) -> FormFile | None:
    try:
        form = forms.read(content)
    except FormReadError as error:
        problems.append(describe((unreadable_form(error),), name))
        return None
    findings = refusals(lint_form(form))
    if findings:
        problems.append(describe(findings, name))
        return None
    checksum = hashlib.sha256(content).hexdigest()
    return FormFile(name, form.schema, checksum, form.id, form.version_tag)
