"""Valid and hostile images for uploads."""

import os
from io import BytesIO

from aiohttp import FormData
from PIL import Image

RED, GREEN, BLUE = (255, 0, 0), (0, 255, 0), (0, 0, 255)
SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'

_ORIENTATION, _QUARTER_LEFT = 0x0112, 6


def uploaded(kind: str = "PNG", *, size: tuple[int, int] = (300, 200), mode: str = "RGB") -> bytes:
    return _saved(Image.new(mode, size, _some_color(mode)), kind)


def form(content: bytes = b"", content_type: str = "image/png") -> FormData:
    """Return the form that a page sends."""
    sent = FormData()
    sent.add_field("picture", content or uploaded(), filename="picture.png", content_type=content_type)
    return sent


def halves(kind: str = "PNG") -> bytes:
    """Return an image that is red on the left and blue on the right."""
    image = Image.new("RGB", (400, 200), RED)
    image.paste(BLUE, (200, 0, 400, 200))
    return _saved(image, kind)


def photograph() -> bytes:
    """Return a rotated photograph, red at the top when displayed, with metadata, a profile and a comment."""
    exif = Image.Exif()
    exif[_ORIENTATION] = _QUARTER_LEFT
    exif[0x010E] = "taken at home"
    image = Image.new("RGB", (400, 200), RED)
    image.paste(BLUE, (200, 0, 400, 200))
    return _saved(image, "JPEG", exif=exif, comment=b"taken at home", icc_profile=b"a profile of home")


def animation(kind: str) -> bytes:
    first, *others = (Image.new("RGB", (50, 50), color) for color in (RED, GREEN, BLUE))
    return _saved(first, kind, save_all=True, append_images=others)


def noise(width: int, height: int) -> bytes:
    """Return an image that is hard to compress."""
    return _saved(Image.frombytes("RGBA", (width, height), os.urandom(4 * width * height)), "PNG")


def slow_to_decode() -> bytes:
    """Return a small JPEG with many scans, each of which costs a decoder a full pass."""
    plain = _saved(Image.new("RGB", (5000, 5000), RED), "JPEG", progressive=True)
    last_scan, end = plain[plain.rindex(b"\xff\xda") : -2], plain[-2:]
    return plain[:-2] + 2000 * last_scan + end


def opened(content: bytes) -> Image.Image:
    with Image.open(BytesIO(content)) as image:
        image.load()
        return image


def color_at(image: Image.Image, x: int, y: int) -> str:
    """Return the dominant primary color of a pixel."""
    pixel = image.convert("RGB").getpixel((x, y))
    assert isinstance(pixel, tuple)
    return max(zip(pixel, ("red", "green", "blue"), strict=True))[1]


def _saved(image: Image.Image, kind: str, **options: object) -> bytes:
    written = BytesIO()
    image.save(written, kind, **options)  # type: ignore[arg-type]  # each format has options of its own
    return written.getvalue()


def _some_color(mode: str) -> tuple[int, ...] | int:
    return {"RGB": RED, "RGBA": (255, 0, 0, 128), "CMYK": (0, 255, 255, 0), "I;16": 40_000}.get(mode, 1)
