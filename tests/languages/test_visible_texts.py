"""Every text that people see is marked for the catalogues."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest

from edge.console.identity.declarations import RecordKind
from edge.console.identity.kinds import KINDS
from edge.console.renderer import words
from edge.fields import enum_names
from gnomon.engine.v1 import (
    audit_entry_pb2,
    audit_log_pb2,
    batch_operation_pb2,
    element_instance_pb2,
    incident_pb2,
    job_pb2,
    process_instance_pb2,
    user_task_pb2,
)
from tests.languages.texts import (
    ROOT,
    marked_texts,
    unmarked_in_module,
    unmarked_in_script,
    unmarked_in_template,
)

PAGES = ROOT / "edge/oidc/pages"
CONSOLE = ROOT / "edge/console"
TEMPLATES = sorted([*PAGES.glob("templates/*.html"), *CONSOLE.glob("templates/*.html")])
# The others write findings in the words of the server.
NO_PAGES = {
    "proof_of_work.js",
    "lint.js",
    "lint_decision.js",
    "lint_form.js",
    "lint_process.js",
    "timer_values.js",
}
SCRIPTS = sorted(
    path for folder in (PAGES, CONSOLE) for path in folder.glob("static/*.js") if path.name not in NO_PAGES
)
MODULES = sorted(
    [
        *PAGES.glob("*.py"),
        *(ROOT / "edge/oidc/people").glob("*.py"),
        CONSOLE / "texts.py",
        CONSOLE / "element_templates.py",
        CONSOLE / "site.py",
        *CONSOLE.glob("pages/*.py"),
        *CONSOLE.glob("identity/*.py"),
    ]
)
LABELS = frozenset({"label", "hint", "title", "heading", "button", "warning", "empty", "about"})


def named(path: Path) -> str:
    return f"{path.parent.parent.name}/{path.name}"


@pytest.mark.parametrize("path", TEMPLATES, ids=named)
def test_a_template_has_no_text_outside_of_translations(path: Path) -> None:
    assert unmarked_in_template(path) == []


@pytest.mark.parametrize("path", SCRIPTS, ids=named)
def test_a_script_has_no_sentence_outside_of_translations(path: Path) -> None:
    assert unmarked_in_script(path) == []


@pytest.mark.parametrize("path", MODULES, ids=named)
def test_a_module_of_pages_has_no_sentence_outside_of_translations(path: Path) -> None:
    assert unmarked_in_module(path) == []


@pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: kind.name)
def test_labels_of_records_are_marked(kind: RecordKind) -> None:
    """Labels are single words, which no test finds in a module."""
    labels = set(_labels(kind))

    assert labels - marked_texts() == set()


def _labels(declared: object) -> Iterator[str]:
    if isinstance(declared, tuple):
        for each in declared:
            yield from _labels(each)
    elif is_dataclass(declared) and not isinstance(declared, type):
        for each in fields(declared):
            value = getattr(declared, each.name)
            is_path = isinstance(declared, RecordKind) and each.name == "heading"
            if isinstance(value, str) and each.name in LABELS and not is_path and value:
                yield value
            else:
                yield from _labels(value)


@pytest.mark.parametrize(
    "enum",
    [
        audit_entry_pb2.AuditResult,
        audit_log_pb2.AuditLogOperationType,
        batch_operation_pb2.BatchOperationType,
        element_instance_pb2.ElementInstanceType,
        incident_pb2.IncidentErrorType,
        job_pb2.JobState,
        user_task_pb2.UserTaskState,
        process_instance_pb2.ProcessInstanceState,
    ],
    ids=lambda enum: enum.DESCRIPTOR.name,
)
def test_terms_of_the_contract_that_pages_show_are_marked(enum: Any) -> None:
    names = enum_names(enum.DESCRIPTOR).values()

    assert {words(name) for name in names if name != "UNSPECIFIED"} - marked_texts() == set()


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("<p>Sign in</p>", id="text"),
        pytest.param('<p><input placeholder="My phone"></p>', id="attribute"),
        pytest.param('{{ "Sign in" if x else "Go" }}', id="expression"),
        pytest.param('{% set words = {"a": "Sign in now"} %}', id="constant"),
    ],
)
def test_an_unmarked_text_of_a_template_is_found(tmp_path: Path, source: str) -> None:
    path = tmp_path / "page.html"
    path.write_text(source)

    assert unmarked_in_template(path) != []


def test_an_unmarked_text_of_a_script_is_found(tmp_path: Path) -> None:
    path = tmp_path / "page.js"
    path.write_text('"use strict"; tell({ progress: "One moment …" }); tell(_("One moment …"));')

    assert unmarked_in_script(path) == ['"One moment …"']
