"""Reads the facts of a call from its gRPC context, and aborts the call with an error."""

from collections.abc import Mapping
from typing import TypeVar, cast

import grpc
from google.protobuf.message import Message

from server.platform.errors import ServiceError

_DETAILS = "grpc-status-details-bin"
_CODES = {code.value[0]: code for code in grpc.StatusCode}

Request = TypeVar("Request", bound=Message)
Response = TypeVar("Response", bound=Message)


def metadata_of(context: grpc.aio.ServicerContext[Request, Response]) -> Mapping[str, str]:
    """Return the call's text metadata; binary entries are ignored."""
    pairs = cast("tuple[tuple[str, str | bytes], ...]", context.invocation_metadata() or ())
    return {key: value for key, value in pairs if isinstance(value, str)}


async def refuse(context: grpc.aio.ServicerContext[Request, Response], error: ServiceError) -> None:
    """Abort the call with the error's status, and the details in the trailing metadata."""
    status = error.status()
    await context.abort(
        _CODES[status.code], status.message, trailing_metadata=((_DETAILS, status.SerializeToString()),)
    )
