"""Bodies of requests, bounded."""

from typing import TypeVar

import msgspec
from aiohttp import web

from edge.oidc.access.refusal import Refused, invalid_request

JSON = "application/json"

_Body = TypeVar("_Body", bound=msgspec.Struct)


async def read_body(request: web.Request, max_bytes: int) -> bytes:
    """Raises Refused when it is too large."""
    body = bytearray()
    async for chunk in request.content.iter_any():
        body += chunk
        if len(body) > max_bytes:
            raise invalid_request(f"the body must not exceed {max_bytes} bytes", status=413)
    return bytes(body)


async def read_json(request: web.Request, kind: type[_Body], *, max_bytes: int) -> _Body:
    """Read a JSON object strictly; raises Refused, whose message does not repeat the input."""
    if request.content_type != JSON:
        raise bad_request(f"the body must be {JSON}")
    try:
        return msgspec.json.decode(await read_body(request, max_bytes), type=kind)
    except (msgspec.DecodeError, RecursionError, ValueError) as error:
        members = ", ".join(field.encode_name for field in msgspec.structs.fields(kind))
        raise bad_request(f"expected an object with nothing else than {members}") from error


def bad_request(message: str) -> Refused:
    return Refused(400, "BadRequest", f"Payload validation error: {message}")
