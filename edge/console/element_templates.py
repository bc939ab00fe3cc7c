"""Templates of the editor of processes: the extension elements that the engine executes, as named fields.

The format is that of element templates of Camunda 8, which the editor reads. A model keeps the id and the version of the
template, so these never change.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from server.platform.languages import Language, marked

Binding = Mapping[str, str]

_SCHEMA: Final = "https://unpkg.com/@camunda/zeebe-element-templates-json-schema/resources/schema.json"


def _field(
    label: str,
    binding: Binding,
    *,
    hint: str = "",
    value: str = "",
    feel: str = "",
    is_required: bool = False,
) -> Mapping[str, Any]:
    """Return a text field; `feel` is `optional` if it may be an expression, `required` if it must be one."""
    return {
        "label": label,
        "type": "String",
        "binding": binding,
        **({"description": hint} if hint else {}),
        **({"value": value} if value else {}),
        **({"feel": feel} if feel else {}),
        **({"constraints": {"notEmpty": True}} if is_required else {}),
    }


_JOB_TYPE = _field(
    marked("Job type"),
    {"type": "zeebe:taskDefinition", "property": "type"},
    hint=marked("Workers ask for jobs of this type."),
    feel="optional",
    is_required=True,
)
_RETRIES = _field(
    marked("Retries"), {"type": "zeebe:taskDefinition", "property": "retries"}, value="3", feel="optional"
)
_USER_TASK: Final = {"type": "Hidden", "binding": {"type": "zeebe:userTask"}}
_MESSAGE = (
    _field(
        marked("Message"),
        {"type": "bpmn:Message#property", "name": "name"},
        feel="optional",
        is_required=True,
    ),
    _field(
        marked("Correlation key"),
        {"type": "bpmn:Message#zeebe:subscription#property", "name": "correlationKey"},
        hint=marked("The message has the same key, as in =orderId."),
        feel="required",
        is_required=True,
    ),
)


def _template(
    name: str,
    title: str,
    *fields: Mapping[str, Any],
    about: str,
    of: Sequence[str],
    becomes: str,
    **more: str,
) -> Mapping[str, Any]:
    """Return a template for elements of the types `of`, which changes them to one of `becomes`."""
    return {
        "$schema": _SCHEMA,
        "id": f"gnomon.{name}",
        "version": 1,
        "name": title,
        "description": about,
        "appliesTo": [f"bpmn:{each}" for each in of],
        "elementType": {"value": f"bpmn:{becomes}", **more},
        # The groups of other properties stay.
        "entriesVisible": True,
        "properties": fields,
    }


TEMPLATES: Final = (
    _template(
        "job",
        marked("Work of a job worker"),
        _JOB_TYPE,
        _RETRIES,
        about=marked("A program takes the job, does the work and completes it."),
        of=("Task",),
        becomes="ServiceTask",
    ),
    _template(
        "user-task",
        marked("Task of a person"),
        _USER_TASK,
        _field(
            marked("Form"),
            {"type": "zeebe:formDefinition", "property": "formId"},
            hint=marked("The id of a deployed form."),
        ),
        _field(
            marked("Assignee"),
            {"type": "zeebe:assignmentDefinition", "property": "assignee"},
            feel="optional",
        ),
        _field(
            marked("Candidate groups"),
            {"type": "zeebe:assignmentDefinition", "property": "candidateGroups"},
            hint=marked("Names separated by commas, or a list."),
            feel="optional",
        ),
        _field(
            marked("Due date"),
            {"type": "zeebe:taskSchedule", "property": "dueDate"},
            hint=marked("For example 2027-01-31T12:00:00Z, or an expression."),
            feel="optional",
        ),
        about=marked("A user sees the task in the console, with its form."),
        of=("Task",),
        becomes="UserTask",
    ),
    _template(
        "decision",
        marked("Evaluation of a decision"),
        _field(
            marked("Decision"),
            {"type": "zeebe:calledDecision", "property": "decisionId"},
            hint=marked("The id of a deployed decision."),
            feel="optional",
            is_required=True,
        ),
        _field(
            marked("Result variable"),
            {"type": "zeebe:calledDecision", "property": "resultVariable"},
            is_required=True,
        ),
        about=marked("The engine evaluates a deployed decision."),
        of=("Task",),
        becomes="BusinessRuleTask",
    ),
    _template(
        "script",
        marked("Value of an expression"),
        _field(
            marked("Expression"),
            {"type": "zeebe:script", "property": "expression"},
            feel="required",
            is_required=True,
        ),
        _field(
            marked("Result variable"),
            {"type": "zeebe:script", "property": "resultVariable"},
            is_required=True,
        ),
        about=marked("The engine evaluates a FEEL expression."),
        of=("Task",),
        becomes="ScriptTask",
    ),
    _template(
        "message",
        marked("Wait for a message"),
        *_MESSAGE,
        about=marked("The instance continues when a message with this name and key arrives."),
        of=("IntermediateCatchEvent",),
        becomes="IntermediateCatchEvent",
        eventDefinition="bpmn:MessageEventDefinition",
    ),
)

_WORDED: Final = frozenset({"name", "description", "label"})


def templates_in(language: Language) -> Sequence[Any]:
    """Return the templates with the names, descriptions and labels of a language."""
    return [_worded(template, language) for template in TEMPLATES]


def _worded(part: Any, language: Language) -> Any:
    if isinstance(part, Mapping):
        # A binding has names of attributes.
        return {
            name: language.translated(value)
            if name in _WORDED and isinstance(value, str)
            else value
            if name == "binding"
            else _worded(value, language)
            for name, value in part.items()
        }
    if isinstance(part, tuple | list):
        return [_worded(each, language) for each in part]
    return part
