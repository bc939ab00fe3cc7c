"""Which records belong to the data of one person, and how they are found.

`SECTIONS` lists the kinds that an export contains; `identity.records` adds those of applications. `LEFT_OUT` lists the other kinds that name a person, each with the
reason. A test compares both with all kinds.
"""

from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from types import NoneType
from typing import Any, Final, NewType, get_args, get_type_hints

from identity.access.backchannel import BACKCHANNEL_REQUESTS
from identity.access.device import DEVICES
from identity.access.sessions.session import SESSIONS
from identity.access.tokens.token_set import TOKEN_SETS
from identity.authentication.one_time_codes.factors import CODE_FACTORS
from identity.authentication.passkeys.passkey import PASSKEYS
from identity.directory.authorization import AUTHORIZATIONS, OwnerType, owner_text
from identity.directory.consents.consent import CONSENTS
from identity.directory.consents.support_access import SUPPORT_ACCESSES
from identity.directory.images.image import IMAGES, ImageKind, Owner
from identity.directory.links.link import LINKS, Usage
from identity.directory.links.links import holder_of
from identity.directory.provider import PROVIDER_LINKS
from identity.directory.tenants.ldap_directory import LDAP_LINKS
from identity.directory.terms_of_use.terms import TERMS_ACCEPTANCES
from identity.directory.user import USERS, UserId
from identity.foundation.events.event import EVENTS
from identity.people.notices.places import SIGN_IN_PLACES
from server.platform.call import TenantId
from server.platform.records import Kind, RecordStore

Texts = Callable[[UserId], tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class ById:
    """The record has the id of the user."""


@dataclass(frozen=True, slots=True)
class ByField:
    """The records have one of these texts in a lookup field."""

    field: str = "user_id"
    texts: Texts = lambda user_id: (user_id,)


@dataclass(frozen=True, slots=True)
class ByIds:
    """The records have ids that `ids` makes of the user, as far as they exist."""

    ids: Callable[[RecordStore, TenantId, UserId], Awaitable[Collection[str]]]


@dataclass(frozen=True, slots=True)
class ByReading:
    """No lookup finds the records: all records of the tenant are read."""


Lookup = ById | ByField | ByIds | ByReading


@dataclass(frozen=True, slots=True)
class Section:
    """Records of one kind in the export, under `name`.

    Secrets are never exported: fields that `repr` leaves out, and sealed ones. `hidden` are further fields that are left
    out, such as hashes and ids of other people. `shown` are fields that are exported although `repr` leaves them out.
    """

    name: str
    kind: Kind[Any]
    lookup: Lookup = ByField()
    hidden: frozenset[str] = frozenset()
    shown: frozenset[str] = frozenset()


def section(
    kind: Kind[Any], lookup: Lookup | None = None, *hidden: str, name: str = "", shown: Collection[str] = ()
) -> Section:
    return Section(name or kind.name, kind, lookup or ByField(), frozenset(hidden), frozenset(shown))


_OF_SESSION: Final = (
    *("id", "browser_state", "impersonator", "impersonator_sid", "impersonator_id", "impersonated_id"),
)

SECTIONS: Final = (
    section(USERS, ById(), "attempt"),
    section(CODE_FACTORS, ById(), "sealed_under"),
    section(PASSKEYS, None, "owned_name"),
    section(PROVIDER_LINKS),
    section(LDAP_LINKS),
    section(SESSIONS, None, *_OF_SESSION),
    # The network address is that of the support person.
    section(
        SESSIONS,
        ByField("impersonated_id"),
        *(*_OF_SESSION, "user_id", "peer_address"),
        name="session_with_support",
    ),
    # The session belongs to another user, whom the support person helped.
    section(
        SESSIONS,
        ByField("impersonator_id"),
        *(*_OF_SESSION, "sid", "user_id", "authentication", "clients"),
        *("upstream_sub", "upstream_sid", "provider_id", "held", "postponed_terms"),
        name="session_as_support",
    ),
    section(TOKEN_SETS, None, "refresh_token_hash", "previous_refresh_token_hash", "impersonator"),
    section(DEVICES),
    section(BACKCHANNEL_REQUESTS, None, "id"),
    section(CONSENTS, None, "pair"),
    section(TERMS_ACCEPTANCES),
    section(SUPPORT_ACCESSES, ById()),
    section(SIGN_IN_PLACES, ById(), "devices"),
    section(
        IMAGES, ByField("owner", lambda user_id: (str(Owner(ImageKind.USER, user_id)),)), shown=("content",)
    ),
    section(
        LINKS,
        ByField("holder", lambda user_id: tuple(holder_of(user_id, usage) for usage in Usage)),
        *("id", "holder", "binding"),
    ),
    section(AUTHORIZATIONS, ByField("owner", lambda user_id: (owner_text(OwnerType.USER, user_id),))),
    section(EVENTS, ByReading()),
)

_SIGN_IN: Final = "belongs to a sign-in that has not ended, and expires within an hour"
_QUEUED: Final = "is queued, and removed when it is delivered or after a day"

LEFT_OUT: Final[Mapping[str, str]] = {
    "authorization_code": _SIGN_IN,
    "authorization_request": _SIGN_IN,
    "ceremony": _SIGN_IN,
    "code_question": _SIGN_IN,
    "device_code": _SIGN_IN,
    "logout_request": _SIGN_IN,
    "modification_token": _SIGN_IN,
    "pending_link": _SIGN_IN,
    "upstream_login": _SIGN_IN,
    "back_channel_logout": _QUEUED,
    "reset_request": _QUEUED,
    "account_failures": "is stored under a keyed hash of the account, and expires by itself",
    "address_failures": "counts failures of a network address, whoever used it, and expires by itself",
    "pushed_request": _SIGN_IN,
    "queued_letter": "is encrypted, and removed when the mail is sent or after a day",
    "erasure": "names a deleted account, and nobody any more when it is completed",
    "setup": "names the first administrator of the deployment; the account itself is exported",
}
"""Kinds of records that name a person and are not exported, with the reason."""

_PERSONAL: Final = frozenset({"user_id", "email", "peer_address", "ip", "impersonator_id", "address"})


def names_person(kind: Kind[Any]) -> bool:
    """Whether records of a kind name a person: by a declared owner, by an id of a user, or by an address."""
    is_owned = any(owner.kind == USERS.name for owner in kind.owners)
    return is_owned or any(name in _PERSONAL or hint is UserId for name, hint in _fields(kind.type))


def _fields(record: type) -> Iterator[tuple[str, object]]:
    """Yield names and types of the fields of a record, and of the dataclasses in it."""
    waiting, seen = [record], {record}
    while waiting:
        current = waiting.pop()
        hints = get_type_hints(current)
        for each in fields(current):
            hint = hints[each.name]
            yield each.name, hint
            for part in _parts(hint):
                if is_dataclass(part) and isinstance(part, type) and part not in seen:
                    seen.add(part)
                    waiting.append(part)


def _parts(hint: object) -> Iterator[object]:
    while isinstance(hint, NewType):
        hint = hint.__supertype__
    if hint not in (NoneType, Ellipsis):
        yield hint
    for each in get_args(hint):
        yield from _parts(each)
