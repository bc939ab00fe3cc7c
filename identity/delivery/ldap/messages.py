"""LDAP messages in BER: RFC 4511.

The codec is that of ldap3; its connections are not used. They block a thread, read without bound, and compare host names
of certificates themselves.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ldap3.core.exceptions import LDAPExceptionError
from ldap3.operation.extended import extended_operation
from ldap3.operation.search import search_operation
from ldap3.protocol.rfc4511 import (
    LDAPDN,
    AuthenticationChoice,
    BindRequest,
    LDAPMessage,
    MessageID,
    ProtocolOp,
    Simple,
    Version,
)
from ldap3.utils import asn1
from pyasn1.error import PyAsn1Error

from identity.delivery.ldap.errors import LdapUnreachable

_VERSION = 3
_SUBTREE = 2
_NEVER_DEREFERENCE = 0
_BIND_RESPONSE = 1
_ENTRY = 4
_DONE = 5
_REFERENCE = 19
_EXTENDED_RESPONSE = 24
_RESULTS = frozenset({_BIND_RESPONSE, _DONE, _EXTENDED_RESPONSE})
_START_TLS = "1.3.6.1.4.1.1466.20037"
_DIAGNOSTIC_CHARACTERS = 200
# What a codec for well-formed messages does with others.
_MALFORMED = (
    *(ValueError, TypeError, LookupError, AttributeError, RecursionError, OverflowError),
    *(LDAPExceptionError, PyAsn1Error),
)

# The stubs know neither their types nor the second one.
_DECODE: Callable[[bytes], Any] = asn1.decode_message_fast
_ENCODE: Callable[[object], Any] = asn1.encode  # type: ignore[attr-defined]  # missing in the stubs


class InvalidFilter(ValueError):
    """The text is no search filter: RFC 4515."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of the directory; names of attributes are in lower case."""

    dn: str
    attributes: Mapping[str, Sequence[bytes]] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Reference:
    """A search goes on at another server, which is not asked: RFC 4511 §4.5.3."""


@dataclass(frozen=True, slots=True)
class Result:
    """The end of an operation; `diagnostic` is text of the server."""

    code: int
    diagnostic: str


Response = Entry | Reference | Result


def bind_request(message_id: int, dn: str, password: str) -> bytes:
    """Raises ValueError for an empty password with a DN, which servers take for an anonymous bind: RFC 4513 §5.1.2."""
    if dn and not password:
        raise ValueError("expected a password")
    request = BindRequest()
    request["version"] = Version(_VERSION)
    request["name"] = LDAPDN(dn)
    request["authentication"] = AuthenticationChoice().setComponentByName("simple", Simple(password.encode()))
    return _message(message_id, "bindRequest", request)


def search_request(  # members of SearchRequest
    message_id: int, *, base: str, filter_text: str, attributes: Sequence[str], most: int, seconds: int
) -> bytes:
    """Return the search of a whole subtree for at most `most` entries; raises InvalidFilter."""
    try:
        request = search_operation(
            *(base, filter_text, _SUBTREE, _NEVER_DEREFERENCE, list(attributes)),
            *(most, seconds, False, False, False),
        )
        return _message(message_id, "searchRequest", request)
    except _MALFORMED as error:
        raise InvalidFilter("expected a search filter") from error


def start_tls_request(message_id: int) -> bytes:
    return _message(message_id, "extendedReq", extended_operation(_START_TLS))


def expect_filter(text: str) -> None:
    """Raises InvalidFilter."""
    search_request(1, base="", filter_text=text, attributes=(), most=1, seconds=1)


def response(message: bytes) -> tuple[int, Response]:
    """Return the id of the request that the message answers, and the response; raises LdapUnreachable."""
    try:
        decoded = _DECODE(message)
        return int(decoded["messageID"]), _response(decoded["protocolOp"], decoded["payload"])
    except _MALFORMED as error:
        raise LdapUnreachable("the server sent a malformed message") from error


def _message(message_id: int, name: str, request: Any) -> bytes:
    message = LDAPMessage()
    message["messageID"] = MessageID(message_id)
    message["protocolOp"] = ProtocolOp().setComponentByName(name, request)
    return bytes(_ENCODE(message))


def _response(operation: int, payload: Any) -> Response:
    if operation == _ENTRY:
        return Entry(_octets(payload[0]).decode(), dict(map(_attribute, payload[1][3])))
    if operation == _REFERENCE:
        return Reference()
    if operation not in _RESULTS:
        raise ValueError("expected a response to bind, search or StartTLS")
    diagnostic = _octets(payload[2]).decode(errors="replace")
    return Result(int(payload[0][3]), diagnostic[:_DIAGNOSTIC_CHARACTERS])


def _attribute(decoded: Any) -> tuple[str, Sequence[bytes]]:
    name, values = decoded[3]
    return _octets(name).decode().lower(), tuple(map(_octets, values[3]))


def _octets(decoded: Any) -> bytes:
    octets = decoded[3]
    if not isinstance(octets, bytes):
        raise TypeError("expected an octet string")
    return octets
