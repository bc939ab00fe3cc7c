"""Read BPMN XML into the model.

A file is hostile until it is read: a document type (and with it every entity) is refused before
the first element, nothing is fetched, size and depth are bounded.
Errors: `BpmnReadError`.
"""

from collections.abc import Callable, Mapping
from typing import Never

from lxml import etree
from lxml.etree import _Element as XmlElement

from server.bpmn import extensions
from server.bpmn.markup import Markup
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

MAX_BYTES = 4 * 1024 * 1024
MAX_DEPTH = 64

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
    if len(xml) > MAX_BYTES:
        raise BpmnReadError(f"expected at most {MAX_BYTES} bytes, found {len(xml)}")
    _refuse_document_type(xml)
    root = _parse(xml)
    if root.tag != f"{{{BPMN_NAMESPACE}}}definitions":
        raise BpmnReadError(
            f"expected {{{BPMN_NAMESPACE}}}definitions as root, found {root.tag!s}", _line(root)
        )
    return _definitions(_markup(root, "definitions", depth=1))


class _ElementReached(Exception):
    pass


class _Prolog:
    """A parser target that looks at what stands before the first element."""

    def doctype(self, name: str | None, _public_id: str | None, _system_url: str | None) -> Never:
        raise BpmnReadError(f"expected no document type, found <!DOCTYPE {name}>")

    def start(self, _tag: str, _attributes: Mapping[str, str]) -> Never:
        raise _ElementReached

    def close(self) -> None:
        """Nothing was built."""


def _refuse_document_type(xml: bytes) -> None:
    # lxml looks the callbacks up when it runs; its stubs ask for all of them.
    parser = etree.XMLParser(target=_Prolog(), resolve_entities=False, no_network=True)  # type: ignore[call-overload]
    try:
        etree.fromstring(xml, parser)
    except _ElementReached:
        return
    except etree.XMLSyntaxError as error:
        raise _not_xml(error) from error


def _parse(xml: bytes) -> XmlElement:
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True, remove_pis=True
    )
    try:
        return etree.fromstring(xml, parser)
    except etree.XMLSyntaxError as error:
        raise _not_xml(error) from error


def _not_xml(error: etree.XMLSyntaxError) -> BpmnReadError:
    line, column = error.position
    what = error.msg.removesuffix(f", line {line}, column {column}")
    return BpmnReadError(f"expected well-formed XML, found: {what}", line or 0)


def _markup(element: XmlElement, tag: str, *, depth: int) -> Markup:
    if depth > MAX_DEPTH:
        raise BpmnReadError(f"expected at most {MAX_DEPTH} nested elements, found more", _line(element))
    written = {str(name): str(value) for name, value in element.attrib.items() if name[0] != "{"}
    known = ((child, _known_tag(child)) for child in element)
    return Markup(
        tag,
        {**extensions.DEFAULTS.get(tag, {}), **written},
        tuple(_markup(child, name, depth=depth + 1) for child, name in known if name),
        (element.text or "").strip(),
        _line(element),
    )


def _known_tag(element: XmlElement) -> str | None:
    """Spell the tag as `Markup` does; None for a namespace that says nothing to us."""
    name = etree.QName(element)
    prefix = _PREFIXES.get(name.namespace or "")
    return None if prefix is None else prefix + name.localname


def _line(element: XmlElement) -> int:
    return int(element.sourceline or 0)


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
