"""The complete description of a client that an administrator submits, and its validation."""

from collections.abc import Collection
from dataclasses import dataclass, replace

import msgspec

from identity.access.client_authentication.certificates import expect_name
from identity.access.tokens.custom_claims import RESERVED
from identity.clients.fields import RecordFields
from identity.clients.sectors import expect_sector
from identity.crypto.jose.encryption import keys_for
from identity.crypto.jose.public_keys import RefusedJwk, expect_key_set, parse_key_set
from identity.crypto.signed_jwt import CLIENT_ALGORITHMS, FAPI_ALGORITHMS
from identity.delivery.http.destinations import Destinations
from identity.delivery.http.registered_uris import (
    expect_algorithm,
    expect_origins,
    expect_reachable,
    expect_redirect_uris,
    expect_request_uris,
    expect_resources,
    expect_safe_uri,
    expect_same_origin,
)
from identity.directory.client import Client
from identity.directory.clients import LONGEST_ACCESS_TOKEN, LONGEST_CODE, SIGNING_ALGORITHMS
from identity.foundation.vocabulary import (
    KEY_METHODS,
    SECRET_METHODS,
    AuthenticationMethod,
    GrantType,
    Permission,
    SecurityProfile,
    SubjectType,
    TokenDeliveryMode,
)
from server.platform.errors import InvalidArgument

_WITHOUT_REDIRECTS = frozenset({GrantType.DEVICE_CODE, GrantType.CIBA})
_CONFIDENTIAL_ONLY = (
    GrantType.CLIENT_CREDENTIALS,
    GrantType.TOKEN_EXCHANGE,
    GrantType.JWT_BEARER,
    GrantType.CIBA,
)
_NEED_KEYS = frozenset(
    {AuthenticationMethod.PRIVATE_KEY_JWT, AuthenticationMethod.SELF_SIGNED_TLS_CLIENT_AUTH}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientChange:
    """Fields of a client's record that are missing in `fields` stay unchanged; permissions follow `oauth_scopes`.

    Without `method` a confidential client authenticates with a secret, unless it has keys.
    """

    id: str
    is_confidential: bool
    method: AuthenticationMethod | None
    fields: RecordFields

    def of(self, client: Client) -> Client:
        """Return the client with the fields of this change, unchecked."""
        return replace(client, **self.fields)

    def method_of(self, client: Client) -> AuthenticationMethod:
        """Return the method by which the client authenticates at the token endpoint."""
        if self.method is not None:
            return self.method
        if _has_keys(self.of(client)):
            return AuthenticationMethod.PRIVATE_KEY_JWT
        if not self.is_confidential:
            return AuthenticationMethod.NONE
        before = client.token_endpoint_auth_method
        return before if before in SECRET_METHODS else AuthenticationMethod.CLIENT_SECRET_BASIC

    def lacks_secret(self, client: Client) -> bool:
        """Whether the change makes it necessary to generate a secret."""
        return self.method_of(client) in SECRET_METHODS and client.secret_hash is None

    def given(self, client: Client) -> Collection[Permission]:
        """Return the permissions that the change adds to the client's scopes."""
        oauth_scopes = self.of(client).oauth_scopes
        return {
            permission
            for permission in Permission
            if permission in oauth_scopes and permission not in client.oauth_scopes
        }

    def gives_credentials(self, client: Client) -> bool:
        """Whether the caller knows credentials of the client after this change."""
        after = self.of(client)
        has_new_keys = _has_keys(after) and (after.jwks, after.jwks_uri) != (client.jwks, client.jwks_uri)
        is_renamed = after.certificate_name not in {None, client.certificate_name}
        return has_new_keys or is_renamed or self.lacks_secret(client)


def changed(client: Client, change: ClientChange, destinations: Destinations) -> Client:
    """Return the changed client; raises InvalidArgument."""
    after = change.of(client)
    _expect_addresses(after)
    _expect_subjects(after)
    _expect_reachable(client, after, destinations)
    _expect_flows(change, after)
    _expect_scopes(after)
    _expect_claims(after)
    _expect_method(change, after)
    _expect_certificates(change, after)
    _expect_profile(change.method_of(client), after)
    _expect_keys(change, after)
    _expect_signatures(after)
    _expect_encryption(after)
    _expect_notifications(after)
    return replace(
        _authenticated(after, change.method_of(client)), permissions=_permissions(client, change, after)
    )


def _has_keys(client: Client) -> bool:
    return bool(client.jwks or client.jwks_uri)


def _authenticated(client: Client, method: AuthenticationMethod) -> Client:
    if method in SECRET_METHODS:
        return replace(client, token_endpoint_auth_method=method)
    return replace(
        client,
        token_endpoint_auth_method=method,
        secret_hash=None,
        previous_secret_hash=None,
        previous_secret_until=0,
    )


def _expect_addresses(after: Client) -> None:
    expect_redirect_uris("redirect_uris", after.redirect_uris)
    expect_redirect_uris("post_logout_redirect_uris", after.post_logout_redirect_uris)
    expect_origins("allowed_origins", after.allowed_origins)
    expect_resources("allowed_resources", after.allowed_resources)
    expect_safe_uri("backchannel_logout_uri", after.backchannel_logout_uri)
    expect_safe_uri("client_uri", after.client_uri)
    expect_safe_uri("jwks_uri", after.jwks_uri)
    expect_safe_uri("sector_identifier_uri", after.sector_identifier_uri)
    expect_safe_uri("frontchannel_logout_uri", after.frontchannel_logout_uri)
    expect_same_origin("frontchannel_logout_uri", after.frontchannel_logout_uri, after.redirect_uris)
    expect_safe_uri(
        "backchannel_client_notification_endpoint", after.backchannel_client_notification_endpoint
    )
    expect_safe_uri("policy_uri", after.policy_uri)
    expect_safe_uri("tos_uri", after.tos_uri)
    expect_request_uris("request_uris", after.request_uris)


def _expect_reachable(client: Client, after: Client, destinations: Destinations) -> None:
    """Check addresses that the provider connects to. An address that the client already has is not checked again."""
    if after.jwks_uri != client.jwks_uri:
        expect_reachable("jwks_uri", after.jwks_uri, destinations)
    if after.sector_identifier_uri != client.sector_identifier_uri:
        expect_reachable("sector_identifier_uri", after.sector_identifier_uri, destinations)
    if after.backchannel_logout_uri != client.backchannel_logout_uri:
        expect_reachable("backchannel_logout_uri", after.backchannel_logout_uri, destinations)
    endpoint = after.backchannel_client_notification_endpoint
    if endpoint != client.backchannel_client_notification_endpoint:
        expect_reachable("backchannel_client_notification_endpoint", endpoint, destinations)
    for uri in set(after.request_uris) - set(client.request_uris):
        expect_reachable("request_uris", uri, destinations)


def _expect_subjects(after: Client) -> None:
    expect_sector(after.subject_type, after.sector_identifier_uri, after.redirect_uris)
    if after.subject_type is SubjectType.PAIRWISE and not _WITHOUT_REDIRECTS.isdisjoint(after.grant_types):
        # Any client can name the redirect URIs of a sector. Only a client that receives codes there belongs to it.
        raise InvalidArgument(
            "subject_type: pairwise excludes the device grant and CIBA, which use no redirect URI"
        )


def _expect_certificates(change: ClientChange, after: Client) -> None:
    method = change.method
    if (method is AuthenticationMethod.TLS_CLIENT_AUTH) is (after.certificate_name is None):
        # RFC 8705 §2.1.2: exactly one.
        raise InvalidArgument(
            "tls_client_auth_subject_dn: expected a subject or a SAN for tls_client_auth, and only for it"
        )
    if after.certificate_name is not None:
        expect_name(after.certificate_name)
    if after.requires_certificate and not change.is_confidential:
        # The refresh tokens of a public client would have to be bound, too: RFC 8705 §4.
        raise InvalidArgument("tls_client_certificate_bound_access_tokens: expected a confidential client")


def _expect_profile(method: AuthenticationMethod, after: Client) -> None:
    """Refuse settings that the client's security profile would override."""
    profile = after.security_profile
    if profile is SecurityProfile.NONE:
        return
    if method not in KEY_METHODS:
        raise InvalidArgument(
            f"token_endpoint_auth_method: {profile} expects one of {', '.join(sorted(KEY_METHODS))}"
        )
    if profile is SecurityProfile.FAPI_2_MESSAGE_SIGNING and not (after.jwks or after.jwks_uri):
        raise InvalidArgument(f"jwks, jwks_uri: {profile} expects one of them, for signed requests")
    if after.authorization_code_lifetime > LONGEST_CODE:
        raise InvalidArgument(f"auth_code_lifetime: {profile} expects 60 seconds at most")
    if after.access_token_lifetime > LONGEST_ACCESS_TOKEN:
        raise InvalidArgument(f"access_token_lifetime: {profile} expects 3600 seconds at most")
    _expect_profile_algorithms(after)


def _expect_profile_algorithms(after: Client) -> None:
    for member, algorithm in (
        ("access_token_signed_response_alg", after.access_token_signed_response_alg),
        ("id_token_signed_response_alg", after.id_token_signed_response_alg),
        ("userinfo_signed_response_alg", after.userinfo_signed_response_alg),
    ):
        if algorithm is not None and algorithm not in SIGNING_ALGORITHMS:
            raise InvalidArgument(f"{member}: {after.security_profile} expects ES256 or EdDSA")
    for member, name in (
        ("token_endpoint_auth_signing_alg", after.token_endpoint_auth_signing_alg),
        ("request_object_signing_alg", after.request_object_signing_alg),
        (
            "backchannel_authentication_request_signing_alg",
            after.backchannel_authentication_request_signing_alg,
        ),
    ):
        if name and name not in FAPI_ALGORITHMS:
            permitted = ", ".join(FAPI_ALGORITHMS)
            raise InvalidArgument(f"{member}: {after.security_profile} expects one of {permitted}")


def _expect_method(change: ClientChange, after: Client) -> None:
    method = change.method
    if method is None:
        return
    if change.is_confidential is (method is AuthenticationMethod.NONE):
        raise InvalidArgument(
            "token_endpoint_auth_method: expected none for a public client, and only for one"
        )
    if method in _NEED_KEYS and not _has_keys(after):
        raise InvalidArgument(f"token_endpoint_auth_method: {method} needs jwks or jwks_uri")


def _expect_signatures(after: Client) -> None:
    """Check keys, assertions and signed authorization requests of the client."""
    for member, algorithm in (
        ("token_endpoint_auth_signing_alg", after.token_endpoint_auth_signing_alg),
        ("request_object_signing_alg", after.request_object_signing_alg),
        (
            "backchannel_authentication_request_signing_alg",
            after.backchannel_authentication_request_signing_alg,
        ),
    ):
        expect_algorithm(member, algorithm, CLIENT_ALGORITHMS)
    if after.backchannel_authentication_request_signing_alg and not _has_keys(after):
        raise InvalidArgument("backchannel_authentication_request_signing_alg: expected jwks or jwks_uri")
    if after.requires_signed_request and not _has_keys(after):
        raise InvalidArgument("require_signed_request_object: expected jwks or jwks_uri")


def _expect_encryption(after: Client) -> None:
    for document, alg, enc in (
        ("id_token", after.id_token_encrypted_response_alg, after.id_token_encrypted_response_enc),
        ("userinfo", after.userinfo_encrypted_response_alg, after.userinfo_encrypted_response_enc),
        (
            "authorization",
            after.authorization_encrypted_response_alg,
            after.authorization_encrypted_response_enc,
        ),
    ):
        member = f"{document}_encrypted_response_alg"
        if alg is None and enc is not None:
            raise InvalidArgument(f"{member}: expected an algorithm of the key beside one of the content")
        if alg is None or after.jwks_uri:
            continue
        if not keys_for(parse_key_set(after.jwks), alg):
            raise InvalidArgument(f"{member}: expected a key for {alg} in jwks, or jwks_uri")


def _expect_notifications(after: Client) -> None:
    is_ping = after.backchannel_token_delivery_mode is TokenDeliveryMode.PING
    if is_ping and not after.backchannel_client_notification_endpoint:
        raise InvalidArgument("backchannel_client_notification_endpoint: expected an address for ping")


def _expect_keys(change: ClientChange, after: Client) -> None:
    if not _has_keys(after):
        return
    # A public client uses keys only for signed requests, so the caller must set the method explicitly.
    if not change.is_confidential and change.method is None:
        raise InvalidArgument("jwks, jwks_uri: expected a confidential client")
    if after.jwks and after.jwks_uri:
        # RFC 7591 §2.
        raise InvalidArgument("jwks, jwks_uri: expected one of them")
    if after.jwks:
        try:
            expect_key_set(after.jwks)
        except RefusedJwk as error:
            raise InvalidArgument(f"jwks: {error}") from error


def _expect_flows(change: ClientChange, after: Client) -> None:
    if change.is_confidential:
        return
    # RFC 6749 §4.4: only a confidential client gets tokens in its own name. RFC 8693 §5: a stolen token is worth more
    # to a client that needs no proof, and so is an assertion. CIBA Core 1.0 §7.1: a client that asks a user who is
    # elsewhere authenticates. RFC 9700 §2.1.1: a public client needs PKCE.
    for grant_type in _CONFIDENTIAL_ONLY:
        if grant_type in after.grant_types:
            raise InvalidArgument(f"flows_enabled: {grant_type} needs a confidential client")
    if not after.requires_pkce:
        raise InvalidArgument("challenges: expected S256 for a public client")


def _permissions(client: Client, change: ClientChange, after: Client) -> tuple[Permission, ...]:
    """Return the client's own permissions: with those of new scopes, without those of removed ones.

    A configured scope that applies to tokens of users only stays limited to them.
    """
    own = {*client.permissions, *change.given(client)}
    return tuple(
        permission for permission in Permission if permission in own and permission in after.oauth_scopes
    )


def _expect_scopes(after: Client) -> None:
    if not set(after.default_scopes) <= set(after.oauth_scopes):
        raise InvalidArgument("default_scopes: expected some of scopes")


def _expect_claims(after: Client) -> None:
    if not after.claims:
        return
    try:
        claims = msgspec.json.decode(after.claims, type=dict[str, object])
    except (msgspec.DecodeError, RecursionError) as error:
        raise InvalidArgument("claims: expected a JSON object") from error
    if after.claims_at_root and not RESERVED.isdisjoint(claims):
        raise InvalidArgument("claims: at the root expected none of the provider's own claims, found one")
