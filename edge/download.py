"""Answers with uploaded bytes: browsers save them and never display them; clients may request a part of them.

Only one range is supported (RFC 9110 §14); a request for several gets all of the bytes, as the standard permits.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from http import HTTPStatus
from operator import attrgetter
from urllib.parse import quote

from aiohttp import web
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from multidict import CIMultiDict, istr

from edge.contract import Route
from edge.problem import REQUEST_ID, problem
from server.platform.errors import InvalidArgument, Problem

# Browsers must neither guess the type of uploads nor run their content.
UNTRUSTED = (
    (istr("X-Content-Type-Options"), "nosniff"),
    (istr("Content-Security-Policy"), "sandbox; default-src 'none'"),
)

_CONTENT_TYPE = istr("Content-Type")
_CONTENT_DISPOSITION = istr("Content-Disposition")
_CONTENT_RANGE = istr("Content-Range")
_ALWAYS = (
    (istr("Accept-Ranges"), "bytes"),
    (istr("Cache-Control"), "no-store"),
    *UNTRUSTED,
)
_OWN_ID = istr("X-Request-Id")
_RANGE = re.compile(r"bytes=([0-9]{0,18})-([0-9]{0,18})", re.IGNORECASE)
# Some browsers decode percent signs in the plain name.
_NOT_PLAIN = re.compile(r"[^ !#$&-\[\]-~]")


class RangeNotSatisfiable(InvalidArgument):
    """A request for bytes beyond the end (RFC 9110 §15.5.17)."""

    @property
    def problem(self) -> Problem:
        return replace(super().problem, status=HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE.value)


def download_of(route: Route, field: FieldDescriptor) -> Callable[[Message, web.Request], web.Response]:
    """Compile the responder of a route whose body is the bytes of `field`."""
    content_of: Callable[[Message], bytes] = attrgetter(field.name)
    media_type_of, file_name_of = _text_of(route.media_type_field), _text_of(route.file_name_field)
    etag_of = _text_of(route.etag_field)

    def respond(answer: Message, request: web.Request) -> web.Response:
        content, media_type = content_of(answer), media_type_of(answer)
        wanted = _wanted(request, etag_of(answer), len(content))
        if wanted is not None and not wanted:
            return _unsatisfiable(request, len(content))
        headers = CIMultiDict(
            (
                (_CONTENT_TYPE, media_type or route.media_type),
                (_CONTENT_DISPOSITION, attachment(file_name_of(answer))),
                *_ALWAYS,
                (_OWN_ID, request[REQUEST_ID]),
            )
        )
        if wanted is None:
            return web.Response(body=content, status=route.status, headers=headers)
        headers[_CONTENT_RANGE] = f"bytes {wanted.start}-{wanted.stop - 1}/{len(content)}"
        part = content[wanted.start : wanted.stop]
        return web.Response(body=part, status=HTTPStatus.PARTIAL_CONTENT, headers=headers)

    return respond


def attachment(file_name: str) -> str:
    """Write a Content-Disposition with a name for browsers of any age (RFC 6266 §4.3)."""
    if not file_name:
        return "attachment"
    plain = _NOT_PLAIN.sub("_", file_name)
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(file_name, safe='')}"


def _text_of(field: FieldDescriptor | None) -> Callable[[Message], str]:
    return attrgetter(field.name) if field is not None else lambda _: ""


def _wanted(request: web.Request, etag: str, size: int) -> range | None:
    """Return the requested range of bytes, empty if there are none; None for all bytes."""
    found = _RANGE.fullmatch(request.headers.get("Range", ""))
    if (
        request.method != "GET"
        or found is None
        or request.headers.get("If-Range", f'"{etag}"') != f'"{etag}"'
    ):
        return None
    first, last = found.groups()
    if first:
        return _from(int(first), last, size)
    return range(max(size - int(last), 0), size) if last else None


def _from(first: int, last: str, size: int) -> range | None:
    end = int(last) if last else size - 1
    return range(first, min(end + 1, size)) if end >= first or not last else None


def _unsatisfiable(request: web.Request, size: int) -> web.Response:
    response = problem(RangeNotSatisfiable(f"Range: expected bytes of the {size} that there are"), request)
    response.headers[_CONTENT_RANGE] = f"bytes */{size}"
    return response
