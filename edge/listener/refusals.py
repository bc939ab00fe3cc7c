"""Error responses of the listener itself, for requests that reach no handler.

None of them repeats any part of a request or names the software.
"""

import time
from email.utils import formatdate
from http import HTTPStatus

from aiohttp import hdrs, web
from aiohttp.http_exceptions import LineTooLong

from edge.metadata import new_request_id
from edge.problem import MEDIA_TYPE, SERVER, document, problem
from server.platform.errors import InvalidArgument, NotFound, ServiceError

_MALFORMED = "expected a well-formed request of HTTP/1.1 or HTTP/1.0"


def answer(error: ServiceError, request: web.BaseRequest) -> web.Response:
    """Return the problem for an error; the connection closes after it."""
    response = problem(error, request)
    response.headers[hdrs.SERVER] = SERVER
    response.force_close()
    return response


def raw_answer(error: ServiceError, *, retry_seconds: int = 0) -> bytes:
    """Return the bytes of the same response for a connection without a request."""
    body, status = document(error, "/"), HTTPStatus(error.problem.status)
    headers = {
        "X-Request-Id": new_request_id(),
        "Cache-Control": "no-store",
        "Content-Type": MEDIA_TYPE,
        "Content-Length": str(len(body)),
        "Connection": "close",
        "Date": formatdate(time.time(), usegmt=True),
        "Server": SERVER,
        **({"Retry-After": str(retry_seconds)} if retry_seconds else {}),
    }
    lines = [f"HTTP/1.1 {status.value} {status.phrase}", *(f"{name}: {headers[name]}" for name in headers)]
    return "\r\n".join((*lines, "", "")).encode() + body


def malformed(cause: BaseException | None) -> InvalidArgument:
    """Return the parser's error without any part of the request."""
    if isinstance(cause, LineTooLong):
        return InvalidArgument("a line of the request head is too long")
    return InvalidArgument(_MALFORMED)


def refusal_of(refused: web.HTTPException) -> ServiceError:
    """Translate errors of aiohttp itself: an impossible target, an unknown expectation."""
    if refused.status == HTTPStatus.NOT_FOUND:
        return NotFound("there is no such path")
    return InvalidArgument(_MALFORMED)
