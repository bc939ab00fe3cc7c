"""Client metadata of dynamic registration: RFC 7591 §2, OpenID Connect Dynamic Registration §2.

The metadata does not cover settings of administrators: whether the client is enabled, consent, and token lifetimes.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from identity.clients.changes import ClientChange, changed
from identity.clients.fields import RecordFields
from identity.delivery.http.destinations import Destinations
from identity.delivery.http.registered_uris import expect_redirect_uris
from identity.directory.client import Client
from identity.directory.oauth_scopes import parse
from identity.foundation.absolute_uris import absolute_uri
from identity.foundation.errors import InvalidClientMetadata, InvalidRedirectUri
from identity.foundation.visible_text import is_visible
from identity.foundation.vocabulary import AuthenticationMethod, GrantType, Scope, SubjectType
from server.platform.errors import InvalidArgument

_WEB = frozenset({"http", "https"})
_NEED_REDIRECT_URIS = frozenset({GrantType.AUTHORIZATION_CODE})

# Without client_credentials: anybody can register a client, so it gets no tokens in its own name.
_GRANT_TYPES = frozenset({GrantType.AUTHORIZATION_CODE, GrantType.REFRESH_TOKEN, GrantType.DEVICE_CODE})

# Scopes about users, who are asked for consent. The scope `groups` is given only when the metadata names it.
_GIVEN_SCOPES = (
    *(Scope.OPENID, Scope.PROFILE, Scope.EMAIL, Scope.ADDRESS, Scope.PHONE),
    Scope.OFFLINE_ACCESS,
)

_REQUIREMENTS = ("requires_pushed_request", "requires_dpop", "requires_certificate")

_E = TypeVar("_E", bound=StrEnum)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientMetadata:
    """Metadata as submitted, by the names of the contract; absent members are empty.

    `others` returns the fields of the record for members without a rule of registration. They have the same meaning as
    for an administrator; raises InvalidArgument.
    """

    redirect_uris: tuple[str, ...] = ()
    grant_types: tuple[str, ...] = ()
    response_types: tuple[str, ...] = ()
    token_endpoint_auth_method: str = ""
    client_name: str = ""
    scope: str = ""
    subject_type: str = ""
    application_type: str = ""
    authorization_details_types: tuple[str, ...] = ()
    others: Callable[[], RecordFields]


def described(client: Client, metadata: ClientMetadata, destinations: Destinations) -> Client:
    """Return the client with this metadata; raises InvalidClientMetadata, InvalidRedirectUri."""
    _expect_answers(metadata)
    _expect_name(metadata.client_name)
    try:
        expect_redirect_uris("redirect_uris", metadata.redirect_uris)
    except InvalidArgument as error:
        raise InvalidRedirectUri(error.detail) from error
    try:
        return changed(client, _change(client, metadata), destinations)
    except InvalidArgument as error:
        raise InvalidClientMetadata(error.detail) from error


def _change(client: Client, metadata: ClientMetadata) -> ClientChange:
    method = _one(
        AuthenticationMethod,
        "token_endpoint_auth_method",
        metadata.token_endpoint_auth_method or AuthenticationMethod.CLIENT_SECRET_BASIC,
    )
    is_public = method is AuthenticationMethod.NONE
    oauth_scopes = _scopes(client, metadata)
    asked = metadata.others()
    return ClientChange(
        id=client.id,
        is_confidential=not is_public,
        method=method,
        fields=asked
        | {
            "name": metadata.client_name,
            "redirect_uris": tuple(dict.fromkeys(metadata.redirect_uris)),
            "grant_types": _grant_types(metadata),
            "oauth_scopes": oauth_scopes,
            "default_scopes": tuple(scope for scope in (Scope.OPENID,) if scope in oauth_scopes),
            "requires_pkce": client.requires_pkce or is_public,
            "subject_type": _subject_type(client, metadata),
            "authorization_details_types": metadata.authorization_details_types,
            # A client cannot remove what an administrator requires of it.
            **{name: True for name in _REQUIREMENTS if getattr(client, name)},
        },
    )


def _subject_type(client: Client, metadata: ClientMetadata) -> SubjectType:
    """Return the requested type; a client with pairwise subjects keeps them, or it could find out their users."""
    asked = _one(SubjectType, "subject_type", metadata.subject_type or SubjectType.PUBLIC)
    return SubjectType.PAIRWISE if client.has_pairwise_subjects else asked


def _grant_types(metadata: ClientMetadata) -> frozenset[GrantType]:
    asked = metadata.grant_types or (GrantType.AUTHORIZATION_CODE,)
    grant_types = frozenset(_one(GrantType, "grant_types", name) for name in asked)
    if not grant_types <= _GRANT_TYPES:
        raise InvalidClientMetadata(f"grant_types: expected some of {', '.join(sorted(_GRANT_TYPES))}")
    if grant_types & _NEED_REDIRECT_URIS and not metadata.redirect_uris:
        raise InvalidRedirectUri("redirect_uris: expected one at least for authorization_code")
    return grant_types


def _scopes(client: Client, metadata: ClientMetadata) -> tuple[str, ...]:
    """Return the requested scopes that exist; without any, the present scopes or the default ones."""
    known = {*Scope, *client.oauth_scopes}
    named = tuple(scope for scope in parse(metadata.scope) if scope in known)
    return named or client.oauth_scopes or _GIVEN_SCOPES


def _expect_answers(metadata: ClientMetadata) -> None:
    """Check members for which the provider supports only certain values."""
    for member, found, taken in (
        ("response_types", set(metadata.response_types), {"code"}),
        ("application_type", {metadata.application_type} - {""}, {"web", "native"}),
    ):
        if not found <= taken:
            raise InvalidClientMetadata(f"{member}: expected {' or '.join(sorted(taken))}")
    if metadata.application_type != "native":
        _expect_of_the_web(metadata.redirect_uris)


def _expect_name(client_name: str) -> None:
    """Reject invisible and bidirectional characters, because the consent page shows this name."""
    if not is_visible(client_name):
        raise InvalidClientMetadata("client_name: expected visible characters without bidirectional controls")


def _expect_of_the_web(redirect_uris: Iterable[str]) -> None:
    """Expect http or https; private-use schemes are for native applications: OpenID Connect Dynamic Registration §2."""
    for uri in redirect_uris:
        parts = absolute_uri(uri)
        if parts is not None and parts.scheme not in _WEB:
            raise InvalidRedirectUri("redirect_uris: a private-use scheme needs application_type native")


def _one(words: type[_E], member: str, word: str) -> _E:
    try:
        return words(word)
    except ValueError as error:
        raise InvalidClientMetadata(f"{member}: expected one of {', '.join(words)}") from error
