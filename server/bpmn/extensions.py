"""The extension elements of the zeebe namespace, found in markup and typed.

The functions trust the linter: what a rule requires is assumed to be there.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from server.xml import Markup

NAMESPACE = "http://camunda.org/schema/zeebe/1.0"
PREFIX = "zeebe:"

DEFAULTS: Mapping[str, Mapping[str, str]] = {"zeebe:taskDefinition": {"retries": "3"}}


@dataclass(frozen=True, slots=True)
class TaskDefinition:
    """The job type and the retries, each static text or an expression with its leading `=`."""

    type: str
    retries: str


@dataclass(frozen=True, slots=True)
class VariableMapping:
    """An input or output mapping as written; no source means null."""

    source: str | None
    target: str


def extensions(element: Markup, tag: str) -> Iterator[Markup]:
    """Every extension of this element with the tag, nested ones included."""
    container = element.first("extensionElements")
    if container is None:
        return iter(())
    return (extension for extension in container.descendants() if extension.tag == tag)


def task_definition(element: Markup) -> TaskDefinition | None:
    found = next(extensions(element, "zeebe:taskDefinition"), None)
    if found is None:
        return None
    return TaskDefinition(found.attributes["type"], found.attributes["retries"])


def task_headers(element: Markup) -> Mapping[str, str]:
    return _pairs(extensions(element, "zeebe:header"), "key")


def properties(element: Markup) -> Mapping[str, str]:
    return _pairs(extensions(element, "zeebe:property"), "name")


def input_mappings(element: Markup) -> tuple[VariableMapping, ...]:
    return _mappings(extensions(element, "zeebe:input"))


def output_mappings(element: Markup) -> tuple[VariableMapping, ...]:
    return _mappings(extensions(element, "zeebe:output"))


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
