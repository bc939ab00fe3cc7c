"""Validation of the fields of an upstream provider."""

import re
from collections.abc import Collection

from identity.administration.saml_checks import expect_no_saml, expect_saml_provider
from identity.authentication.federation.lookup import METHODS
from identity.delivery.http.destinations import Destinations
from identity.delivery.http.registered_uris import expect_reachable, expect_safe_uri
from identity.directory.provider import ProviderFields, ProviderType
from identity.foundation.vocabulary import AuthenticationMethod, Scope
from identity.people import names
from server.platform.errors import InvalidArgument

# RFC 6749 §3.3.
_SCOPE = re.compile(r"[\x21\x23-\x5b\x5d-\x7e]{1,128}")
_DOMAIN = re.compile(r"([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9-]{2,63}")
_WHERE_WE_ARE_KNOWN = ("issuer", "token_endpoint")


def expect_provider(fields: ProviderFields, *, roles: Collection[str], groups: Collection[str]) -> None:
    """Raise InvalidArgument; `roles` and `groups` are the existing names."""
    if fields.type is ProviderType.SAML:
        expect_saml_provider(fields)
    else:
        _expect_openid_provider(fields)
    _expect_claims(fields)
    for mapping in fields.mappings:
        names.among(mapping.roles, roles, what="mappings: roles")
        names.among(mapping.groups, groups, what="mappings: groups")


def _expect_openid_provider(fields: ProviderFields) -> None:
    expect_no_saml(fields)
    if not fields.client_id:
        raise InvalidArgument("client_id: expected the id of the client at the provider")
    for member in ("issuer", "authorization_endpoint", "token_endpoint"):
        if not getattr(fields, member):
            raise InvalidArgument(f"{member}: expected an https address")
    for member in (
        *("issuer", "authorization_endpoint", "token_endpoint"),
        *("userinfo_endpoint", "jwks_endpoint"),
    ):
        expect_safe_uri(member, getattr(fields, member))
    _expect_issuer(fields)
    _expect_profile(fields)
    if fields.token_endpoint_auth_method not in METHODS:
        raise InvalidArgument("expected client_secret_basic, client_secret_post or neither")
    if not all(map(_SCOPE.fullmatch, fields.oauth_scopes)):
        raise InvalidArgument("scope: expected scopes separated by spaces")
    if fields.workspace_domain and _DOMAIN.fullmatch(fields.workspace_domain) is None:
        raise InvalidArgument("workspace_domain: expected a domain in lower case")


def expect_reachable_endpoints(
    fields: ProviderFields, destinations: Destinations, *, before: ProviderFields | None = None
) -> None:
    """Expect addresses that the server may connect to; unchanged ones may stay. Raises InvalidArgument."""
    for member in ("token_endpoint", "userinfo_endpoint", "jwks_endpoint"):
        uri = getattr(fields, member)
        if before is None or uri != getattr(before, member):
            expect_reachable(member, uri, destinations)
    emails = _emails_endpoint(fields)
    if before is None or emails != _emails_endpoint(before):
        expect_reachable("profile: emails_endpoint", emails, destinations)


def _emails_endpoint(fields: ProviderFields) -> str:
    return "" if fields.profile is None else fields.profile.emails_endpoint


def _expect_profile(fields: ProviderFields) -> None:
    expect_safe_uri("profile: emails_endpoint", _emails_endpoint(fields))
    if fields.profile is not None and not fields.userinfo_endpoint:
        raise InvalidArgument("userinfo_endpoint: expected an https address, with profile")
    if fields.profile is not None and not fields.profile.subject_claim:
        raise InvalidArgument("profile: expected a subject_claim")
    if fields.signed_secret is None:
        return
    if not (fields.signed_secret.team_id and fields.signed_secret.key_id):
        raise InvalidArgument("signed_secret: expected team_id and key_id")
    if not needs_secret(fields):
        raise InvalidArgument("signed_secret: expected client_secret_basic or client_secret_post")


def _expect_claims(fields: ProviderFields) -> None:
    if bool(fields.mfa_claim) is not bool(fields.mfa_value):
        raise InvalidArgument("mfa_claim_path: expected one together with mfa_claim_value")


def is_known_elsewhere(before: ProviderFields, after: ProviderFields) -> bool:
    """Whether the change would send our client secret to another server than the one that issued it.

    A private key is no secret to send, and the other way round.
    """
    is_another_kind = (before.signed_secret is None) is not (after.signed_secret is None)
    return is_another_kind or any(
        getattr(before, member) != getattr(after, member) for member in _WHERE_WE_ARE_KNOWN
    )


def needs_secret(fields: ProviderFields) -> bool:
    return fields.token_endpoint_auth_method is not AuthenticationMethod.NONE


def _expect_issuer(fields: ProviderFields) -> None:
    # OpenID Connect Discovery 1.0 §3.
    if "?" in fields.issuer:
        raise InvalidArgument("issuer: expected an address without query")
    if fields.type is ProviderType.GITHUB or fields.profile is not None:
        return
    # GitHub issues no ID tokens. For most others an ID token identifies the user, so keys and `openid` are needed.
    if not fields.jwks_endpoint:
        raise InvalidArgument("jwks_endpoint: expected an https address")
    if Scope.OPENID not in fields.oauth_scopes:
        raise InvalidArgument("scope: expected openid among them")
