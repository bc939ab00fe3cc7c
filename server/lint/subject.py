"""What rules are applied to: the elements of a model, each with its types and surroundings."""

from collections.abc import Iterator
from dataclasses import dataclass

from server.bpmn.graph import Graph
from server.bpmn.model import EVENT_DEFINITION, Definitions, FlowElement, FlowNode, Process
from server.xml import Markup

_DECISION_TYPES = frozenset({"Decision", "DecisionTable", "Input", "Output", "Relation", "Rule"})
_SUB_PROCESSES = frozenset({"subProcess", "adHocSubProcess", "transaction"})


@dataclass(frozen=True, slots=True)
class Subject:
    """An element under a rule; `element_id` is the id that a finding names.

    `scope` is the graph of the process that the element stands in or is; the whole file has none.
    """

    markup: Markup
    element_id: str
    types: frozenset[str]
    scope: Graph | None = None


def subjects(definitions: Definitions) -> Iterator[Subject]:
    """Yield the file and its executable processes with everything in them."""
    yield Subject(definitions.markup, definitions.id, _types("Definitions"))
    for process in definitions.processes:
        if process.is_executable:
            yield from _of_process(process)


def decision_subjects(definitions: Markup) -> Iterator[Subject]:
    """Yield the file and the elements in it that rules look at."""
    yield _decision_subject(definitions, "Definitions")
    for element in definitions.descendants():
        name = _upper(element.tag)
        if name in _DECISION_TYPES:
            yield _decision_subject(element, name)


def _decision_subject(markup: Markup, name: str) -> Subject:
    return Subject(markup, markup.attributes.get("id", ""), frozenset({f"dmn:{name}"}))


def _of_process(process: Process) -> Iterator[Subject]:
    graph = Graph.of(process)
    yield Subject(process.markup, process.id, _types("Process"), graph)
    for element in process.elements:
        yield Subject(element.markup, element.id, _element_types(element), graph)
        if isinstance(element, FlowNode):
            yield from _of_event_definitions(element, graph)


def _of_event_definitions(node: FlowNode, graph: Graph) -> Iterator[Subject]:
    """Event definitions have no name of their own, so that findings name the event."""
    for child in node.markup.children:
        if child.tag.endswith(EVENT_DEFINITION):
            yield Subject(child, node.id, _types(_upper(child.tag), EVENT_DEFINITION), graph)


def _element_types(element: FlowElement) -> frozenset[str]:
    if not isinstance(element, FlowNode):
        return _types(_upper(element.tag), "FlowElement")
    return _types(_upper(element.tag), *_supertypes(element.tag), "FlowNode", "FlowElement")


def _supertypes(tag: str) -> tuple[str, ...]:
    if tag.endswith("Event"):
        return ("Event",)
    if tag.endswith("Gateway"):
        return ("Gateway",)
    if tag in _SUB_PROCESSES:
        return ("SubProcess", "Activity")
    return ("Activity",)


def _types(*names: str) -> frozenset[str]:
    return frozenset(f"bpmn:{name}" for name in names)


def _upper(tag: str) -> str:
    return tag[:1].upper() + tag[1:]
