"""Findings in one file, by its file name extension.

    lint_file("order.bpmn", content)

A deployment of the file reports the same violations. Rules that need other files or the tenant are not
checked here.
"""

from collections.abc import Sequence
from functools import partial

from server import forms
from server.bpmn.model import Definitions, FlowElementsContainer
from server.bpmn.reader import BpmnReadError, read
from server.dmn import DmnReadError, compile_definitions
from server.dmn.document import parse
from server.dmn.reader import definitions_of
from server.forms import FormReadError
from server.lint.linter import (
    Finding,
    broken,
    lint,
    lint_decisions,
    lint_form,
    lint_unread_decisions,
    unreadable,
    unreadable_form,
)
from server.lint.rules.deployments import FLOW_ELEMENT_COUNT, MAX_FLOW_ELEMENTS

BPMN_ENDINGS = (".bpmn", ".xml")
DMN_ENDING = ".dmn"
FORM_ENDING = ".form"


def lint_file(name: str, content: bytes, decisions: Sequence[bytes] = ()) -> Sequence[Finding]:
    """Return the findings in a file; without the extension of a decision model or form it is a process.

    `decisions` are the decision models that this one may import.
    """
    if name.lower().endswith(FORM_ENDING):
        return _of_form(content)
    if name.lower().endswith(DMN_ENDING):
        return _of_decisions(content, decisions)
    return _of_processes(content)


def flow_elements(definitions: Definitions) -> int:
    """Return the number of flow elements of all processes."""
    return sum(map(_flow_elements, definitions.processes))


def _flow_elements(container: FlowElementsContainer) -> int:
    inner = (node for node in container.flow_nodes() if isinstance(node, FlowElementsContainer))
    return len(container.elements) + sum(map(_flow_elements, inner))


def _of_form(content: bytes) -> Sequence[Finding]:
    try:
        return lint_form(forms.read(content))
    except FormReadError as error:
        return (unreadable_form(error),)


def _of_processes(content: bytes) -> Sequence[Finding]:
    try:
        definitions = read(content)
    except BpmnReadError as error:
        return (unreadable(error),)
    # Counted first, because evaluating the rules takes long.
    found = flow_elements(definitions)
    if found > MAX_FLOW_ELEMENTS:
        return (broken(FLOW_ELEMENT_COUNT, f"expected at most {MAX_FLOW_ELEMENTS}, found {found}"),)
    return lint(definitions)


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
