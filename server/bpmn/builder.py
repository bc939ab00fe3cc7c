"""Write small processes in Python instead of drawing them.

    order = (
        process("order")
        .start()
        .service_task("charge", type="charge", inputs={"amount": "=total"})
        .exclusive_gateway("paid")
        .flow(condition="=ok")
        .service_task("ship", type="ship", retries="5", headers={"carrier": "any"})
        .end()
        .branch("paid").flow(default=True).end("rejected")
    )
    server.bpmn.reader.read(order.to_xml())

Every method appends behind the current element and makes the new one current. `branch` makes an
earlier element current, `connect_to` leads to one, `flow` decides about the next connection only.
The result is XML that takes the same way as any file, mistakes included.
"""

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from itertools import chain, count
from typing import Self

from lxml import etree
from lxml.etree import _Element as XmlElement

from server.bpmn.extensions import NAMESPACE as ZEEBE_NAMESPACE
from server.bpmn.reader import BPMN_NAMESPACE

_NO_PAIRS: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True)
class _NextFlow:
    id: str | None = None
    condition: str | None = None
    default: bool = False


def process(process_id: str, *, name: str | None = None, version_tag: str | None = None) -> "ProcessBuilder":
    """Begin an executable process; a start event is put before a first element of another kind."""
    return ProcessBuilder(process_id, name=name, version_tag=version_tag)


def definitions(*builders: "ProcessBuilder") -> bytes:
    """Put all these processes into one file."""
    namespaces = {"bpmn": BPMN_NAMESPACE, "zeebe": ZEEBE_NAMESPACE}
    attributes = {"id": "definitions", "targetNamespace": "urn:gnomon"}
    root = etree.Element(_bpmn("definitions"), attributes, nsmap=namespaces)
    root.extend(deepcopy(builder.element) for builder in builders)
    return etree.tostring(root, xml_declaration=True, encoding="UTF-8", pretty_print=True)


class ProcessBuilder:
    """A process under construction; see the module for how its methods chain."""

    def __init__(self, process_id: str, *, name: str | None = None, version_tag: str | None = None) -> None:
        self.element = etree.Element(
            _bpmn("process"), _written(id=process_id, name=name, isExecutable="true")
        )
        self._nodes: dict[str, XmlElement] = {}
        self._ids: set[str] = set()
        self._current: str | None = None
        self._next_flow = _NextFlow()
        if version_tag is not None:
            etree.SubElement(_extension_elements(self.element), _zeebe("versionTag"), value=version_tag)

    def start(self, element_id: str | None = None, *, name: str | None = None) -> Self:
        """Begin a path; nothing leads to it."""
        self._current = None
        return self._append("startEvent", element_id or self._free_id("start"), name)

    def end(self, element_id: str | None = None, *, name: str | None = None) -> Self:
        return self.node("endEvent", element_id or self._free_id("end"), name=name)

    def service_task(
        self,
        element_id: str,
        *,
        type: str,  # noqa: A002 - the attribute's name in the extension
        tag: str = "serviceTask",
        name: str | None = None,
        retries: str | None = None,
        headers: Mapping[str, str] = _NO_PAIRS,
        inputs: Mapping[str, str | None] = _NO_PAIRS,
        outputs: Mapping[str, str] = _NO_PAIRS,
    ) -> Self:
        """Append a task for a job worker, of another kind where `tag` says so.

        `inputs` and `outputs` map a target variable to its source, an expression with a leading `=`.
        """
        self.node(tag, element_id, name=name, inputs=inputs, outputs=outputs)
        self._extension(element_id, "taskDefinition", type=type, retries=retries)
        if headers:
            parent = self._extension(element_id, "taskHeaders")
            for key, value in headers.items():
                etree.SubElement(parent, _zeebe("header"), key=key, value=value)
        return self

    def manual_task(self, element_id: str, *, name: str | None = None) -> Self:
        return self.node("manualTask", element_id, name=name)

    def task(self, element_id: str, *, name: str | None = None) -> Self:
        return self.node("task", element_id, name=name)

    def exclusive_gateway(self, element_id: str, *, name: str | None = None) -> Self:
        return self.node("exclusiveGateway", element_id, name=name)

    def parallel_gateway(self, element_id: str, *, name: str | None = None) -> Self:
        return self.node("parallelGateway", element_id, name=name)

    def node(
        self,
        tag: str,
        element_id: str,
        *,
        name: str | None = None,
        inputs: Mapping[str, str | None] = _NO_PAIRS,
        outputs: Mapping[str, str] = _NO_PAIRS,
    ) -> Self:
        """Append any flow node by its tag."""
        if self._current is None:
            self.start()
        self._append(tag, element_id, name)
        if inputs or outputs:
            mapping = self._extension(element_id, "ioMapping")
            _add_mappings(mapping, "input", inputs)
            _add_mappings(mapping, "output", outputs)
        return self

    def flow(
        self, *, condition: str | None = None, default: bool = False, element_id: str | None = None
    ) -> Self:
        """Decide about the next connection; a condition carries its leading `=`."""
        self._next_flow = _NextFlow(element_id, condition, default)
        return self

    def branch(self, element_id: str) -> Self:
        """Go on behind an element that is already there."""
        if element_id not in self._nodes:
            raise KeyError(f"expected one of {', '.join(self._nodes)}, found {element_id}")
        self._current = element_id
        return self

    def connect_to(self, element_id: str) -> Self:
        """Lead from the current element to one that is already there, which becomes current."""
        self._connect(element_id)
        return self.branch(element_id)

    def to_xml(self) -> bytes:
        return definitions(self)

    def _append(self, tag: str, element_id: str, name: str | None) -> Self:
        self._nodes[element_id] = etree.SubElement(
            self.element, _bpmn(tag), _written(id=element_id, name=name)
        )
        self._ids.add(element_id)
        if self._current is not None:
            self._connect(element_id)
        self._current = element_id
        return self

    def _connect(self, target: str) -> None:
        source, wanted = self._current or "", self._next_flow
        flow_id = wanted.id or self._free_id(f"{source}_to_{target}")
        self._ids.add(flow_id)
        flow = etree.SubElement(
            self.element, _bpmn("sequenceFlow"), id=flow_id, sourceRef=source, targetRef=target
        )
        if wanted.condition is not None:
            etree.SubElement(flow, _bpmn("conditionExpression")).text = wanted.condition
        if wanted.default:
            self._nodes[source].set("default", flow_id)
        self._next_flow = _NextFlow()

    def _free_id(self, wanted: str) -> str:
        candidates = chain([wanted], (f"{wanted}_{number}" for number in count(2)))
        return next(candidate for candidate in candidates if candidate not in self._ids)

    def _extension(self, element_id: str, tag: str, **attributes: str | None) -> XmlElement:
        parent = _extension_elements(self._nodes[element_id])
        return etree.SubElement(parent, _zeebe(tag), _written(**attributes))


def _extension_elements(element: XmlElement) -> XmlElement:
    found = element.find(_bpmn("extensionElements"))
    return found if found is not None else etree.SubElement(element, _bpmn("extensionElements"))


def _add_mappings(parent: XmlElement, tag: str, mappings: Mapping[str, str | None]) -> None:
    for target, source in mappings.items():
        etree.SubElement(parent, _zeebe(tag), _written(source=source, target=target))


def _written(**attributes: str | None) -> dict[str, str]:
    return {name: text for name, text in attributes.items() if text is not None}


def _bpmn(tag: str) -> str:
    return f"{{{BPMN_NAMESPACE}}}{tag}"


def _zeebe(tag: str) -> str:
    return f"{{{ZEEBE_NAMESPACE}}}{tag}"
