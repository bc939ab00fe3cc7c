"""What a browser tells people that a client gets, and what it gets by that: FedCM §3.5.

A browser's dialog names fields, and no scope: so nothing but the claims of those fields follows of it.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from identity.clients.client import Client
from identity.clients.scopes import extent_of
from identity.consents.consent import Consent, Terms
from identity.errors import ConsentRequired
from identity.tokens.claims import PERSON_CLAIMS
from identity.vocabulary import ConsentMode, Scope

_CLAIMS = {
    "name": ("name", "given_name", "family_name"),
    "email": ("email", "email_verified"),
    "picture": ("picture",),
}
FIELDS = tuple(_CLAIMS)
"""What pages ask for that name nothing."""

_SCOPES = {rule.name: rule.scope for rule in PERSON_CLAIMS}


@dataclass(frozen=True, slots=True, kw_only=True)
class Disclosure:
    """`fields` are what the page asked for, `told` those of them that the browser told of in this dialog.

    With `is_silent` there was no dialog: the browser chose the account by itself.
    """

    fields: tuple[str, ...] = FIELDS
    told: tuple[str, ...] = ()
    is_silent: bool = False


def terms_of(client: Client, disclosure: Disclosure, consent: Consent | None) -> Terms:
    """Return what the client gets: what an administrator or the person let it have, of what it may.

    Raises ConsentRequired where the person would have to be asked, and was not.
    """
    scopes = tuple(dict.fromkeys((Scope.OPENID, *_always_given(client))))
    claims = tuple(name for name in _claims_of(disclosure.fields) if _SCOPES[name] in client.oauth_scopes)
    if client.consent is ConsentMode.NEVER:
        return Terms(oauth_scopes=scopes, claims=claims)
    if disclosure.is_silent and (consent is None or client.consent is ConsentMode.ALWAYS):
        raise ConsentRequired("the person has not let the client have what it asks for")
    before = consent.terms if consent is not None else Terms(oauth_scopes=())
    told = _claims_of(disclosure.told)
    return Terms(
        oauth_scopes=tuple(name for name in scopes if name in (Scope.OPENID, *before.oauth_scopes)),
        claims=tuple(name for name in claims if name in told or _covers(before, (name,))),
    )


def approval_of(disclosure: Disclosure, granted: Terms) -> Terms:
    """Return what is remembered: that the person signs in there, with what it was told of and what the client got."""
    claims = dict.fromkeys((*granted.claims, *_claims_of(disclosure.told)))
    return Terms(oauth_scopes=(Scope.OPENID,), claims=tuple(claims))


def is_approved(terms: Terms) -> bool:
    """Whether somebody who granted this needs not be told what a client gets."""
    return _covers(terms, _claims_of(FIELDS))


def _covers(terms: Terms, claims: Collection[str]) -> bool:
    return all(name in terms.claims or _SCOPES[name] in terms.oauth_scopes for name in claims)


def _always_given(client: Client) -> tuple[str, ...]:
    given = extent_of(client, without_defaults=()).given
    return tuple(scope for scope in given if scope in client.oauth_scopes)


def _claims_of(fields: Iterable[str]) -> tuple[str, ...]:
    """A field that nobody here knows is none."""
    return tuple(name for field in fields for name in _CLAIMS.get(field, ()))
