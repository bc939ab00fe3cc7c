"""Subjects of rules: the elements of a model, each with its types and context."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from server.bpmn.graph import Graph
from server.bpmn.model import (
    EVENT_DEFINITION,
    AdHocSubProcess,
    Definitions,
    EventSubProcess,
    FlowElement,
    FlowElementsContainer,
    FlowNode,
    Process,
    SubProcess,
    ThrowEvent,
)
from server.forms import Form
from server.xml import Markup

_DECISION_TYPES = frozenset({
    "Decision",
    "DecisionTable",
    "DefaultOutputEntry",
    "Input",
    "InputExpression",
    "LiteralExpression",
    "Output",
    "OutputEntry",
    "Relation",
    "Rule",
})  # fmt: skip
_START = "startEvent"
# Events that send messages.
_NO_CATCHES = frozenset({"intermediateThrowEvent", "endEvent"})
_SUB_PROCESSES = frozenset({"subProcess", "adHocSubProcess", "transaction"})


@dataclass(frozen=True, slots=True)
class Subject:
    """An element that rules are evaluated on; `element_id` is the id in findings.

    `scope` is the graph of the process or sub-process around the element. A process has its own graph, the
    file has none. `roots` are the file's elements that others refer to, by id.
    """

    markup: Markup
    element_id: str
    types: frozenset[str]
    scope: Graph | None = None
    roots: Mapping[str, Markup] = field(default_factory=dict)


def subjects(definitions: Definitions) -> Iterator[Subject]:
    """Yield the subjects of a BPMN file: the file, its errors and escalations, used messages and signals, and the elements of executable processes."""
    yield Subject(definitions.markup, definitions.id, _types("Definitions"))
    roots = {
        root.attributes.get("id", ""): root
        for tag in ("error", "escalation", "message", "signal")
        for root in definitions.markup.all(tag)
    }
    for root_id, root in roots.items():
        if root.tag not in {"message", "signal"}:
            yield Subject(root, root_id, _types(_upper(root.tag)))
    yield from _messages(definitions, roots)
    yield from _signals(definitions, roots)
    for process in definitions.processes:
        if process.is_executable:
            for subject in _of_process(process):
                yield replace(subject, roots=roots)


def _messages(definitions: Definitions, roots: Mapping[str, Markup]) -> Iterator[Subject]:
    """Yield each message that an executable process uses, with a separate type for messages caught inside a process."""
    used: dict[str, frozenset[str]] = {}
    for process in definitions.processes:
        for message_id, node in _message_references(process) if process.is_executable else ():
            used[message_id] = used.get(message_id, frozenset()) | _message_types(process, node)
    for message_id, types in used.items():
        if message_id in roots and roots[message_id].tag == "message":
            yield Subject(roots[message_id], message_id, types)


def _message_types(process: Process, node: Markup) -> frozenset[str]:
    """Return the types of a message, depending on a flow node that uses it."""
    if _starts(process, node):
        return _types("Message", "StartMessage")
    return _types("Message") if node.tag in _NO_CATCHES else _types("Message", "CaughtMessage")


def _signals(definitions: Definitions, roots: Mapping[str, Markup]) -> Iterator[Subject]:
    """Yield each signal that an executable process uses."""
    used: dict[str, frozenset[str]] = {}
    for process in definitions.processes:
        for node in process.markup.descendants() if process.is_executable else ():
            definition = node.first("signalEventDefinition")
            if definition is not None:
                types = _types("Signal", "StartSignal") if _starts(process, node) else _types("Signal")
                signal_id = definition.attributes.get("signalRef", "")
                used[signal_id] = used.get(signal_id, frozenset()) | types
    for signal_id, types in used.items():
        if signal_id in roots and roots[signal_id].tag == "signal":
            yield Subject(roots[signal_id], signal_id, types)


def _starts(process: Process, node: Markup) -> bool:
    """Whether a node is a start event of the process itself."""
    return node.tag == _START and any(child is node for child in process.markup.children)


def _message_references(process: Process) -> Iterator[tuple[str, Markup]]:
    """Yield message ids, each with the flow node that refers to it."""
    for node in process.markup.descendants():
        definition = node.first("messageEventDefinition")
        reference = (definition or node).attributes.get("messageRef")
        if reference is not None and (definition is not None or node.tag == "receiveTask"):
            yield reference, node


def decision_subjects(definitions: Markup) -> Iterator[Subject]:
    """Yield the file and its elements of types with rules."""
    yield _decision_subject(definitions, "Definitions")
    names: dict[str, str] = {}
    for element in definitions.descendants():
        tag = element.tag
        if tag not in names:
            names[tag] = name if (name := _upper(tag)) in _DECISION_TYPES else ""
        if names[tag]:
            yield _decision_subject(element, names[tag])


def form_subjects(form: Form) -> Iterator[Subject]:
    """Yield the form and its components, nested ones included."""
    yield Subject(form.markup, form.id, frozenset({"form:Form"}))
    for component in form.markup.descendants():
        yield Subject(component, component.attributes.get("id", ""), frozenset({"form:Component"}))


def _decision_subject(markup: Markup, name: str) -> Subject:
    types = frozenset({f"dmn:{name}", *_table_types(markup)})
    return Subject(markup, markup.attributes.get("id", ""), types)


def _table_types(markup: Markup) -> Iterator[str]:
    """Yield the variants of a decision table by which rules distinguish tables."""
    if markup.tag == "decisionTable":
        if "aggregation" in markup.attributes:
            yield "dmn:DecisionTable[aggregation]"
        if len(markup.all("output")) > 1:
            yield "dmn:DecisionTable[outputs]"


def _of_process(process: Process) -> Iterator[Subject]:
    graph = Graph.of(process)
    yield Subject(process.markup, process.id, _types("Process", "FlowElementsContainer"), graph)
    yield from _of_scope(process, graph, "Process")


def _of_scope(container: FlowElementsContainer, graph: Graph, kind: str) -> Iterator[Subject]:
    """Yield the elements of a scope, including those of nested sub-processes."""
    for element in container.elements:
        yield Subject(element.markup, element.id, _element_types(element, kind), graph)
        if isinstance(element, FlowNode):
            yield from _of_event_definitions(element, graph, kind)
            yield from _of_multi_instance(element, graph)
        if isinstance(element, SubProcess | EventSubProcess):
            inside = Graph.of(element)
            inner = f"{'Event' if isinstance(element, EventSubProcess) else 'Embedded'}SubProcess"
            yield Subject(element.markup, element.id, _types(inner, "FlowElementsContainer"), inside)
            yield from _of_scope(element, inside, inner)
        elif isinstance(element, AdHocSubProcess):
            inside = Graph.of(element)
            yield Subject(element.markup, element.id, _types("AdHocScope", "FlowElementsContainer"), inside)
            yield from _of_scope(element, inside, "AdHocSubProcess")


def _of_event_definitions(node: FlowNode, graph: Graph, scope_kind: str) -> Iterator[Subject]:
    """Yield the event definitions of a node; they have no name, so findings refer to the event."""
    side = "throw" if isinstance(node, ThrowEvent) else "catch"
    if node.tag == _START and scope_kind == "Process":
        side = "start"
    for child in node.markup.children:
        if child.tag.endswith(EVENT_DEFINITION):
            kind = _upper(child.tag)
            yield Subject(child, node.id, _types(kind, f"{kind}[{side}]", EVENT_DEFINITION), graph)


def _of_multi_instance(node: FlowNode, graph: Graph) -> Iterator[Subject]:
    """Yield the loop characteristics of a node; findings refer to the activity."""
    multi_instance = node.multi_instance
    if multi_instance is not None:
        yield Subject(multi_instance, node.id, _types("MultiInstanceLoopCharacteristics"), graph)


def _element_types(element: FlowElement, scope_kind: str) -> frozenset[str]:
    """Return the types of an element, with variants in brackets by which rules distinguish elements of one tag."""
    kind = _upper(element.tag)
    if isinstance(element, EventSubProcess):
        return _types("SubProcess", "SubProcess[triggeredByEvent]", "FlowNode", "FlowElement")
    if not isinstance(element, FlowNode):
        return _types(kind, "FlowElement")
    inside = (f"StartEvent[{scope_kind}]",) if element.tag == _START else ()
    is_sent = isinstance(element, ThrowEvent) and "message" in element.event_definitions
    sent = (f"{kind}[message]",) if is_sent else ()
    return _types(kind, *inside, *sent, *_supertypes(element.tag), "FlowNode", "FlowElement")


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
