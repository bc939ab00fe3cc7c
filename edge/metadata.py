"""Maps HTTP headers to gRPC metadata about the caller.

Metadata is printable ASCII, with each of these headers once; anything else is InvalidArgument.
"""

import secrets
from contextlib import suppress

from aiohttp import web
from multidict import MultiMapping, istr

from server.platform.call import AUTHORIZATION, IDEMPOTENCY_KEY, MAX_IDEMPOTENCY_KEY, REQUEST_ID, TENANT
from server.platform.errors import InvalidArgument

MAX_REQUEST_ID = 200
# No bound of its own: the HTTP parser bounds every header.
_UNBOUNDED = 1 << 16

Metadata = list[tuple[str, str]]

_AUTHORIZATION = istr("Authorization")
_TENANT = istr("x-tenant-id")
_IDEMPOTENCY_KEY = istr("Idempotency-Key")
_REQUEST_ID = istr("X-Request-Id")


def request_id_of(request: web.Request) -> str:
    """Return the caller's request id, or a new one."""
    return _value(request.headers, _REQUEST_ID, MAX_REQUEST_ID) or new_request_id()


def has_valid_request_id(request: web.Request) -> bool:
    """Whether the caller's request id is valid, or absent."""
    if _REQUEST_ID not in request.headers:
        return True
    try:
        return _value(request.headers, _REQUEST_ID, MAX_REQUEST_ID) is not None
    except InvalidArgument:
        return False


def new_request_id() -> str:
    return secrets.token_hex(16)


def metadata_of(headers: MultiMapping[str], request_id: str, *, is_command: bool) -> Metadata:
    metadata = [(REQUEST_ID, request_id)]
    authorization = _value(headers, _AUTHORIZATION, _UNBOUNDED)
    if authorization is not None:
        metadata.append((AUTHORIZATION, authorization))
    tenant = _value(headers, _TENANT, _UNBOUNDED)
    if tenant is not None:
        metadata.append((TENANT, tenant))
    idempotency_key = _value(headers, _IDEMPOTENCY_KEY, MAX_IDEMPOTENCY_KEY) if is_command else None
    if idempotency_key is not None:
        metadata.append((IDEMPOTENCY_KEY, idempotency_key))
    return metadata


def readable_metadata_of(headers: MultiMapping[str], request_id: str) -> Metadata:
    """Return the valid part of the metadata, for a refused call."""
    metadata = [(REQUEST_ID, request_id)]
    for name, header in ((AUTHORIZATION, _AUTHORIZATION), (TENANT, _TENANT)):
        with suppress(InvalidArgument):
            value = _value(headers, header, _UNBOUNDED)
            if value is not None:
                metadata.append((name, value))
    return metadata


def _value(headers: MultiMapping[str], name: istr, most: int) -> str | None:
    if name not in headers:
        return None
    values = headers.getall(name)
    value = values[0]
    if len(values) > 1:
        raise InvalidArgument(f"{name}: given more than once", field=name)
    if not value:
        raise InvalidArgument(f"{name}: expected at least 1 character", field=name)
    if len(value) > most:
        raise InvalidArgument(f"{name}: expected at most {most} characters, found {len(value)}", field=name)
    if not (value.isascii() and value.isprintable()):
        raise InvalidArgument(f"{name}: expected printable ASCII", field=name)
    return value
