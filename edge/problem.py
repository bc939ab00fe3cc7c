"""Refusals as problem documents (RFC 9457), and the one place where nothing of an unexpected error gets out."""

import logging
from collections.abc import Awaitable, Callable

import grpc
import orjson
from aiohttp import web
from multidict import istr

from edge.metadata import new_request_id, request_id_of
from server.platform.channels import error_of
from server.platform.errors import (
    Internal,
    InvalidArgument,
    ModeNotSupported,
    PayloadTooLarge,
    ServiceError,
    Unauthenticated,
)

logger = logging.getLogger(__name__)

MEDIA_TYPE = "application/problem+json"
REQUEST_ID = web.RequestKey("request_id", str)
_SERVER = istr("Server")

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
RefusalOf = Callable[[ServiceError, web.Request], web.StreamResponse]


def guarded(handler: Handler) -> Handler:
    """Wrap a handler of the contract: its refusals and faults are answered with problems."""

    async def guard(request: web.Request) -> web.StreamResponse:
        return await answered(handler, request, problem)

    return guard


async def answered(handler: Handler, request: web.Request, refusal_of: RefusalOf) -> web.StreamResponse:
    """Answer a request, whatever happens: `refusal_of` says how to, and no answer says what we are built with."""
    response = await _answered(handler, request, refusal_of)
    response.headers[_SERVER] = "gnomon"
    return response


async def _answered(handler: Handler, request: web.Request, refusal_of: RefusalOf) -> web.StreamResponse:
    try:
        request[REQUEST_ID] = request_id_of(request)
        return await handler(request)
    except ServiceError as error:
        return refusal_of(error, request)
    except grpc.RpcError as failure:
        return refusal_of(error_of(failure), request)
    except web.HTTPRequestEntityTooLarge:
        return refusal_of(PayloadTooLarge("the body exceeds the configured size"), request)
    except web.RequestPayloadError:
        return refusal_of(InvalidArgument("the body ended early or its encoding is broken"), request)
    except web.HTTPException:
        raise
    except Exception:
        logger.exception("request failed", extra={"request_id": request.get(REQUEST_ID)})
        return refusal_of(Internal(), request)


def problem(error: ServiceError, request: web.Request) -> web.Response:
    headers = {"X-Request-Id": request.get(REQUEST_ID) or new_request_id(), "Cache-Control": "no-store"}
    if isinstance(error, Unauthenticated):
        headers["WWW-Authenticate"] = "Bearer"
    return web.Response(
        body=document(error, request.rel_url.raw_path),
        status=error.problem.status,
        headers={**headers, "Content-Type": MEDIA_TYPE},
    )


def document(error: ServiceError, path: str) -> bytes:
    """Write the five members that every problem has, and the mode where it is the reason."""
    kind = error.problem
    members: dict[str, str | int] = {
        "type": kind.type,
        "title": kind.title,
        "status": kind.status,
        "detail": _printable(error.detail),
        "instance": _printable(path),
    }
    if isinstance(error, ModeNotSupported):
        members["mode"] = error.metadata.get("mode", "")
    return orjson.dumps(members)


def _printable(text: str) -> str:
    """Replace lone surrogates, which stand for bytes of a caller that were no UTF-8."""
    return text.encode("utf-8", "replace").decode()
