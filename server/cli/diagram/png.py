"""A canvas that paints PNG, at twice the size of the diagram."""

import io
import math
from collections.abc import Sequence
from itertools import pairwise

from PIL import Image, ImageDraw, ImageFont

from server.cli.diagram.plan import Box, NoDiagram, Point
from server.cli.diagram.shapes import FONT_SIZE, PAPER

_SCALE = 2.0
# Painted larger, then reduced, so that lines are smooth.
_FINER = 2
_MOST_PIXELS = 100_000_000
_DASH, _GAP = 4.0, 3.0


class PngCanvas:
    """Raises NoDiagram for a diagram that is too large for an image."""

    def __init__(self, frame: Box) -> None:
        self._frame = frame
        self._zoom = _SCALE * _FINER
        width, height = (math.ceil(each * self._zoom) for each in (frame.width, frame.height))
        if width * height > _MOST_PIXELS:
            raise NoDiagram("the diagram is too large for an image; use --output svg")
        self._image = Image.new("RGB", (width, height), PAPER)
        self._draw = ImageDraw.Draw(self._image)
        self._font = ImageFont.load_default(FONT_SIZE * self._zoom)

    def document(self) -> bytes:
        width, height = self._image.size
        reduced = self._image.resize((width // _FINER, height // _FINER), Image.Resampling.LANCZOS)
        file = io.BytesIO()
        reduced.save(file, "PNG", optimize=True)
        return file.getvalue()

    def rectangle(self, box: Box, *, radius: float, fill: str, stroke: str, width: float) -> None:
        self._draw.rounded_rectangle(
            self._corners(box),
            radius * self._zoom,
            fill=fill or None,
            outline=stroke,
            width=self._width(width),
        )

    def ellipse(self, box: Box, *, fill: str, stroke: str, width: float, is_dashed: bool) -> None:
        if not is_dashed:
            self._draw.ellipse(
                self._corners(box), fill=fill or None, outline=stroke, width=self._width(width)
            )
            return
        self._draw.ellipse(self._corners(box), fill=fill or None)
        for start in range(0, 360, 30):
            self._draw.arc(self._corners(box), start, start + 18, fill=stroke, width=self._width(width))

    def polygon(self, points: Sequence[Point], *, fill: str, stroke: str, width: float) -> None:
        if fill:
            self._draw.polygon([self._at(point) for point in points], fill=fill)
        self.line((*points, points[0]), stroke=stroke, width=width, is_dashed=False)

    def line(self, points: Sequence[Point], *, stroke: str, width: float, is_dashed: bool) -> None:
        for start, end in pairwise(points):
            for piece in _dashes(start, end) if is_dashed else ((start, end),):
                self._draw.line([self._at(each) for each in piece], fill=stroke, width=self._width(width))

    def text(self, text: str, center: Point, *, color: str, is_bold: bool) -> None:
        self._draw.text(
            self._at(center), text, fill=color, font=self._font, anchor="mm", stroke_width=int(is_bold)
        )

    def _at(self, point: Point) -> Point:
        return (point[0] - self._frame.x) * self._zoom, (point[1] - self._frame.y) * self._zoom

    def _corners(self, box: Box) -> tuple[float, float, float, float]:
        return *self._at((box.x, box.y)), *self._at((box.x + box.width, box.y + box.height))

    def _width(self, width: float) -> int:
        return max(1, round(width * self._zoom))


def _dashes(start: Point, end: Point) -> Sequence[tuple[Point, Point]]:
    length = math.dist(start, end)
    if not length:
        return ()

    def at(place: float) -> Point:
        share = min(place / length, 1.0)
        return start[0] + share * (end[0] - start[0]), start[1] + share * (end[1] - start[1])

    count = math.ceil(length / (_DASH + _GAP))
    return [(at(number * (_DASH + _GAP)), at(number * (_DASH + _GAP) + _DASH)) for number in range(count)]
