"""LDAP messages in BER: RFC 4511.

ldap3 parses filters and encodes requests. Responses are read here: the decoder of ldap3 has no bound, and takes seconds for
a message of many small values. Its connections are not used either. They block a thread, read without bound, and compare
host names of certificates themselves.
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

from identity.delivery.ldap.errors import LdapTooLarge, LdapUnreachable

_VERSION = 3
_SUBTREE = 2
_NEVER_DEREFERENCE = 0
# Tags: of BER, and those of RFC 4511 §4.2 to §4.12.
_INTEGER, _OCTET_STRING, _SEQUENCE = 0x02, 0x04, 0x30
_ENTRY, _REFERENCE = 0x64, 0x73
# Bind, search and extended operation.
_RESULTS = frozenset({0x61, 0x65, 0x78})
_LONG_FORM = 0x80
_MOST_PARTS = 16

MOST_VALUES = 12_000
"""Of all attributes of an entry together."""

_START_TLS = "1.3.6.1.4.1.1466.20037"
_DIAGNOSTIC_CHARACTERS = 200
# What the encoder does with other texts than filters.
_MALFORMED = (
    *(ValueError, TypeError, LookupError, AttributeError, RecursionError, OverflowError),
    *(LDAPExceptionError, PyAsn1Error),
)

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
    """Return the id of the request that the message answers, and the response; raises LdapUnreachable, LdapTooLarge."""
    try:
        return _response(message)
    except ValueError as error:
        raise LdapUnreachable("the server sent a malformed message") from error


def _message(message_id: int, name: str, request: Any) -> bytes:
    message = LDAPMessage()
    message["messageID"] = MessageID(message_id)
    message["protocolOp"] = ProtocolOp().setComponentByName(name, request)
    return bytes(_ENCODE(message))


def _response(message: bytes) -> tuple[int, Response]:
    whole = _Element.first(message).expect(_SEQUENCE)
    number, operation, *_ = whole.elements(most=_MOST_PARTS)
    message_id = int.from_bytes(number.expect(_INTEGER).content)
    if operation.tag == _REFERENCE:
        return message_id, Reference()
    if operation.tag not in {*_RESULTS, _ENTRY}:
        raise ValueError("expected a response to bind, search or StartTLS")
    parts = operation.elements(most=_MOST_PARTS)
    if operation.tag == _ENTRY:
        dn, attributes = parts
        return message_id, Entry(dn.text, _attributes(attributes.expect(_SEQUENCE)))
    code, _, diagnostic, *_ = parts
    return message_id, Result(int.from_bytes(code.content), diagnostic.text[:_DIAGNOSTIC_CHARACTERS])


def _attributes(attributes: "_Element") -> Mapping[str, Sequence[bytes]]:
    found: dict[str, Sequence[bytes]] = {}
    most = MOST_VALUES
    for attribute in attributes.elements(most=MOST_VALUES):
        name, values = attribute.expect(_SEQUENCE).elements(most=2)
        octets = tuple(value.expect(_OCTET_STRING).content for value in values.elements(most=most))
        most -= len(octets)
        found[name.text.lower()] = octets
    return found


@dataclass(frozen=True, slots=True)
class _Element:
    """An element of BER with a definite length (RFC 4511 §5.1). All that is malformed raises ValueError."""

    tag: int
    octets: bytes = field(repr=False)
    start: int
    stop: int

    @classmethod
    def first(cls, octets: bytes) -> "_Element":
        return cls._at(octets, 0, len(octets))

    @property
    def content(self) -> bytes:
        return self.octets[self.start : self.stop]

    @property
    def text(self) -> str:
        return self.expect(_OCTET_STRING).content.decode()

    def expect(self, tag: int) -> "_Element":
        if self.tag != tag:
            raise ValueError("expected another element")
        return self

    def elements(self, *, most: int) -> Sequence["_Element"]:
        """Return the elements in this one; raises LdapTooLarge for more than `most`."""
        found: list[_Element] = []
        at = self.start
        while at < self.stop:
            if len(found) >= most:
                raise LdapTooLarge(f"the server returned an entry with more values than {MOST_VALUES}")
            found.append(self._at(self.octets, at, self.stop))
            at = found[-1].stop
        return found

    @classmethod
    def _at(cls, octets: bytes, at: int, end: int) -> "_Element":
        if at + 2 > end:
            raise ValueError("expected tag and length")
        length, start = octets[at + 1], at + 2
        if length & _LONG_FORM:
            start += length ^ _LONG_FORM
            length = int.from_bytes(octets[at + 2 : start])
        if start + length > end:
            raise ValueError("expected more content")
        return cls(octets[at], octets, start, start + length)
