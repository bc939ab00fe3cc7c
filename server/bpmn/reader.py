"""Reads BPMN XML into the model.

Tags are local names, with the prefixes `zeebe:` and `bpmndi:` for these namespaces, whatever prefix the file
uses. Elements of other namespaces are left out. Errors: `BpmnReadError`.
"""

from collections.abc import Callable, Mapping

from server.bpmn import extensions
from server.bpmn.model import (
    AdHocSubProcess,
    BoundaryEvent,
    BusinessRuleTask,
    CallActivity,
    Definitions,
    EndEvent,
    EventBasedGateway,
    EventSubProcess,
    ExclusiveGateway,
    FlowElement,
    FlowNode,
    InclusiveGateway,
    IntermediateCatchEvent,
    IntermediateThrowEvent,
    ManualTask,
    ParallelGateway,
    Process,
    ReceiveTask,
    ScriptTask,
    SendTask,
    SequenceFlow,
    ServiceTask,
    StartEvent,
    SubProcess,
    Task,
    Unsupported,
    UserTask,
)
from server.xml import Document, Markup, XmlError, parse

BPMN_NAMESPACE = "http://www.omg.org/spec/BPMN/20100524/MODEL"
DIAGRAM_NAMESPACE = "http://www.omg.org/spec/BPMN/20100524/DI"

_PREFIXES: Mapping[str, str] = {
    BPMN_NAMESPACE: "",
    DIAGRAM_NAMESPACE: "bpmndi:",
    extensions.NAMESPACE: extensions.PREFIX,
}

# Events by their tag and their kinds of triggers.
_EVENTS: Mapping[tuple[str, ...], Callable[[Markup], FlowNode]] = {
    ("startEvent",): StartEvent,
    ("startEvent", "timer"): StartEvent,
    ("startEvent", "message"): StartEvent,
    ("startEvent", "signal"): StartEvent,
    ("startEvent", "conditional"): StartEvent,
    ("startEvent", "error"): StartEvent,
    ("startEvent", "escalation"): StartEvent,
    ("intermediateThrowEvent",): IntermediateThrowEvent,
    ("intermediateThrowEvent", "escalation"): IntermediateThrowEvent,
    ("intermediateThrowEvent", "compensate"): IntermediateThrowEvent,
    ("intermediateThrowEvent", "link"): IntermediateThrowEvent,
    ("intermediateThrowEvent", "message"): IntermediateThrowEvent,
    ("intermediateThrowEvent", "signal"): IntermediateThrowEvent,
    ("intermediateCatchEvent", "link"): IntermediateCatchEvent,
    ("intermediateCatchEvent", "conditional"): IntermediateCatchEvent,
    ("intermediateCatchEvent", "timer"): IntermediateCatchEvent,
    ("intermediateCatchEvent", "message"): IntermediateCatchEvent,
    ("intermediateCatchEvent", "signal"): IntermediateCatchEvent,
    ("boundaryEvent", "conditional"): BoundaryEvent,
    ("boundaryEvent", "timer"): BoundaryEvent,
    ("boundaryEvent", "message"): BoundaryEvent,
    ("boundaryEvent", "signal"): BoundaryEvent,
    ("boundaryEvent", "error"): BoundaryEvent,
    ("boundaryEvent", "compensate"): BoundaryEvent,
    ("boundaryEvent", "escalation"): BoundaryEvent,
    ("endEvent",): EndEvent,
    ("endEvent", "terminate"): EndEvent,
    ("endEvent", "error"): EndEvent,
    ("endEvent", "compensate"): EndEvent,
    ("endEvent", "escalation"): EndEvent,
    ("endEvent", "message"): EndEvent,
    ("endEvent", "signal"): EndEvent,
}

_FLOW_NODES: Mapping[str, Callable[[Markup], FlowNode]] = {
    "serviceTask": ServiceTask,
    "sendTask": SendTask,
    "scriptTask": ScriptTask,
    "businessRuleTask": BusinessRuleTask,
    "userTask": UserTask,
    "receiveTask": ReceiveTask,
    "callActivity": CallActivity,
    "manualTask": ManualTask,
    "task": Task,
    "exclusiveGateway": ExclusiveGateway,
    "parallelGateway": ParallelGateway,
    "inclusiveGateway": InclusiveGateway,
    "eventBasedGateway": EventBasedGateway,
}

# BPMN 2.0 §10: children of a process or sub-process that are not flow elements, and data, which is not
# executed.
_NO_FLOW_ELEMENTS = frozenset({
    "artifact",
    "association",
    "auditing",
    "category",
    "completionCondition",
    "correlationSubscription",
    "dataObject",
    "dataObjectReference",
    "dataStoreReference",
    "documentation",
    "extensionElements",
    "group",
    "humanPerformer",
    "incoming",
    "ioBinding",
    "ioSpecification",
    "laneSet",
    "monitoring",
    "multiInstanceLoopCharacteristics",
    "outgoing",
    "performer",
    "potentialOwner",
    "property",
    "resourceRole",
    "standardLoopCharacteristics",
    "supportedInterfaceRef",
    "supports",
    "textAnnotation",
})  # fmt: skip


class BpmnReadError(Exception):
    """The bytes are not a readable BPMN document; `line` is 0 if unknown."""

    def __init__(self, message: str, line: int = 0) -> None:
        super().__init__(f"{message} (line {line})" if line else message)
        self.line = line


def read(xml: bytes) -> Definitions:
    """Read one file; raises BpmnReadError."""
    try:
        return _definitions(_markup(parse(xml)))
    except XmlError as error:
        raise BpmnReadError(error.message, error.line) from error


def _markup(document: Document) -> Markup:
    if document.tag != f"{{{BPMN_NAMESPACE}}}definitions":
        raise BpmnReadError(
            f"expected {{{BPMN_NAMESPACE}}}definitions as root, found {document.tag}", document.line
        )
    return document.markup(_PREFIXES, extensions.DEFAULTS)


def _definitions(markup: Markup) -> Definitions:
    return Definitions(markup, tuple(_process(child) for child in markup.all("process")))


def _process(markup: Markup) -> Process:
    return Process(markup, _flow_elements(markup))


def _flow_elements(container: Markup) -> tuple[FlowElement, ...]:
    return tuple(_flow_element(child) for child in container.children if _is_flow_element(child.tag))


def _is_flow_element(tag: str) -> bool:
    """Whether a tag is a flow element; unknown BPMN elements count, so that they are refused by name."""
    return ":" not in tag and tag not in _NO_FLOW_ELEMENTS


def _flow_element(markup: Markup) -> FlowElement:
    if markup.tag == "sequenceFlow":
        return SequenceFlow(markup)
    if markup.tag == "subProcess":
        kind = EventSubProcess if _is_triggered_by_event(markup) else SubProcess
        return kind(markup, _flow_elements(markup))
    if markup.tag == "adHocSubProcess":
        return AdHocSubProcess(markup, _flow_elements(markup))
    if markup.tag in _FLOW_NODES:
        return _FLOW_NODES[markup.tag](markup)
    return _EVENTS.get((markup.tag, *FlowNode(markup).event_definitions), Unsupported)(markup)


def _is_triggered_by_event(sub_process: Markup) -> bool:
    return sub_process.attributes.get("triggeredByEvent", "false").strip() in {"true", "1"}
