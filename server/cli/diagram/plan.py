"""The shapes of a BPMN diagram, read from the diagram interchange of a model (BPMN 2.0 §12)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from server.bpmn.reader import BPMN_NAMESPACE, DIAGRAM_NAMESPACE
from server.xml import Markup, XmlError, parse

_SPELLING = {
    BPMN_NAMESPACE: "",
    DIAGRAM_NAMESPACE: "bpmndi:",
    "http://www.omg.org/spec/DD/20100524/DC": "dc:",
    "http://www.omg.org/spec/DD/20100524/DI": "di:",
}
_MARGIN = 20.0
# A badge with a count extends below its shape.
_BELOW = 14.0
_LARGEST = 20_000.0

Point = tuple[float, float]


class NoDiagram(Exception):
    """The bytes are no BPMN model with a diagram."""


@dataclass(frozen=True, slots=True)
class Box:
    x: float
    y: float
    width: float
    height: float

    @property
    def center(self) -> Point:
        return self.x + self.width / 2, self.y + self.height / 2


@dataclass(frozen=True, slots=True)
class Shape:
    """A drawn element. `trigger` is the kind of its event definition, such as `timer`; `label` is where its name is."""

    element_id: str
    tag: str
    name: str
    box: Box
    label: Box | None
    trigger: str = ""
    is_interrupting: bool = True


@dataclass(frozen=True, slots=True)
class Edge:
    element_id: str
    tag: str
    name: str
    points: Sequence[Point]
    label: Box | None


@dataclass(frozen=True, slots=True)
class Plan:
    """All shapes, outer ones first, and edges; `frame` is the part of the plane to show."""

    shapes: Sequence[Shape]
    edges: Sequence[Edge]
    frame: Box


def plan_of(xml: bytes, process_id: str = "") -> Plan:
    """Return the diagram of a process, or the first one of the file; raises NoDiagram."""
    try:
        root = parse(xml).markup(_SPELLING)
    except XmlError as error:
        raise NoDiagram(str(error)) from error
    elements = {each.attributes["id"]: each for each in _descendants(root) if "id" in each.attributes}
    planes = [plane for each in root.all("bpmndi:BPMNDiagram") for plane in each.all("bpmndi:BPMNPlane")]
    plane = next((each for each in planes if _is_of(each, process_id, elements)), None)
    plane = plane or next(iter(planes), None)
    if plane is None:
        raise NoDiagram("the model has no diagram")
    shapes = [_shape(each, elements) for each in plane.all("bpmndi:BPMNShape")]
    edges = [_edge(each, elements) for each in plane.all("bpmndi:BPMNEdge")]
    if not shapes:
        raise NoDiagram("the diagram of the model is empty")
    shapes.sort(key=lambda shape: -shape.box.width * shape.box.height)
    return Plan(shapes, edges, _frame(shapes, edges))


def _descendants(markup: Markup) -> Iterator[Markup]:
    yield markup
    for each in markup.children:
        if not each.tag.startswith("bpmndi:"):
            yield from _descendants(each)


def _is_of(plane: Markup, process_id: str, elements: Mapping[str, Markup]) -> bool:
    drawn = plane.attributes.get("bpmnElement", "")
    participants = elements[drawn].all("participant") if drawn in elements else ()
    return bool(process_id) and process_id in {
        drawn,
        *(each.attributes.get("processRef", "") for each in participants),
    }


def _shape(markup: Markup, elements: Mapping[str, Markup]) -> Shape:
    element_id = markup.attributes.get("bpmnElement", "")
    element = elements.get(element_id)
    triggers = [
        each.tag.removesuffix("EventDefinition")
        for each in (element.children if element else ())
        if each.tag.endswith("EventDefinition")
    ]
    attributes = element.attributes if element else {}
    return Shape(
        element_id,
        element.tag if element else "",
        _name(element),
        _box(markup),
        _label(markup),
        trigger=triggers[0] if triggers else "",
        is_interrupting=attributes.get("cancelActivity", attributes.get("isInterrupting", "")) != "false",
    )


def _edge(markup: Markup, elements: Mapping[str, Markup]) -> Edge:
    element_id = markup.attributes.get("bpmnElement", "")
    element = elements.get(element_id)
    points = [(_number(each, "x"), _number(each, "y")) for each in markup.all("di:waypoint")]
    return Edge(element_id, element.tag if element else "", _name(element), points, _label(markup))


def _name(element: Markup | None) -> str:
    if element is None:
        return ""
    texts = [each.text for each in element.all("text")] if element.tag == "textAnnotation" else []
    return " ".join((element.attributes.get("name", "") or " ".join(texts)).split())


def _label(markup: Markup) -> Box | None:
    label = next(iter(markup.all("bpmndi:BPMNLabel")), None)
    return _box(label) if label is not None and label.all("dc:Bounds") else None


def _box(markup: Markup) -> Box:
    bounds = next(iter(markup.all("dc:Bounds")), None)
    if bounds is None:
        raise NoDiagram("a shape of the diagram has no bounds")
    return Box(*(_number(bounds, name) for name in ("x", "y", "width", "height")))


def _number(markup: Markup, name: str) -> float:
    try:
        number = float(markup.attributes.get(name, ""))
    except ValueError as error:
        raise NoDiagram(f"line {markup.line}: expected a number as {name}") from error
    if not abs(number) <= _LARGEST:
        raise NoDiagram(f"line {markup.line}: {name} is larger than {_LARGEST:,.0f}")
    return number


def _frame(shapes: Sequence[Shape], edges: Sequence[Edge]) -> Box:
    labels = [*(shape.label for shape in shapes), *(edge.label for edge in edges)]
    boxes = [*(shape.box for shape in shapes), *(label for label in labels if label)]
    points = [point for edge in edges for point in edge.points]
    left = min([box.x for box in boxes] + [x for x, _ in points]) - _MARGIN
    top = min([box.y for box in boxes] + [y for _, y in points]) - _MARGIN
    right = max([box.x + box.width for box in boxes] + [x for x, _ in points]) + _MARGIN
    bottom = max([box.y + box.height for box in boxes] + [y for _, y in points]) + _MARGIN + _BELOW
    return Box(left, top, right - left, bottom - top)
