"""Problem documents for errors (RFC 9457); the only place that hides the details of unexpected errors."""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace
from http import HTTPStatus

import grpc
import orjson
from aiohttp import web

from edge.metadata import new_request_id, request_id_of
from server.platform.channels import error_of
from server.platform.dpop import ERROR as DPOP_ERROR
from server.platform.dpop import NONCE as DPOP_NONCE
from server.platform.errors import (
    RETRY_AFTER,
    Internal,
    InvalidArgument,
    ModeNotSupported,
    PayloadTooLarge,
    Problem,
    ServiceError,
    Unauthenticated,
)

logger = logging.getLogger(__name__)

MEDIA_TYPE = "application/problem+json"
REQUEST_ID = web.RequestKey("request_id", str)
SERVER = "gnomon"

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
RefusalOf = Callable[[ServiceError, web.Request], web.StreamResponse]


class RequestTimeout(InvalidArgument):
    """A client did not send its whole request in time (RFC 9110 §15.5.9)."""

    @property
    def problem(self) -> Problem:
        return replace(super().problem, status=HTTPStatus.REQUEST_TIMEOUT.value)


def guarded(handler: Handler) -> Handler:
    """Wrap a handler of the contract: its errors are answered with problems."""

    async def guard(request: web.Request) -> web.StreamResponse:
        return await answered(handler, request, problem)

    return guard


async def answered(handler: Handler, request: web.Request, refusal_of: RefusalOf) -> web.StreamResponse:
    """Run a handler; `refusal_of` makes a response of any error."""
    try:
        request[REQUEST_ID] = request_id_of(request)
        return await handler(request)
    except ServiceError as error:
        return refusal_of(error, request)
    except grpc.RpcError as failure:
        return refusal_of(error_of(failure), request)
    except (web.HTTPRequestEntityTooLarge, web.RequestPayloadError) as error:
        return refusal_of(_of_body(error), request)
    except web.HTTPException:
        raise
    except Exception:
        logger.exception("request failed", extra={"request_id": request.get(REQUEST_ID)})
        return refusal_of(Internal(), request)


async def body_of(request: web.Request) -> bytes:
    """Read the body; raises PayloadTooLarge, InvalidArgument."""
    try:
        return await request.read()
    except (web.HTTPRequestEntityTooLarge, web.RequestPayloadError) as error:
        raise _of_body(error) from error


def _of_body(error: Exception) -> ServiceError:
    if isinstance(error, web.HTTPRequestEntityTooLarge):
        return PayloadTooLarge("the body exceeds the configured size")
    return InvalidArgument("the body ended early or its encoding is broken")


def problem(error: ServiceError, request: web.BaseRequest) -> web.Response:
    headers = {"X-Request-Id": request.get(REQUEST_ID) or new_request_id(), "Cache-Control": "no-store"}
    if isinstance(error, Unauthenticated):
        headers |= _challenge(error)
    seconds = error.metadata.get(RETRY_AFTER, "")
    if seconds.isdecimal():
        headers["Retry-After"] = seconds
    return web.Response(
        body=document(error, request.rel_url.raw_path),
        status=error.problem.status,
        headers={**headers, "Content-Type": MEDIA_TYPE},
    )


def _challenge(error: Unauthenticated) -> dict[str, str]:
    """RFC 6750 §3, and for a token that is bound to a key RFC 9449 §7.1, §9."""
    code, nonce = error.metadata.get(DPOP_ERROR, ""), error.metadata.get(DPOP_NONCE, "")
    if not code.replace("_", "").isalpha():
        return {"WWW-Authenticate": "Bearer"}
    challenge = {"WWW-Authenticate": f'DPoP error="{code}"'}
    return challenge | {"DPoP-Nonce": nonce} if nonce.isalnum() else challenge


def document(error: ServiceError, path: str) -> bytes:
    """Write the members of a problem, and the mode if that is the reason."""
    kind = error.problem
    members: dict[str, str | int] = {
        "type": kind.type,
        "title": kind.title,
        "status": kind.status,
        "detail": printable(error.detail),
        "instance": printable(path),
    }
    if isinstance(error, ModeNotSupported):
        members["mode"] = error.metadata.get("mode", "")
    return orjson.dumps(members)


def printable(text: str) -> str:
    """Replace lone surrogates, which stand for bytes that are not UTF-8."""
    return text.encode("utf-8", "replace").decode()
