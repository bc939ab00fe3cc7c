"""Typed access to the extension elements of the zeebe namespace.

The functions rely on the linter: attributes that a rule requires are assumed to exist.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from server.xml import Markup

NAMESPACE = "http://camunda.org/schema/zeebe/1.0"
PREFIX = "zeebe:"

DEFAULTS: Mapping[str, Mapping[str, str]] = {
    "zeebe:taskDefinition": {"retries": "3"},
    "zeebe:calledDecision": {"bindingType": "latest"},
    "zeebe:formDefinition": {"bindingType": "latest"},
    "zeebe:linkedResource": {"bindingType": "latest"},
    "zeebe:calledElement": {
        "bindingType": "latest",
        "propagateAllChildVariables": "true",
        "propagateAllParentVariables": "true",
    },
}


@dataclass(frozen=True, slots=True)
class TaskDefinition:
    """The job type and the retries, each a static text or an expression with its leading `=`."""

    type: str
    retries: str


@dataclass(frozen=True, slots=True)
class Script:
    """An expression with its leading `=`, and the variable for its result."""

    expression: str
    result_variable: str


@dataclass(frozen=True, slots=True)
class CalledDecision:
    """A called decision; its id may be an expression with its leading `=`."""

    decision_id: str
    result_variable: str
    binding_type: str
    version_tag: str


@dataclass(frozen=True, slots=True)
class CalledElement:
    """A called process; its id may be an expression with its leading `=`."""

    process_id: str
    binding_type: str
    version_tag: str
    propagates_all_parent_variables: bool
    propagates_all_child_variables: bool


@dataclass(frozen=True, slots=True)
class LinkedForm:
    """A linked form; its id may be an expression with its leading `=`."""

    form_id: str
    binding_type: str
    version_tag: str


@dataclass(frozen=True, slots=True)
class LinkedResource:
    """A resource that the worker of a job needs, and the worker's name for it."""

    resource_id: str
    resource_type: str
    link_name: str | None
    binding_type: str
    version_tag: str


@dataclass(frozen=True, slots=True)
class LoopCharacteristics:
    """The attributes of a multi-instance loop; input collection and output element are expressions with their leading `=`."""

    input_collection: str
    input_element: str | None
    output_collection: str | None
    output_element: str | None


@dataclass(frozen=True, slots=True)
class AdHoc:
    """The attributes of an ad-hoc sub-process; active elements and output element are expressions with their leading `=`."""

    active_elements_collection: str | None
    output_collection: str | None
    output_element: str | None


@dataclass(frozen=True, slots=True)
class ConditionalFilter:
    """The variables, and the changes of them (`create`, `update`), after which a condition is evaluated."""

    variable_names: frozenset[str]
    variable_events: frozenset[str]


@dataclass(frozen=True, slots=True)
class Listener:
    """The job of a listener for one phase of an element, such as `start` or `end`."""

    event_type: str
    type: str
    retries: str


@dataclass(frozen=True, slots=True)
class VariableMapping:
    """An input or output mapping as written; a missing source means null."""

    source: str | None
    target: str


def extensions(element: Markup, tag: str) -> Iterator[Markup]:
    """Every extension of the element with this tag, nested ones included."""
    container = element.first("extensionElements")
    if container is None:
        return iter(())
    return (extension for extension in container.descendants() if extension.tag == tag)


def task_definition(element: Markup) -> TaskDefinition | None:
    found = next(extensions(element, "zeebe:taskDefinition"), None)
    if found is None:
        return None
    return TaskDefinition(found.attributes["type"], found.attributes["retries"])


def attribute(element: Markup, tag: str, name: str) -> str | None:
    """The attribute of the first extension with this tag; None if it is missing or blank."""
    found = next(extensions(element, tag), None)
    text = found.attributes.get(name, "") if found is not None else ""
    return text if text.strip() else None


def is_native_user_task(element: Markup) -> bool:
    return any(True for _ in extensions(element, "zeebe:userTask"))


def script(element: Markup) -> Script | None:
    found = next(extensions(element, "zeebe:script"), None)
    if found is None:
        return None
    return Script(found.attributes["expression"], found.attributes["resultVariable"])


def called_decision(element: Markup) -> CalledDecision | None:
    found = next(extensions(element, "zeebe:calledDecision"), None)
    if found is None:
        return None
    attributes = found.attributes
    return CalledDecision(
        attributes["decisionId"],
        attributes["resultVariable"],
        attributes["bindingType"],
        attributes.get("versionTag", ""),
    )


def called_element(element: Markup) -> CalledElement:
    attributes = next(extensions(element, "zeebe:calledElement")).attributes
    return CalledElement(
        attributes["processId"],
        attributes["bindingType"],
        attributes.get("versionTag", ""),
        *(
            attributes[name].strip() in {"true", "1"}
            for name in ("propagateAllParentVariables", "propagateAllChildVariables")
        ),
    )


def linked_form(element: Markup) -> LinkedForm | None:
    found = next(extensions(element, "zeebe:formDefinition"), None)
    form_id = "" if found is None else found.attributes.get("formId", "")
    if found is None or not form_id.strip():
        return None
    return LinkedForm(form_id, found.attributes["bindingType"], found.attributes.get("versionTag", ""))


def linked_resources(element: Markup) -> Iterator[LinkedResource]:
    for found in extensions(element, "zeebe:linkedResource"):
        attributes = found.attributes
        yield LinkedResource(
            attributes["resourceId"],
            attributes["resourceType"],
            attributes.get("linkName"),
            attributes["bindingType"],
            attributes.get("versionTag", ""),
        )


def loop_characteristics(multi_instance: Markup) -> LoopCharacteristics:
    attributes = next(extensions(multi_instance, "zeebe:loopCharacteristics")).attributes
    return LoopCharacteristics(
        attributes["inputCollection"],
        *(
            attributes.get(name, "").strip() or None
            for name in ("inputElement", "outputCollection", "outputElement")
        ),
    )


def ad_hoc(element: Markup) -> AdHoc:
    names = ("activeElementsCollection", "outputCollection", "outputElement")
    return AdHoc(*(attribute(element, "zeebe:adHoc", name) for name in names))


def conditional_filter(definition: Markup) -> ConditionalFilter:
    """The filter of a conditional event definition; an empty set means all variables or all changes."""
    names, changes = (
        frozenset(
            filter(
                None,
                map(str.strip, (attribute(definition, "zeebe:conditionalFilter", name) or "").split(",")),
            )
        )
        for name in ("variableNames", "variableEvents")
    )
    return ConditionalFilter(names, changes)


def execution_listeners(element: Markup) -> Iterator[Listener]:
    for found in extensions(element, "zeebe:executionListener"):
        attributes = found.attributes
        yield Listener(attributes["eventType"], attributes["type"], attributes["retries"])


def task_listeners(element: Markup) -> Iterator[Listener]:
    """The listeners of a user task, for the events creating, assigning, updating, completing and canceling."""
    for found in extensions(element, "zeebe:taskListener"):
        attributes = found.attributes
        yield Listener(attributes["eventType"], attributes["type"], attributes["retries"])


def task_headers(element: Markup) -> Mapping[str, str]:
    return _pairs(extensions(element, "zeebe:header"), "key")


def properties(element: Markup) -> Mapping[str, str]:
    return _pairs(extensions(element, "zeebe:property"), "name")


def input_mappings(element: Markup) -> tuple[VariableMapping, ...]:
    return _mappings(extensions(element, "zeebe:input"))


def output_mappings(element: Markup) -> tuple[VariableMapping, ...]:
    return _mappings(extensions(element, "zeebe:output"))


def correlation_key(message: Markup) -> str | None:
    """The expression of a message's correlation key."""
    found = next(extensions(message, "zeebe:subscription"), None)
    return None if found is None else found.attributes.get("correlationKey")


def version_tag(element: Markup) -> str | None:
    found = next(extensions(element, "zeebe:versionTag"), None)
    return None if found is None else found.attributes.get("value")


def _pairs(entries: Iterator[Markup], key: str) -> Mapping[str, str]:
    return {
        entry.attributes[key]: entry.attributes.get("value", "")
        for entry in entries
        if key in entry.attributes
    }


def _mappings(entries: Iterator[Markup]) -> tuple[VariableMapping, ...]:
    return tuple(
        VariableMapping(entry.attributes.get("source"), entry.attributes["target"]) for entry in entries
    )
