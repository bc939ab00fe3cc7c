"""A canvas that writes SVG 1.1."""

from collections.abc import Sequence
from html import escape

from server.cli.diagram.plan import Box, Point
from server.cli.diagram.shapes import FONT_SIZE, PAPER

_CONTROLS = {code: None for code in range(32) if chr(code) not in "\t\n\r"}


class SvgCanvas:
    def __init__(self, frame: Box) -> None:
        self._frame = frame
        self._parts: list[str] = []

    def document(self) -> str:
        frame = self._frame
        place = f'x="{frame.x:g}" y="{frame.y:g}"'
        size = f'width="{frame.width:g}" height="{frame.height:g}"'
        view = f"{frame.x:g} {frame.y:g} {frame.width:g} {frame.height:g}"
        font = f'font-family="sans-serif" font-size="{FONT_SIZE:g}"'
        head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{view}" {size} {font}>'
        sheet = f'<rect {place} {size} fill="{PAPER}"/>'
        return "\n".join((head, sheet, *self._parts, "</svg>\n"))

    def rectangle(self, box: Box, *, radius: float, fill: str, stroke: str, width: float) -> None:
        self._parts.append(
            f'<rect x="{box.x:g}" y="{box.y:g}" width="{box.width:g}" height="{box.height:g}" rx="{radius:g}"'
            f"{_style(fill, stroke, width)}/>"
        )

    def ellipse(self, box: Box, *, fill: str, stroke: str, width: float, is_dashed: bool) -> None:
        x, y = box.center
        self._parts.append(
            f'<ellipse cx="{x:g}" cy="{y:g}" rx="{box.width / 2:g}" ry="{box.height / 2:g}"'
            f"{_style(fill, stroke, width, is_dashed=is_dashed)}/>"
        )

    def polygon(self, points: Sequence[Point], *, fill: str, stroke: str, width: float) -> None:
        self._parts.append(f'<polygon points="{_points(points)}"{_style(fill, stroke, width)}/>')

    def line(self, points: Sequence[Point], *, stroke: str, width: float, is_dashed: bool) -> None:
        self._parts.append(
            f'<polyline points="{_points(points)}"{_style("", stroke, width, is_dashed=is_dashed)}/>'
        )

    def text(self, text: str, center: Point, *, color: str, is_bold: bool) -> None:
        weight = ' font-weight="bold"' if is_bold else ""
        shown = escape(text.translate(_CONTROLS), quote=False)
        self._parts.append(
            f'<text x="{center[0]:g}" y="{center[1] + FONT_SIZE / 3:g}" text-anchor="middle" fill="{color}"{weight}>'
            f"{shown}</text>"
        )


def _style(fill: str, stroke: str, width: float, *, is_dashed: bool = False) -> str:
    dashes = ' stroke-dasharray="4 3"' if is_dashed else ""
    return f' fill="{fill or "none"}" stroke="{stroke}" stroke-width="{width:g}"{dashes}'


def _points(points: Sequence[Point]) -> str:
    return " ".join(f"{x:g},{y:g}" for x, y in points)
