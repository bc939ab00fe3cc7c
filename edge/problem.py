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


def guarded(handler: Handler) -> Handler:
    """Wrap a handler: every refusal and every fault becomes a problem, and no answer says what we are built with."""
    answer = _answering(handler)

    async def guard(request: web.Request) -> web.StreamResponse:
        response = await answer(request)
        response.headers[_SERVER] = "gnomon"
        return response

    return guard


def _answering(handler: Handler) -> Handler:
    async def answer(request: web.Request) -> web.StreamResponse:
        try:
            request[REQUEST_ID] = request_id_of(request)
            return await handler(request)
        except ServiceError as error:
            return problem(error, request)
        except grpc.RpcError as failure:
            return problem(error_of(failure), request)
        except web.HTTPRequestEntityTooLarge:
            return problem(PayloadTooLarge("the body exceeds the configured size"), request)
        except web.RequestPayloadError:
            return problem(InvalidArgument("the body ended early or its encoding is broken"), request)
        except web.HTTPException:
            raise
        except Exception:
            logger.exception("request failed", extra={"request_id": request.get(REQUEST_ID)})
            return problem(Internal(), request)

    return answer


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
