"""Bodies of requests, bounded."""

import re
from typing import Annotated, TypeVar

import msgspec
from aiohttp import web

from edge.oidc.access.refusal import Refused, invalid_request
from server.platform.json_members import RepeatedMember, expect_unique_members

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
    while chunk := await request.content.readany():
        body += chunk
        if len(body) > max_bytes:
            raise invalid_request(f"the body must not exceed {max_bytes} bytes", status=413)
    return bytes(body)


async def read_json(request: web.Request, kind: type[_Body], *, max_bytes: int) -> _Body:
    """Read a JSON object strictly; raises Refused, whose message does not repeat the input."""
    if request.content_type != JSON:
        raise bad_request(f"the body must be {JSON}")
    try:
        body = await read_body(request, max_bytes)
        found = msgspec.json.decode(body, type=kind)
        expect_unique_members(body)
    except RepeatedMember as error:
        raise bad_request(str(error)) from error
    except msgspec.ValidationError as error:
        raise out_of_bounds(error) or bad_request(_expected(kind)) from error
    except (msgspec.DecodeError, RecursionError, ValueError) as error:
        raise bad_request(_expected(kind)) from error
    return found


def out_of_bounds(error: msgspec.ValidationError, *, within: str = "") -> Refused | None:
    """Return the refusal of a number beyond its bounds, None for other errors; `within` is said before the member."""
    found = _OUT_OF_BOUNDS.fullmatch(str(error))
    if found is None:
        return None
    relation, bound = found["bound"].split()
    text = f"{within}{found['member']}: expected an integer of {_BOUNDS[relation]} {bound}"
    return bad_request(text, field=found["member"].rpartition(".")[2])


def _expected(kind: type[msgspec.Struct]) -> str:
    members = ", ".join(field.encode_name for field in msgspec.structs.fields(kind))
    return f"expected an object with nothing else than {members}"


def bad_request(message: str, *, field: str = "") -> Refused:
    """Return the refusal of a body; `field` is the member that is wrong, if it is a single one."""
    members = {"field": field} if field else {}
    return Refused(400, "BadRequest", f"Payload validation error: {message}", members=members)
