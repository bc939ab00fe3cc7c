"""File upload of a page: multipart/form-data (RFC 7578) with one part, bounded in size and time."""

import asyncio
import re
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from email.message import Message

from aiohttp import hdrs, web

from edge.oidc.access.body import bad_request
from edge.oidc.access.refusal import Refused

IMAGE_TYPES = frozenset({"image/jpeg", "image/png", "image/webp"})

# RFC 2046 §5.1.1.
_BOUNDARY = re.compile(r"[A-Za-z0-9'()+_,./:=? -]{0,69}[A-Za-z0-9'()+_,./:=?-]")

# Bytes around the content: delimiters and headers of the part.
_MOST_BESIDE = 8192

_MOST_UNDER_WAY = 16


class Uploads:
    """Running uploads, which are in memory: one for each place, and few in total."""

    def __init__(self, most: int = _MOST_UNDER_WAY) -> None:
        self._most = most
        self._places: set[Hashable] = set()

    @contextmanager
    def turn(self, place: Hashable) -> Iterator[None]:
        """Raises Refused while another upload has the place."""
        if place in self._places or len(self._places) >= self._most:
            raise Refused(429, "TooManyRequests", "too many images are being uploaded", retry_after=1)
        self._places.add(place)
        try:
            yield
        finally:
            self._places.remove(place)


async def read_image(request: web.Request, *, max_bytes: int, seconds: float) -> bytes:
    """Return the only part of the body, which must have an image type; raises Refused.

    The declared type is checked only; the services decode the content.
    """
    boundary = _boundary(request)
    try:
        async with asyncio.timeout(seconds):
            body = await _read(request, max_bytes)
    except TimeoutError as error:
        raise Refused(408, "RequestTimeout", f"expected the image within {seconds:g} seconds") from error
    headers, content = _only_part(body, boundary)
    if _media_type(headers) not in IMAGE_TYPES:
        raise bad_request(f"expected a part with a content type of {', '.join(sorted(IMAGE_TYPES))}")
    if len(content) > max_bytes:
        raise _too_large(max_bytes)
    return content


def _boundary(request: web.Request) -> bytes:
    described = Message()
    described[hdrs.CONTENT_TYPE] = request.headers.get(hdrs.CONTENT_TYPE, "")
    boundary = described.get_boundary("")
    is_form = described.get_content_type() == "multipart/form-data"
    if not is_form or _BOUNDARY.fullmatch(boundary) is None:
        raise bad_request("expected multipart/form-data of one part")
    return boundary.encode()


async def _read(request: web.Request, max_bytes: int) -> bytes:
    most = max_bytes + _MOST_BESIDE
    if (request.content_length or 0) > most:
        raise _too_large(max_bytes)
    body = bytearray()
    async for chunk in request.content.iter_any():
        body += chunk
        if len(body) > most:
            raise _too_large(max_bytes)
    return bytes(body)


def _only_part(body: bytes, boundary: bytes) -> tuple[bytes, bytes]:
    """Return headers and content of a body with exactly one part."""
    authorization_start, end = b"--" + boundary + b"\r\n", b"\r\n--" + boundary
    part, is_ended, rest = body.removeprefix(authorization_start).partition(end)
    headers, is_headed, content = part.partition(b"\r\n\r\n")
    is_one = body.startswith(authorization_start) and is_ended and is_headed and rest in {b"--", b"--\r\n"}
    if not is_one:
        raise bad_request("expected multipart/form-data of one part")
    return headers, content


def _media_type(headers: bytes) -> str:
    for line in headers.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-type":
            return value.partition(b";")[0].strip().lower().decode("latin-1")
    return ""


def _too_large(max_bytes: int) -> Refused:
    return Refused(413, "PayloadTooLarge", f"expected an image of at most {max_bytes} octets")
