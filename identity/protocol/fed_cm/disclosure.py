"""Claims that a client gets through FedCM, and those that the browser's dialog discloses: FedCM §3.5.

The dialog names fields and no scopes, so its consent covers the claims of those fields only.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from identity.access.tokens.claims import PERSON_CLAIMS
from identity.directory.client import Client
from identity.directory.consents.consent import Consent, Terms
from identity.directory.oauth_scopes import extent_of
from identity.foundation.errors import ConsentRequired
from identity.foundation.vocabulary import ConsentMode, Scope

_CLAIMS = {
    "name": ("name", "given_name", "family_name"),
    "email": ("email", "email_verified"),
    "picture": ("picture",),
}
FIELDS = tuple(_CLAIMS)
"""Fields of a request that contains none."""

_SCOPES = {rule.name: rule.scope for rule in PERSON_CLAIMS}


@dataclass(frozen=True, slots=True, kw_only=True)
class Disclosure:
    """`fields` are the requested fields, `told` those of them that the dialog disclosed.

    With `is_silent` there was no dialog: the browser chose the account by itself.
    """

    fields: tuple[str, ...] = FIELDS
    told: tuple[str, ...] = ()
    is_silent: bool = False


def terms_of(client: Client, disclosure: Disclosure, consent: Consent | None) -> Terms:
    """Return the claims for the client: the permitted part of those that an administrator or the user granted.

    Raises ConsentRequired where consent is missing and the browser showed no dialog.
    """
    scopes = tuple(dict.fromkeys((Scope.OPENID, *_always_given(client))))
    claims = tuple(name for name in _claims_of(disclosure.fields) if _SCOPES[name] in client.oauth_scopes)
    if client.consent is ConsentMode.NEVER:
        return Terms(oauth_scopes=scopes, claims=claims)
    if disclosure.is_silent and (consent is None or client.consent is ConsentMode.ALWAYS):
        raise ConsentRequired("the user has not consented to this request")
    before = consent.terms if consent is not None else Terms(oauth_scopes=())
    told = _claims_of(disclosure.told)
    return Terms(
        oauth_scopes=tuple(name for name in scopes if name in (Scope.OPENID, *before.oauth_scopes)),
        claims=tuple(name for name in claims if name in told or _covers(before, (name,))),
    )


def approval_of(disclosure: Disclosure, granted: Terms) -> Terms:
    """Return the consent to store: sign-in, the disclosed claims and the claims that the client got."""
    claims = dict.fromkeys((*granted.claims, *_claims_of(disclosure.told)))
    return Terms(oauth_scopes=(Scope.OPENID,), claims=tuple(claims))


def is_approved(terms: Terms) -> bool:
    """Whether these terms cover all fields, so that the browser need not disclose them again."""
    return _covers(terms, _claims_of(FIELDS))


def _covers(terms: Terms, claims: Collection[str]) -> bool:
    return all(name in terms.claims or _SCOPES[name] in terms.oauth_scopes for name in claims)


def _always_given(client: Client) -> tuple[str, ...]:
    given = extent_of(client, without_defaults=()).given
    return tuple(scope for scope in given if scope in client.oauth_scopes)


def _claims_of(fields: Iterable[str]) -> tuple[str, ...]:
    """Return the claims of the fields; unknown fields are ignored."""
    return tuple(name for field in fields for name in _CLAIMS.get(field, ()))
