"""Read BPMN XML into the model.

Tags are local names; those of the zeebe and diagram namespaces carry `zeebe:` and `bpmndi:` whatever prefix the file
uses. Everything of other namespaces is left out. Errors: `BpmnReadError`.
"""

from collections.abc import Callable, Mapping

from server.bpmn import extensions
from server.bpmn.model import (
    BusinessRuleTask,
    Definitions,
    EndEvent,
    ExclusiveGateway,
    FlowElement,
    FlowNode,
    ManualTask,
    ParallelGateway,
    Process,
    ScriptTask,
    SendTask,
    SequenceFlow,
    ServiceTask,
    StartEvent,
    Task,
    Unsupported,
)
from server.xml import Document, Markup, XmlError, parse

BPMN_NAMESPACE = "http://www.omg.org/spec/BPMN/20100524/MODEL"
DIAGRAM_NAMESPACE = "http://www.omg.org/spec/BPMN/20100524/DI"

_PREFIXES: Mapping[str, str] = {
    BPMN_NAMESPACE: "",
    DIAGRAM_NAMESPACE: "bpmndi:",
    extensions.NAMESPACE: extensions.PREFIX,
}

_FLOW_NODES: Mapping[str, Callable[[Markup], FlowNode]] = {
    "startEvent": StartEvent,
    "endEvent": EndEvent,
    "serviceTask": ServiceTask,
    "sendTask": SendTask,
    "scriptTask": ScriptTask,
    "businessRuleTask": BusinessRuleTask,
    "manualTask": ManualTask,
    "task": Task,
    "exclusiveGateway": ExclusiveGateway,
    "parallelGateway": ParallelGateway,
}

# BPMN 2.0 §10: what a process may hold besides flow elements, and data, which is not executed.
_NO_FLOW_ELEMENTS = frozenset({
    "artifact",
    "association",
    "auditing",
    "category",
    "correlationSubscription",
    "dataObject",
    "dataObjectReference",
    "dataStoreReference",
    "documentation",
    "extensionElements",
    "group",
    "humanPerformer",
    "ioBinding",
    "ioSpecification",
    "laneSet",
    "monitoring",
    "performer",
    "potentialOwner",
    "property",
    "resourceRole",
    "supportedInterfaceRef",
    "supports",
    "textAnnotation",
})  # fmt: skip


class BpmnReadError(Exception):
    """The bytes are no BPMN document that we read; `line` is 0 where there is none to name."""

    def __init__(self, message: str, line: int = 0) -> None:
        super().__init__(f"{message} (line {line})" if line else message)
        self.line = line


def read(xml: bytes) -> Definitions:
    """Read one file; raises `BpmnReadError`."""
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
    elements = (child for child in markup.children if _is_flow_element(child.tag))
    return Process(markup, tuple(_flow_element(child) for child in elements))


def _is_flow_element(tag: str) -> bool:
    """Unknown BPMN elements count, so that they are refused by name instead of skipped."""
    return ":" not in tag and tag not in _NO_FLOW_ELEMENTS


def _flow_element(markup: Markup) -> FlowElement:
    if markup.tag == "sequenceFlow":
        return SequenceFlow(markup)
    node = _FLOW_NODES.get(markup.tag, Unsupported)(markup)
    return Unsupported(markup) if node.event_definitions else node
