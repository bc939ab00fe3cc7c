"""Re-encodes an image, as a program of its own: reads an image from stdin and writes a WebP to stdout.

Image decoders have had vulnerabilities, so they run in a process without configuration, keys or open files. It cannot
open files, and its time and memory are bounded. It imports nothing of the provider. Only pixels are written: all
metadata of the file is dropped. The exit status is a Status.
"""

import contextlib
import os
import struct
import sys
import zlib
from dataclasses import dataclass
from enum import Enum, IntEnum
from io import BytesIO
from typing import NoReturn

# Import decoders eagerly: after `confine` the process cannot open files.
from PIL import Image, ImageOps, JpegImagePlugin, MpoImagePlugin, PngImagePlugin, WebPImagePlugin

_FORMATS = (
    JpegImagePlugin.JpegImageFile.format,
    PngImagePlugin.PngImageFile.format,
    WebPImagePlugin.WebPImageFile.format,
)

# Some cameras append a second picture for other screens; that is not an animation.
_STILL = frozenset({JpegImagePlugin.JpegImageFile.format, MpoImagePlugin.MpoImageFile.format})

# Errors that decoders raise for malformed files.
_STUMBLES = (
    *(ArithmeticError, AssertionError, AttributeError, EOFError, LookupError, MemoryError, OSError),
    *(RuntimeError, SyntaxError, TypeError, ValueError, struct.error, zlib.error),
)

_QUALITY = 85
_STANDARD_STREAMS = 3
_NICENESS = 10

# Memory of the program with its decoders, and of the copies that decoding makes at four bytes a pixel.
_OWN_MEMORY = 512 << 20
_BYTES_PER_PIXEL = 24


class Fit(Enum):
    """How an image is scaled: cropped to a square, or whole within a box. It is never enlarged."""

    SQUARE = "square"
    WITHIN = "within"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """Target size of an image, in pixels."""

    width: int
    height: int
    fit: Fit


class Status(IntEnum):
    """Exit status of the program."""

    WRITTEN = 0
    NO_IMAGE = 10
    TOO_MANY_PIXELS = 11
    ANIMATED = 12


class Unusable(Exception):
    def __init__(self, status: Status) -> None:
        super().__init__(status.name)
        self.status = status


def rewritten(content: bytes, shape: Shape, *, max_pixels: int) -> bytes:
    """Return the image as WebP; raises Unusable."""
    try:
        with Image.open(BytesIO(content), formats=_FORMATS) as image:
            _expect_still(image)
            if image.width * image.height > max_pixels:
                raise Unusable(Status.TOO_MANY_PIXELS)
            # A JPEG can be decoded at a fraction of its size.
            image.draft(None, (longest := max(shape.width, shape.height), longest))
            return _encoded(_shaped(_plain(ImageOps.exif_transpose(image)), shape), shape)
    except Image.DecompressionBombError as error:
        raise Unusable(Status.TOO_MANY_PIXELS) from error
    except _STUMBLES as error:
        raise Unusable(Status.NO_IMAGE) from error


def main() -> NoReturn:
    width, height, fit, max_pixels, seconds = sys.argv[1:]
    confine(max_pixels=int(max_pixels), seconds=int(seconds))
    shape = Shape(width=int(width), height=int(height), fit=Fit(fit))
    try:
        sys.stdout.buffer.write(rewritten(sys.stdin.buffer.read(), shape, max_pixels=int(max_pixels)))
        sys.stdout.buffer.flush()
    except Unusable as unusable:
        sys.exit(unusable.status)
    sys.exit(Status.WRITTEN)


def confine(*, max_pixels: int, seconds: int) -> None:
    """Forbid this process to open files, and bound its time and memory."""
    # The parent process imports this module too, perhaps on a system without `resource`.
    import resource  # noqa: PLC0415

    def limit(kind: int, most: int) -> None:
        resource.setrlimit(kind, (most, most))

    Image.preinit()
    # Calls have priority over images.
    os.nice(_NICENESS)
    # Not every system supports this limit.
    with contextlib.suppress(ValueError):
        limit(resource.RLIMIT_AS, _OWN_MEMORY + _BYTES_PER_PIXEL * max_pixels)
    limit(resource.RLIMIT_CPU, seconds)
    limit(resource.RLIMIT_CORE, 0)
    limit(resource.RLIMIT_FSIZE, 0)
    limit(resource.RLIMIT_NOFILE, _STANDARD_STREAMS)


def _expect_still(image: Image.Image) -> None:
    if image.format not in _STILL and getattr(image, "is_animated", False):
        raise Unusable(Status.ANIMATED)


def _plain(image: Image.Image) -> Image.Image:
    """Convert to eight bits a channel in RGB, with an alpha channel where the image has one."""
    if image.mode.startswith("I"):
        return image.convert("I").point(lambda value: value / 256).convert("L").convert("RGB")
    return image.convert("RGBA" if image.has_transparency_data else "RGB")


def _shaped(image: Image.Image, shape: Shape) -> Image.Image:
    if shape.fit is Fit.SQUARE:
        side = min(shape.width, shape.height, *image.size)
        return ImageOps.fit(image, (side, side), Image.Resampling.LANCZOS)
    within = image.copy()
    within.thumbnail((shape.width, shape.height), Image.Resampling.LANCZOS)
    return within


def _encoded(image: Image.Image, shape: Shape) -> bytes:
    image.info.clear()
    written = BytesIO()
    # Logos and icons are kept whole and lossless; pictures are cropped and compressed.
    image.save(written, "WEBP", quality=_QUALITY, lossless=shape.fit is Fit.WITHIN)
    return written.getvalue()


if __name__ == "__main__":
    main()
