"""From the files of a deployment to a command, outside the partition's loop: reading, linting and compiling take time.

All or none: every problem of every file is in the one refusal, with rule and element.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable

from server.bpmn.model import Definitions, FlowElementsContainer
from server.bpmn.reader import BpmnReadError, read
from server.engine.commands import DeployResources, Resource
from server.engine.definitions import executable_process
from server.lint.linter import describe, lint, refusals, unreadable
from server.partition.config import DialectChoice
from server.partition.decision_models import DMN_ENDING, Files, decision_models
from server.partition.forms import FORM_ENDING, form_files
from server.partition.generic_resources import generic_files
from server.platform.errors import InvalidArgument

BPMN_ENDINGS = (".bpmn", ".xml")
_ENDINGS = (*BPMN_ENDINGS, DMN_ENDING, FORM_ENDING)
MAX_FLOW_ELEMENTS = 20_000
"""Flow nodes and sequence flows in the files of one deployment: some seconds of linting and compiling."""

# A file with what was read of it.
_Read = tuple[str, bytes, Definitions]


def prepared(tenant_id: str, files: Files, *, dialect: DialectChoice = DialectChoice.AUTO) -> DeployResources:
    """The command that deploys the files (name and content); raises InvalidArgument.

    The dialect is that of decisions.
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
    problems += _duplicates(
        "process", (process_id for resource in resources for process_id in resource.process_ids)
    )
    problems += _duplicates("drg", (model.decision_requirements_id for model in models))
    problems += _duplicates("decision", (decision.id for model in models for decision in model.decisions))
    problems += _duplicates("form", (form.form_id for form in forms))
    problems += _duplicates("resource", (file.resource_id for file in generic))
    if problems:
        detail = "\n".join(problems)
        raise InvalidArgument(
            f"Expected to deploy new resources, but encountered the following errors:\n{detail}"
        )
    return DeployResources(tenant_id, tuple(resources), tuple(models), tuple(forms), tuple(generic))


def _read(name: str, content: bytes, problems: list[str]) -> _Read | None:
    try:
        return name, content, read(content)
    except BpmnReadError as error:
        problems.append(describe((unreadable(error),), name))
        return None


def _expect_few_flow_elements(files: Iterable[_Read]) -> None:
    """Raises InvalidArgument before anything is linted, because that takes long."""
    found = sum(_flow_elements(process) for _, _, definitions in files for process in definitions.processes)
    if found > MAX_FLOW_ELEMENTS:
        raise InvalidArgument(
            f"expected at most {MAX_FLOW_ELEMENTS} flow nodes and sequence flows in one deployment, found {found}"
        )


def _flow_elements(container: FlowElementsContainer) -> int:
    inner = (node for node in container.flow_nodes() if isinstance(node, FlowElementsContainer))
    return len(container.elements) + sum(map(_flow_elements, inner))


def _resource(name: str, content: bytes, definitions: Definitions, problems: list[str]) -> Resource | None:
    findings = refusals(lint(definitions))
    if findings:
        problems.append(describe(findings, name))
        return None
    ids = tuple(process.id for process in definitions.processes if process.is_executable)
    for process_id in ids:
        executable_process(content, process_id)  # compiled here, kept for the partition's loop
    return Resource(name, content, hashlib.sha256(content).hexdigest(), ids)


def _duplicates(kind: str, ids: Iterable[str]) -> list[str]:
    return [
        f"{kind}-id-unique: {_KINDS[kind]} '{found}' stands in this deployment {count} times"
        for found, count in Counter(ids).items()
        if count > 1
    ]


_KINDS = {
    "process": "process",
    "drg": "requirements graph",
    "decision": "decision",
    "form": "form",
    "resource": "resource",
}
