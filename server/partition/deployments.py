"""Turns the files of a deployment into a command, outside the partition's loop, because linting and compiling take time.

All or none: one rejection lists every problem of every file, with rule and element.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable

from server.bpmn.model import Definitions
from server.bpmn.reader import BpmnReadError, read
from server.engine.definitions import executable_process
from server.engine.deployment_commands import DeployResources, Resource
from server.lint.files import BPMN_ENDINGS, flow_elements
from server.lint.linter import broken, describe, lint, refusals, unreadable, worded
from server.lint.rule import Rule
from server.lint.rules.deployments import (
    DECISION_ID_UNIQUE,
    DRG_ID_UNIQUE,
    FLOW_ELEMENT_COUNT,
    FORM_ID_UNIQUE,
    MAX_FLOW_ELEMENTS,
    PROCESS_ID_UNIQUE,
    RESOURCE_ID_UNIQUE,
)
from server.partition.config import DialectChoice
from server.partition.decision_models import DMN_ENDING, Files, decision_models
from server.partition.forms import FORM_ENDING, form_files
from server.partition.generic_resources import generic_files
from server.platform.errors import InvalidArgument

_ENDINGS = (*BPMN_ENDINGS, DMN_ENDING, FORM_ENDING)

# The name and content of a file, and its definitions.
_Read = tuple[str, bytes, Definitions]


def prepared(tenant_id: str, files: Files, *, dialect: DialectChoice = DialectChoice.AUTO) -> DeployResources:
    """The command that deploys the files (name and content); raises InvalidArgument.

    `dialect` is the dialect of the decisions.
    """
    problems: list[str] = []
    decisions = [file for file in files if file[0].lower().endswith(DMN_ENDING)]
    form_documents = [file for file in files if file[0].lower().endswith(FORM_ENDING)]
    processes = [file for file in files if file[0].lower().endswith(BPMN_ENDINGS)]
    others = [file for file in files if not file[0].lower().endswith(_ENDINGS)]
    found = [each for name, content in processes if (each := _read(name, content, problems))]
    _expect_few_flow_elements(found)
    resources = [resource for each in found if (resource := _resource(*each, problems))]
    models = decision_models(decisions, dialect, problems)
    forms = form_files(form_documents, problems)
    generic = generic_files(others, problems)
    process_ids = (process_id for resource in resources for process_id in resource.process_ids)
    decision_ids = (decision.id for model in models for decision in model.decisions)
    problems += _duplicates(PROCESS_ID_UNIQUE, "process", process_ids)
    problems += _duplicates(
        DRG_ID_UNIQUE, "requirements graph", (model.decision_requirements_id for model in models)
    )
    problems += _duplicates(DECISION_ID_UNIQUE, "decision", decision_ids)
    problems += _duplicates(FORM_ID_UNIQUE, "form", (form.form_id for form in forms))
    problems += _duplicates(RESOURCE_ID_UNIQUE, "resource", (file.resource_id for file in generic))
    if problems:
        raise _refusal(problems)
    return DeployResources(tenant_id, tuple(resources), tuple(models), tuple(forms), tuple(generic))


def _read(name: str, content: bytes, problems: list[str]) -> _Read | None:
    try:
        return name, content, read(content)
    except BpmnReadError as error:
        problems.append(describe((unreadable(error),), name))
        return None


def _expect_few_flow_elements(files: Iterable[_Read]) -> None:
    """Raises InvalidArgument for too many flow elements, before they are linted, which takes long."""
    found = sum(flow_elements(definitions) for _, _, definitions in files)
    if found > MAX_FLOW_ELEMENTS:
        detail = f"expected at most {MAX_FLOW_ELEMENTS}, found {found}"
        raise _refusal([worded(broken(FLOW_ELEMENT_COUNT, detail))])


def _resource(name: str, content: bytes, definitions: Definitions, problems: list[str]) -> Resource | None:
    findings = refusals(lint(definitions))
    if findings:
        problems.append(describe(findings, name))
        return None
    ids = tuple(process.id for process in definitions.processes if process.is_executable)
    for process_id in ids:
        executable_process(content, process_id)  # compiled here and cached for the partition's loop
    return Resource(name, content, hashlib.sha256(content).hexdigest(), ids)


def _duplicates(rule: Rule, kind: str, ids: Iterable[str]) -> list[str]:
    return [
        worded(broken(rule, f"{kind} '{found}' stands in this deployment {count} times"))
        for found, count in Counter(ids).items()
        if count > 1
    ]


def _refusal(problems: Iterable[str]) -> InvalidArgument:
    detail = "\n".join(problems)
    return InvalidArgument(
        f"Expected to deploy new resources, but encountered the following errors:\n{detail}"
    )
