"""A plan as rectangles, ellipses, polygons, lines and texts, which a canvas writes in its format."""

import math
import textwrap
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Protocol

from server.cli.diagram.plan import Box, Edge, Plan, Point, Shape

INK, PAPER, SOFT, ACTIVE, BAD, TAKEN = "#1a1f27", "#ffffff", "#5b6472", "#0b57d0", "#b3261e", "#0b57d0"
FONT_SIZE = 12.0
_LINE = 15.0
_CHARACTER = 6.2
_BADGE = 9.0
_TASKS = ("task", "Task", "callActivity")
_SCOPES = ("subProcess", "adHocSubProcess", "transaction", "participant", "lane", "group")
_THICK = frozenset({"endEvent", "callActivity"})


@dataclass(frozen=True, slots=True)
class Tokens:
    """Numbers of active elements, of elements with an incident, and of completed ones."""

    active: int = 0
    incidents: int = 0
    completed: int = 0


class Canvas(Protocol):
    """Colors are `#rrggbb`, or empty for none."""

    def rectangle(self, box: Box, *, radius: float, fill: str, stroke: str, width: float) -> None: ...
    def ellipse(self, box: Box, *, fill: str, stroke: str, width: float, is_dashed: bool) -> None: ...
    def polygon(self, points: Sequence[Point], *, fill: str, stroke: str, width: float) -> None: ...
    def line(self, points: Sequence[Point], *, stroke: str, width: float, is_dashed: bool) -> None: ...
    def text(self, text: str, center: Point, *, color: str, is_bold: bool) -> None: ...


def draw(plan: Plan, canvas: Canvas, tokens: Mapping[str, Tokens], taken: AbstractSet[str]) -> None:
    """Draw shapes, edges and counts; `taken` are sequence flows of the path of an instance."""
    for shape in plan.shapes:
        _shape(canvas, shape, tokens.get(shape.element_id, Tokens()))
    for edge in plan.edges:
        _edge(canvas, edge, is_taken=edge.element_id in taken)
    for shape in plan.shapes:
        # The name of an event is below it.
        y = shape.box.y if shape.tag.endswith("Event") else shape.box.y + shape.box.height
        _badges(canvas, (shape.box.x, y), tokens.get(shape.element_id, Tokens()))


def _shape(canvas: Canvas, shape: Shape, tokens: Tokens) -> None:
    stroke = BAD if tokens.incidents else ACTIVE if tokens.active else INK
    box, width = shape.box, 3.0 if shape.tag in _THICK else 1.5
    if shape.tag.endswith("Event"):
        _event(canvas, shape, stroke, width)
    elif shape.tag.endswith("Gateway"):
        _gateway(canvas, shape, stroke)
    elif shape.tag in _SCOPES:
        canvas.rectangle(
            box,
            radius=0 if shape.tag in {"participant", "lane"} else 10,
            fill=PAPER,
            stroke=stroke,
            width=1.5,
        )
        _text(canvas, shape.name, (box.center[0], box.y + _LINE), box.width)
        return
    elif shape.tag.endswith(_TASKS):
        canvas.rectangle(box, radius=10, fill=PAPER, stroke=stroke, width=width)
        _text(canvas, shape.name, box.center, box.width - 10)
        return
    elif shape.tag == "textAnnotation":
        x, y = box.x, box.y
        canvas.line(
            ((x + 10, y), (x, y), (x, y + box.height), (x + 10, y + box.height)),
            stroke=SOFT,
            width=1.5,
            is_dashed=False,
        )
        _text(canvas, shape.name, box.center, box.width - 10)
        return
    else:
        canvas.rectangle(box, radius=2, fill=PAPER, stroke=SOFT, width=1.5)
    label = shape.label or Box(box.center[0] - 45, box.y + box.height + 4, 90, _LINE)
    _text(canvas, shape.name, label.center, max(label.width, 90))


def _event(canvas: Canvas, shape: Shape, stroke: str, width: float) -> None:
    box, is_dashed = shape.box, not shape.is_interrupting
    canvas.ellipse(box, fill=PAPER, stroke=stroke, width=width, is_dashed=is_dashed)
    if shape.tag in {"intermediateCatchEvent", "intermediateThrowEvent", "boundaryEvent"}:
        canvas.ellipse(_inside(box, 4), fill="", stroke=stroke, width=1.5, is_dashed=is_dashed)
    x, y = box.center
    match shape.trigger:
        case "timer":
            canvas.ellipse(_inside(box, 9), fill="", stroke=stroke, width=1.5, is_dashed=False)
            canvas.line(((x, y - 6), (x, y), (x + 4, y + 2)), stroke=stroke, width=1.5, is_dashed=False)
        case "message":
            inner = Box(x - 9, y - 6, 18, 12)
            canvas.rectangle(inner, radius=0, fill="", stroke=stroke, width=1.5)
            canvas.line(
                ((x - 9, y - 6), (x, y + 1), (x + 9, y - 6)), stroke=stroke, width=1.5, is_dashed=False
            )
        case "terminate":
            canvas.ellipse(_inside(box, 7), fill=stroke, stroke=stroke, width=1, is_dashed=False)
        case "error":
            points = ((x - 8, y + 7), (x - 3, y - 7), (x + 2, y + 2), (x + 8, y - 7))
            canvas.line(points, stroke=stroke, width=1.5, is_dashed=False)
        case "signal":
            canvas.polygon(((x, y - 8), (x + 8, y + 6), (x - 8, y + 6)), fill="", stroke=stroke, width=1.5)
        case _:
            pass


def _gateway(canvas: Canvas, shape: Shape, stroke: str) -> None:
    box = shape.box
    x, y = box.center
    corners = ((x, box.y), (box.x + box.width, y), (x, box.y + box.height), (box.x, y))
    canvas.polygon(corners, fill=PAPER, stroke=stroke, width=1.5)
    r = box.width / 5
    match shape.tag:
        case "exclusiveGateway":
            _cross(
                canvas,
                ((x - r * 0.7, y - r), (x + r * 0.7, y + r)),
                ((x + r * 0.7, y - r), (x - r * 0.7, y + r)),
                stroke,
            )
        case "parallelGateway":
            _cross(canvas, ((x - r * 1.2, y), (x + r * 1.2, y)), ((x, y - r * 1.2), (x, y + r * 1.2)), stroke)
        case "inclusiveGateway" | "eventBasedGateway":
            canvas.ellipse(
                Box(x - r, y - r, 2 * r, 2 * r), fill="", stroke=stroke, width=2.5, is_dashed=False
            )
        case _:
            pass


def _cross(canvas: Canvas, one: Sequence[Point], other: Sequence[Point], stroke: str) -> None:
    for line in (one, other):
        canvas.line(line, stroke=stroke, width=3.5, is_dashed=False)


def _edge(canvas: Canvas, edge: Edge, *, is_taken: bool) -> None:
    if len(edge.points) < 2:  # noqa: PLR2004  # ends of a line
        return
    is_flow = edge.tag == "sequenceFlow"
    stroke = TAKEN if is_taken else INK if is_flow else SOFT
    canvas.line(edge.points, stroke=stroke, width=2.5 if is_taken else 1.5, is_dashed=not is_flow)
    if is_flow or edge.tag == "messageFlow":
        canvas.polygon(_arrow(edge.points[-2], edge.points[-1]), fill=stroke, stroke=stroke, width=1)
    if edge.name:
        middle = edge.points[(len(edge.points) - 1) // 2]
        label = edge.label or Box(middle[0], middle[1] - 2 * _LINE, 60, _LINE)
        _text(canvas, edge.name, label.center, max(label.width, 60))


def _arrow(start: Point, end: Point) -> Sequence[Point]:
    angle = math.atan2(end[1] - start[1], end[0] - start[0])
    sides = [
        (end[0] - 10 * math.cos(angle + turn), end[1] - 10 * math.sin(angle + turn)) for turn in (0.4, -0.4)
    ]
    return (end, *sides)


def _badges(canvas: Canvas, corner: Point, tokens: Tokens) -> None:
    x, y = corner
    for count, prefix, fill, color in (
        (tokens.active, "", ACTIVE, PAPER),
        (tokens.incidents, "! ", BAD, PAPER),
        (0 if tokens.active or tokens.incidents else tokens.completed, "", PAPER, SOFT),
    ):
        if not count:
            continue
        text = f"{prefix}{count:,}"
        width = max(2 * _BADGE, _CHARACTER * len(text) + 10)
        badge = Box(x - 6, y - _BADGE, width, 2 * _BADGE)
        canvas.rectangle(badge, radius=_BADGE, fill=fill, stroke=color if fill == PAPER else fill, width=1.5)
        canvas.text(text, badge.center, color=color, is_bold=True)
        x += width + 4


def _text(canvas: Canvas, text: str, center: Point, width: float) -> None:
    """Write a text in lines of about this width."""
    lines = textwrap.wrap(text, max(6, int(width / _CHARACTER)), break_long_words=False)
    first = center[1] - _LINE * (len(lines) - 1) / 2
    for number, line in enumerate(lines):
        canvas.text(line, (center[0], first + number * _LINE), color=INK, is_bold=False)


def _inside(box: Box, margin: float) -> Box:
    return Box(box.x + margin, box.y + margin, box.width - 2 * margin, box.height - 2 * margin)
