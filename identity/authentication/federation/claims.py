"""Claims about a user from an upstream provider, read strictly."""

from collections.abc import Mapping
from dataclasses import dataclass

from identity.authentication.federation.id_token import is_name
from identity.directory.provider import ProviderFields
from identity.foundation.mail_address import mail_address
from identity.foundation.visible_text import visible_name
from identity.foundation.vocabulary import AuthenticationContext

_MAX_NAME_LENGTH = 64

# `fed` is not of RFC 8176: the provider alone knows how the user authenticated.
_FEDERATED, _SEVERAL = "fed", "mfa"


@dataclass(frozen=True, slots=True, kw_only=True)
class UpstreamPerson:
    """`email` is in its stored form, and empty when the provider gives no valid address."""

    sub: str
    sid: str
    email: str
    is_email_verified: bool
    given_name: str
    family_name: str
    roles: frozenset[str]
    groups: frozenset[str]
    used_several_factors: bool


def person_of(claims: Mapping[str, object], fields: ProviderFields) -> UpstreamPerson:
    matched = [mapping for mapping in fields.mappings if _says(claims, mapping.claim, mapping.value)]
    sid = claims.get("sid")
    return UpstreamPerson(
        sub=_text(claims, "sub"),
        sid=str(sid) if is_name(sid) else "",
        email=mail_address(_text(claims, "email")),
        # The text "true" does not count as a boolean.
        is_email_verified=claims.get("email_verified") is True,
        given_name=_name(_text(claims, "given_name")),
        family_name=_name(_text(claims, "family_name")),
        roles=frozenset(role for mapping in matched for role in mapping.roles),
        groups=frozenset(group for mapping in matched for group in mapping.groups),
        used_several_factors=_says(claims, fields.mfa_claim, fields.mfa_value),
    )


def authentication_of(person: UpstreamPerson) -> tuple[tuple[str, ...], AuthenticationContext]:
    """Return `amr` and `acr` of a user whom the provider authenticated."""
    if person.used_several_factors:
        return (_FEDERATED, _SEVERAL), AuthenticationContext.SEVERAL_FACTORS
    return (_FEDERATED,), AuthenticationContext.FEDERATED


def _says(claims: Mapping[str, object], claim: str, expected: str) -> bool:
    value: object = claims
    # A name of an attribute or claim may contain dots, so the whole name is tried first.
    for name in (claim,) if claim in claims else claim.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    return expected in value if isinstance(value, list) else value == expected


def _text(claims: Mapping[str, object], name: str) -> str:
    value = claims.get(name)
    return value if isinstance(value, str) else ""


def _name(text: str) -> str:
    name = visible_name(text)
    return name if name is not None and len(name) <= _MAX_NAME_LENGTH else ""
