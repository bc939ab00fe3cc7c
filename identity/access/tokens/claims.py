"""Standard claims about users, one row each: OpenID Connect Core 1.0 §5.1, §5.4.

A deployment can add rows. Claims of the protocol itself are not in this table, and no row may hide one.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum

import msgspec

from identity.directory.user import User
from identity.foundation.vocabulary import Scope


class Document(StrEnum):
    """Kind of document with claims; ID token and userinfo have their names in the claims parameter (§5.5)."""

    ACCESS_TOKEN = "access_token"  # noqa: S105  # a kind of document
    ID_TOKEN = "id_token"  # noqa: S105  # a kind of document
    USER_INFO = "userinfo"


_ABOUT_PEOPLE = frozenset({Document.ID_TOKEN, Document.USER_INFO})
_EVERYWHERE = frozenset(Document)
_USER_INFO = frozenset({Document.USER_INFO})


@dataclass(frozen=True, slots=True)
class ClaimRule:
    """`scope` is the scope that opens the claim, empty for every scope; None and empty values are left out.

    A value that `is_path` is a path below the issuer. One that `names_account` contains the user id, so clients with
    pairwise subjects do not get it.
    """

    name: str
    scope: str
    documents: frozenset[Document]
    value: Callable[[User], object]
    is_path: bool = False
    names_account: bool = False

    def is_open(self, document: Document, oauth_scopes: Collection[str], requested: Collection[str]) -> bool:
        is_named = self.name in requested and document in _ABOUT_PEOPLE
        return document in self.documents and (not self.scope or self.scope in oauth_scopes or is_named)


def person_claims(
    user: User,
    document: Document,
    *,
    issuer: str,
    subject: str,
    oauth_scopes: Collection[str],
    requested: Collection[str] = (),
    rules: tuple[ClaimRule, ...],
) -> dict[str, object]:
    """Return the claims of a document that the scopes and the claims parameter open.

    `subject` is the user's subject in the document.
    """
    is_pairwise = subject != user.user_id
    found = [
        (rule, rule.value(user))
        for rule in rules
        if rule.is_open(document, oauth_scopes, requested) and not (is_pairwise and rule.names_account)
    ]
    return {
        rule.name: f"{issuer}{value}" if rule.is_path else value
        for rule, value in found
        if value not in (None, "")
    }


def requested_claims(parameter: str, document: Document) -> frozenset[str]:
    """Return the claims that a valid claims parameter requests for a document: §5.5."""
    if not parameter:
        return frozenset()
    asked = msgspec.json.decode(parameter, type=dict[str, object])
    members = asked.get(document.value)
    return frozenset(members) if isinstance(members, dict) else frozenset()


def _of_value(name: str) -> Callable[[User], object]:
    return lambda user: user.values.get(name)


def _name(user: User) -> str:
    return f"{user.given_name} {user.family_name}".strip()


def _updated_at(user: User) -> int | None:
    return int(user.changed_at.timestamp()) if user.changed_at else None


def _address(user: User) -> Mapping[str, str] | None:
    members = ("street_address", "locality", "postal_code", "country")
    address = {member: user.values[member] for member in members if user.values.get(member)}
    return {"formatted": "\n".join(address.values())} | address if address else None


def _has_phone(user: User) -> bool | None:
    return False if user.values.get("phone_number") else None


def _has_second_factor(user: User) -> bool:
    return user.has_second_factor


PERSON_CLAIMS: tuple[ClaimRule, ...] = (
    ClaimRule("id", "", _USER_INFO, lambda user: user.user_id, names_account=True),
    ClaimRule("roles", "", _EVERYWHERE, lambda user: user.roles),
    ClaimRule("mfa_enabled", "", _USER_INFO, _has_second_factor),
    ClaimRule("groups", Scope.GROUPS, _EVERYWHERE, lambda user: user.groups),
    ClaimRule("email", Scope.EMAIL, _EVERYWHERE, lambda user: user.email),
    ClaimRule("email_verified", Scope.EMAIL, _EVERYWHERE, lambda user: user.is_email_verified),
    ClaimRule("name", Scope.PROFILE, _ABOUT_PEOPLE, _name),
    ClaimRule("given_name", Scope.PROFILE, _ABOUT_PEOPLE, lambda user: user.given_name),
    ClaimRule("family_name", Scope.PROFILE, _ABOUT_PEOPLE, lambda user: user.family_name),
    ClaimRule("preferred_username", Scope.PROFILE, _ABOUT_PEOPLE, lambda user: user.preferred_username),
    ClaimRule("locale", Scope.PROFILE, _ABOUT_PEOPLE, lambda user: user.language),
    ClaimRule("birthdate", Scope.PROFILE, _ABOUT_PEOPLE, _of_value("birthdate")),
    ClaimRule("zoneinfo", Scope.PROFILE, _ABOUT_PEOPLE, _of_value("zoneinfo")),
    ClaimRule(
        "picture",
        Scope.PROFILE,
        _ABOUT_PEOPLE,
        lambda user: user.picture_path,
        is_path=True,
        names_account=True,
    ),
    ClaimRule("updated_at", Scope.PROFILE, _ABOUT_PEOPLE, _updated_at),
    ClaimRule("address", Scope.ADDRESS, _ABOUT_PEOPLE, _address),
    ClaimRule("phone_number", Scope.PHONE, _ABOUT_PEOPLE, _of_value("phone_number")),
    ClaimRule("phone_number_verified", Scope.PHONE, _ABOUT_PEOPLE, _has_phone),
)
