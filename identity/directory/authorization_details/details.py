"""Authorization details: what a client may do, as JSON objects of registered types, RFC 9396.

A detail travels as its canonical JSON text. Two details are equal if their texts are, and nothing else of a detail is
compared: only a type knows whether a smaller value means less.
"""

from collections.abc import Iterable, Mapping

import msgspec

from identity.directory.oauth_scopes import Extent
from identity.foundation.errors import InvalidAuthorizationDetails
from server.platform.json_members import expect_unique_members

# All details of a request together, as JSON. A resource server here accepts access tokens of 4096 characters.
MAX_BYTES = 2048
MOST_DETAILS = 10

Details = tuple[str, ...]


class _Typed(msgspec.Struct, frozen=True):
    type: str


def read(text: str) -> Details:
    """Return the details of the parameter, none for an empty one; raises InvalidAuthorizationDetails."""
    if not text:
        return ()
    if len(text.encode()) > MAX_BYTES:
        raise _too_long()
    try:
        found = msgspec.json.decode(text, type=list[dict[str, object]])
        expect_unique_members(text.encode())
        details = tuple(dict.fromkeys(map(canonical, found)))
    except (msgspec.MsgspecError, RecursionError, ValueError) as error:
        raise InvalidAuthorizationDetails("expected a JSON array of objects") from error
    if not 0 < len(details) <= MOST_DETAILS:
        raise InvalidAuthorizationDetails(f"expected 1 to {MOST_DETAILS} objects")
    # A number can become longer in its canonical form.
    if len(array_of(details)) > MAX_BYTES:
        raise _too_long()
    return details


def canonical(detail: Mapping[str, object]) -> str:
    return msgspec.json.encode(detail, order="sorted").decode()


def type_of(detail: str) -> str:
    """Return the name of the type; raises InvalidAuthorizationDetails."""
    try:
        return msgspec.json.decode(detail, type=_Typed).type
    except msgspec.MsgspecError as error:
        raise InvalidAuthorizationDetails("expected a type in each object") from error


def types_of(details: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(map(type_of, details)))


def array_of(details: Iterable[str]) -> bytes:
    """Return the JSON array of the details."""
    return f"[{','.join(details)}]".encode()


def granted_details(asked: Details, extent: Extent) -> Details:
    """Return the details of a token; raises InvalidAuthorizationDetails."""
    if not extent.admits(asked):
        raise InvalidAuthorizationDetails("an object was not granted")
    return extent.of(asked)


def _too_long() -> InvalidAuthorizationDetails:
    return InvalidAuthorizationDetails(f"expected {MAX_BYTES} bytes at most")
