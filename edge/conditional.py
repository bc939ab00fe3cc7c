"""Conditional requests (RFC 9110 §13): a response with an ETag is not sent again to a client that has it."""

import re
from collections.abc import Callable, Iterable
from operator import attrgetter

from aiohttp import web
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from multidict import istr

from edge.problem import REQUEST_ID

Respond = Callable[[Message, web.Request], web.Response]

_ETAG = istr("ETag")
_IF_NONE_MATCH = istr("If-None-Match")
_CACHE_CONTROL = istr("Cache-Control")
_REQUEST_ID = istr("X-Request-Id")
# RFC 9111 §5.2.2.4: may be stored, but must be revalidated before each use.
_KEPT = "private, no-cache"
_ENTITY_TAG = re.compile(r'(?:W/)?"([^"]*)"')


def conditionally(respond: Respond, field: FieldDescriptor) -> Respond:
    """Answer 304 when If-None-Match contains the entity tag, which is the value of `field`."""
    etag_of: Callable[[Message], str] = attrgetter(field.name)

    def respond_conditionally(answer: Message, request: web.Request) -> web.Response:
        etag = etag_of(answer)
        is_there = is_named(etag, request.headers.getall(_IF_NONE_MATCH, ()))
        response = _not_modified(request) if is_there else respond(answer, request)
        response.headers[_ETAG] = f'"{etag}"'
        response.headers[_CACHE_CONTROL] = _KEPT
        return response

    return respond_conditionally


def _not_modified(request: web.Request) -> web.Response:
    return web.Response(status=304, headers={_REQUEST_ID: request[REQUEST_ID]})


def is_named(etag: str, lines: Iterable[str]) -> bool:
    """Whether If-None-Match contains the entity tag (RFC 9110 §13.1.2), also when written without quotes."""
    return any(line.strip() in {"*", etag} or etag in _ENTITY_TAG.findall(line) for line in lines)
