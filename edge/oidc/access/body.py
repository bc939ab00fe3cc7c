"""Bodies of requests, bounded."""

import re
from typing import Annotated, TypeVar

import msgspec
from aiohttp import web

from edge.oidc.access.refusal import Refused, invalid_request

JSON = "application/json"

UnixSeconds = Annotated[int, msgspec.Meta(ge=0, le=253_402_300_799)]
"""A time up to the end of the year 9999. Messages hold 32 or 64 bits, JSON any number: each integer of a body has bounds."""

# How msgspec refuses a number beyond its bounds. The path has the names of our members alone.
_OUT_OF_BOUNDS = re.compile(r"Expected `int` (?P<bound>[<>]= -?\d+) - at `\$\.(?P<member>[^`]+)`")
_BOUNDS = {">=": "at least", "<=": "at most"}

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
    except msgspec.ValidationError as error:
        raise bad_request(bound_of(error) or _expected(kind)) from error
    except (msgspec.DecodeError, RecursionError, ValueError) as error:
        raise bad_request(_expected(kind)) from error


def bound_of(error: msgspec.ValidationError) -> str:
    """Return which member has a number beyond its bounds, empty for other errors."""
    found = _OUT_OF_BOUNDS.fullmatch(str(error))
    if found is None:
        return ""
    relation, bound = found["bound"].split()
    return f"{found['member']}: expected an integer of {_BOUNDS[relation]} {bound}"


def _expected(kind: type[msgspec.Struct]) -> str:
    members = ", ".join(field.encode_name for field in msgspec.structs.fields(kind))
    return f"expected an object with nothing else than {members}"


def bad_request(message: str) -> Refused:
    return Refused(400, "BadRequest", f"Payload validation error: {message}")
