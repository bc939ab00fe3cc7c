"""Fields of a client by the names of the contract and by those of its record.

A new field has one name in both and needs no line here: its type in the record determines the conversion. Times are
in seconds, words of a closed set are texts, and the empty text means the default of the record.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, fields
from datetime import timedelta
from enum import StrEnum
from functools import cache, partial
from operator import attrgetter
from types import NoneType, UnionType
from typing import Any, cast, get_args, get_origin, get_type_hints

from identity.directory.client import CertificateName, CertificateNameType, Client
from server.platform.errors import InvalidArgument

Value = str | bool | int | tuple[str, ...] | None
# By the names of the contract.
Values = Mapping[str, Value]
# By the names of the record.
RecordFields = dict[str, Any]

S256 = "S256"
CERTIFICATE_NAMES: Mapping[str, CertificateNameType] = {
    f"tls_client_auth_{each}": each for each in CertificateNameType
}

_RECORD_NAMES = {
    "enabled": "is_enabled",
    "client_name": "name",
    "flows_enabled": "grant_types",
    "auth_code_lifetime": "authorization_code_lifetime",
    "scopes": "oauth_scopes",
    "force_mfa": "requires_mfa",
    "require_signed_request_object": "requires_signed_request",
    "require_pushed_authorization_requests": "requires_pushed_request",
    "dpop_bound_access_tokens": "requires_dpop",
    "tls_client_certificate_bound_access_tokens": "requires_certificate",
    "fed_cm": "has_fed_cm",
}
# Members that together describe how a client authenticates.
_OF_AUTHENTICATION = frozenset({"id", "confidential", "token_endpoint_auth_method"})
_HINTS = get_type_hints(Client)
_DEFAULTS = {each.name: each.default for each in fields(Client) if each.default is not MISSING}


def record_fields(values: Values) -> RecordFields:
    """Return the fields of the record; raises InvalidArgument for a word that does not exist.

    The id and the members for the client's authentication are left out.
    """
    found: RecordFields = {}
    for member, value in values.items():
        match member:
            case _ if member in _OF_AUTHENTICATION or member in CERTIFICATE_NAMES:
                continue
            case "challenges":
                found["requires_pkce"] = S256 in texts(value)
            case _:
                found[_record_name(member)] = _reader(member)(value)
    if not CERTIFICATE_NAMES.keys().isdisjoint(values):
        found["certificate_name"] = _certificate_name(values)
    return found


def reader_of_record(member: str) -> Callable[[Client], Value]:
    """Return the function that reads a member of the contract from a record."""
    if member == "confidential":
        return lambda client: not client.is_public
    if member == "challenges":
        return lambda client: (S256,) if client.requires_pkce else ()
    if member in CERTIFICATE_NAMES:
        return partial(_certificate_name_shown, CERTIFICATE_NAMES[member])
    read, hint = attrgetter(_record_name(member)), _hint(member)
    if get_origin(hint) is frozenset:
        return lambda client: tuple(sorted(read(client)))
    if hint is timedelta:
        return lambda client: int(read(client).total_seconds())
    return cast("Callable[[Client], Value]", read)


def texts(value: Value) -> tuple[str, ...]:
    return value if isinstance(value, tuple) else ()


def word_of(words: type[StrEnum], member: str, text: str) -> Any:
    """Raises InvalidArgument."""
    try:
        return words(text)
    except ValueError as error:
        raise InvalidArgument(f"{member}: expected one of {', '.join(words)}") from error


def _record_name(member: str) -> str:
    name = _RECORD_NAMES.get(member, member)
    if name not in _HINTS:
        raise TypeError(f"{member}: the record of a client has no field of this name")
    return name


def _hint(member: str) -> Any:
    return _HINTS[_record_name(member)]


@cache
def _reader(member: str) -> Callable[[Value], object]:
    name = _record_name(member)
    hint = _hint(member)
    if get_origin(hint) is frozenset:
        (words,) = get_args(hint)
        return lambda value: _words(words, member, texts(value))
    if get_origin(hint) is tuple:
        return lambda value: tuple(dict.fromkeys(texts(value)))
    kind = _without_none(hint)
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return lambda value: word_of(kind, member, str(value)) if value else _DEFAULTS[name]
    if kind is timedelta:
        return lambda value: timedelta(seconds=cast("int", value))
    if kind in {str, bool, int}:
        return lambda value: value
    raise TypeError(f"{member}: a field of type {hint} has a meaning of its own")


def _without_none(hint: Any) -> Any:
    if get_origin(hint) is not UnionType:
        return hint
    (kind,) = (each for each in get_args(hint) if each is not NoneType)
    return kind


def _words(words: type[StrEnum], member: str, names: Iterable[str]) -> frozenset[StrEnum]:
    try:
        return frozenset(map(words, names))
    except ValueError as error:
        raise InvalidArgument(f"{member}: expected some of {', '.join(words)}") from error


def _certificate_name_shown(kind: CertificateNameType, client: Client) -> str:
    name = client.certificate_name
    return name.value if name is not None and name.type is kind else ""


def _certificate_name(values: Values) -> CertificateName | None:
    names = [
        CertificateName(each, str(value))
        for member, each in CERTIFICATE_NAMES.items()
        if (value := values[member])
    ]
    if len(names) > 1:
        raise InvalidArgument(f"tls_client_auth_{names[1].type}: expected one name at most")
    return names[0] if names else None
