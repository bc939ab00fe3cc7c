"""The complete description of a client that an administrator submits, and its validation."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import timedelta

import msgspec

from identity.access.client_authentication.certificates import expect_name
from identity.access.tokens.custom_claims import RESERVED
from identity.clients.sectors import expect_sector
from identity.crypto.jose.algorithms import SigningAlgorithm
from identity.crypto.jose.public_keys import RefusedJwk, expect_key_set
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
from identity.directory.client import CertificateName, Client
from identity.directory.clients import LONGEST_ACCESS_TOKEN, LONGEST_CODE, SIGNING_ALGORITHMS
from identity.foundation.vocabulary import (
    KEY_METHODS,
    SECRET_METHODS,
    AccessTokenTyp,
    AuthenticationMethod,
    ConsentMode,
    GrantType,
    Permission,
    SecurityProfile,
    SubjectType,
)
from server.platform.errors import InvalidArgument

_NEED_KEYS = frozenset(
    {AuthenticationMethod.PRIVATE_KEY_JWT, AuthenticationMethod.SELF_SIGNED_TLS_CLIENT_AUTH}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientChange:
    """Fields of a client that are missing here stay unchanged; permissions follow `oauth_scopes`.

    Without `token_endpoint_auth_method` a confidential client authenticates with a secret, unless it has keys.
    """

    id: str
    name: str
    is_enabled: bool
    is_confidential: bool
    redirect_uris: tuple[str, ...]
    post_logout_redirect_uris: tuple[str, ...]
    allowed_origins: tuple[str, ...]
    grant_types: frozenset[GrantType]
    access_token_signed_response_alg: SigningAlgorithm
    id_token_signed_response_alg: SigningAlgorithm
    authorization_code_lifetime: timedelta
    access_token_lifetime: timedelta
    oauth_scopes: tuple[str, ...]
    default_scopes: tuple[str, ...]
    requires_pkce: bool
    requires_mfa: bool
    client_uri: str
    contacts: tuple[str, ...]
    backchannel_logout_uri: str
    restrict_group_prefix: str
    allowed_resources: tuple[str, ...]
    default_aud: tuple[str, ...]
    claims: str
    claims_at_root: bool
    consent: ConsentMode
    jwks: str
    jwks_uri: str
    policy_uri: str
    tos_uri: str
    has_fed_cm: bool
    token_endpoint_auth_method: AuthenticationMethod | None = None
    token_endpoint_auth_signing_alg: str = ""
    request_object_signing_alg: str = ""
    requires_signed_request: bool = False
    request_uris: tuple[str, ...] = ()
    userinfo_signed_response_alg: SigningAlgorithm | None = None
    access_token_typ: AccessTokenTyp = AccessTokenTyp.JWT
    requires_pushed_request: bool = False
    requires_dpop: bool = False
    may_act: tuple[str, ...] = ()
    assertion_providers: tuple[str, ...] = ()
    introspection_signed_response_alg: SigningAlgorithm = SigningAlgorithm.RS256
    subject_type: SubjectType = SubjectType.PUBLIC
    sector_identifier_uri: str = ""
    frontchannel_logout_uri: str = ""
    frontchannel_logout_session_required: bool = False
    certificate_name: CertificateName | None = None
    requires_certificate: bool = False
    security_profile: SecurityProfile = SecurityProfile.NONE

    @property
    def has_keys(self) -> bool:
        return bool(self.jwks or self.jwks_uri)

    def method(self, client: Client) -> AuthenticationMethod:
        """Return the method by which the client authenticates at the token endpoint."""
        if self.token_endpoint_auth_method is not None:
            return self.token_endpoint_auth_method
        if self.has_keys:
            return AuthenticationMethod.PRIVATE_KEY_JWT
        if not self.is_confidential:
            return AuthenticationMethod.NONE
        before = client.token_endpoint_auth_method
        return before if before in SECRET_METHODS else AuthenticationMethod.CLIENT_SECRET_BASIC

    def lacks_secret(self, client: Client) -> bool:
        """Whether the change makes it necessary to generate a secret."""
        return self.method(client) in SECRET_METHODS and client.secret_hash is None

    def given(self, client: Client) -> Collection[Permission]:
        """Return the permissions that the change adds to the client's scopes."""
        return {
            permission
            for permission in Permission
            if permission in self.oauth_scopes and permission not in client.oauth_scopes
        }

    def gives_credentials(self, client: Client) -> bool:
        """Whether the caller knows credentials of the client after this change."""
        has_new_keys = self.has_keys and (self.jwks, self.jwks_uri) != (client.jwks, client.jwks_uri)
        is_renamed = self.certificate_name not in {None, client.certificate_name}
        return has_new_keys or is_renamed or self.lacks_secret(client)


def changed(client: Client, change: ClientChange, destinations: Destinations) -> Client:
    """Return the changed client; raises InvalidArgument."""
    _expect_addresses(change)
    _expect_subjects(change)
    _expect_reachable(client, change, destinations)
    _expect_flows(change)
    _expect_scopes(change)
    _expect_claims(change)
    _expect_method(change)
    _expect_certificates(change)
    _expect_profile(client, change)
    _expect_keys(change)
    _expect_signatures(change)
    return replace(
        _authenticated(client, change),
        name=change.name,
        is_enabled=change.is_enabled,
        redirect_uris=change.redirect_uris,
        post_logout_redirect_uris=change.post_logout_redirect_uris,
        allowed_origins=change.allowed_origins,
        grant_types=change.grant_types,
        access_token_signed_response_alg=change.access_token_signed_response_alg,
        id_token_signed_response_alg=change.id_token_signed_response_alg,
        authorization_code_lifetime=change.authorization_code_lifetime,
        access_token_lifetime=change.access_token_lifetime,
        permissions=_permissions(client, change),
        oauth_scopes=change.oauth_scopes,
        default_scopes=change.default_scopes,
        requires_pkce=change.requires_pkce,
        requires_mfa=change.requires_mfa,
        client_uri=change.client_uri,
        contacts=change.contacts,
        backchannel_logout_uri=change.backchannel_logout_uri,
        restrict_group_prefix=change.restrict_group_prefix,
        allowed_resources=change.allowed_resources,
        default_aud=change.default_aud,
        claims=change.claims,
        claims_at_root=change.claims_at_root,
        consent=change.consent,
        jwks=change.jwks,
        jwks_uri=change.jwks_uri,
        policy_uri=change.policy_uri,
        tos_uri=change.tos_uri,
        has_fed_cm=change.has_fed_cm,
        token_endpoint_auth_signing_alg=change.token_endpoint_auth_signing_alg,
        request_object_signing_alg=change.request_object_signing_alg,
        requires_signed_request=change.requires_signed_request,
        request_uris=change.request_uris,
        userinfo_signed_response_alg=change.userinfo_signed_response_alg,
        access_token_typ=change.access_token_typ,
        requires_pushed_request=change.requires_pushed_request,
        requires_dpop=change.requires_dpop,
        may_act=change.may_act,
        assertion_providers=change.assertion_providers,
        introspection_signed_response_alg=change.introspection_signed_response_alg,
        subject_type=change.subject_type,
        sector_identifier_uri=change.sector_identifier_uri,
        frontchannel_logout_uri=change.frontchannel_logout_uri,
        frontchannel_logout_session_required=change.frontchannel_logout_session_required,
        certificate_name=change.certificate_name,
        requires_certificate=change.requires_certificate,
        security_profile=change.security_profile,
    )


def _authenticated(client: Client, change: ClientChange) -> Client:
    method = change.method(client)
    if method in SECRET_METHODS:
        return replace(client, token_endpoint_auth_method=method)
    return replace(
        client,
        token_endpoint_auth_method=method,
        secret_hash=None,
        previous_secret_hash=None,
        previous_secret_until=0,
    )


def _expect_addresses(change: ClientChange) -> None:
    expect_redirect_uris("redirect_uris", change.redirect_uris)
    expect_redirect_uris("post_logout_redirect_uris", change.post_logout_redirect_uris)
    expect_origins("allowed_origins", change.allowed_origins)
    expect_resources("allowed_resources", change.allowed_resources)
    expect_safe_uri("backchannel_logout_uri", change.backchannel_logout_uri)
    expect_safe_uri("client_uri", change.client_uri)
    expect_safe_uri("jwks_uri", change.jwks_uri)
    expect_safe_uri("sector_identifier_uri", change.sector_identifier_uri)
    expect_safe_uri("frontchannel_logout_uri", change.frontchannel_logout_uri)
    expect_same_origin("frontchannel_logout_uri", change.frontchannel_logout_uri, change.redirect_uris)
    expect_safe_uri("policy_uri", change.policy_uri)
    expect_safe_uri("tos_uri", change.tos_uri)
    expect_request_uris("request_uris", change.request_uris)


def _expect_reachable(client: Client, change: ClientChange, destinations: Destinations) -> None:
    """Check addresses that the provider connects to. An address that the client already has is not checked again."""
    if change.jwks_uri != client.jwks_uri:
        expect_reachable("jwks_uri", change.jwks_uri, destinations)
    if change.sector_identifier_uri != client.sector_identifier_uri:
        expect_reachable("sector_identifier_uri", change.sector_identifier_uri, destinations)
    if change.backchannel_logout_uri != client.backchannel_logout_uri:
        expect_reachable("backchannel_logout_uri", change.backchannel_logout_uri, destinations)
    for uri in set(change.request_uris) - set(client.request_uris):
        expect_reachable("request_uris", uri, destinations)


def _expect_subjects(change: ClientChange) -> None:
    expect_sector(change.subject_type, change.sector_identifier_uri, change.redirect_uris)
    if change.subject_type is SubjectType.PAIRWISE and GrantType.DEVICE_CODE in change.grant_types:
        # Any client can name the redirect URIs of a sector. Only one that receives codes there belongs to it.
        raise InvalidArgument("subject_type: pairwise excludes the device grant, which uses no redirect URI")


def _expect_certificates(change: ClientChange) -> None:
    method = change.token_endpoint_auth_method
    if (method is AuthenticationMethod.TLS_CLIENT_AUTH) is (change.certificate_name is None):
        # RFC 8705 §2.1.2: exactly one.
        raise InvalidArgument(
            "tls_client_auth_subject_dn: expected a subject or a SAN for tls_client_auth, and only for it"
        )
    if change.certificate_name is not None:
        expect_name(change.certificate_name)
    if change.requires_certificate and not change.is_confidential:
        # The refresh tokens of a public client would have to be bound, too: RFC 8705 §4.
        raise InvalidArgument("tls_client_certificate_bound_access_tokens: expected a confidential client")


def _expect_profile(client: Client, change: ClientChange) -> None:
    """Refuse settings that the client's security profile would override."""
    if change.security_profile is not SecurityProfile.FAPI_2:
        return
    if change.method(client) not in KEY_METHODS:
        raise InvalidArgument(
            f"token_endpoint_auth_method: fapi2 expects one of {', '.join(sorted(KEY_METHODS))}"
        )
    if change.authorization_code_lifetime > LONGEST_CODE:
        raise InvalidArgument("auth_code_lifetime: fapi2 expects 60 seconds at most")
    if change.access_token_lifetime > LONGEST_ACCESS_TOKEN:
        raise InvalidArgument("access_token_lifetime: fapi2 expects 3600 seconds at most")
    _expect_profile_algorithms(change)


def _expect_profile_algorithms(change: ClientChange) -> None:
    for member, algorithm in (
        ("access_token_signed_response_alg", change.access_token_signed_response_alg),
        ("id_token_signed_response_alg", change.id_token_signed_response_alg),
        ("userinfo_signed_response_alg", change.userinfo_signed_response_alg),
    ):
        if algorithm is not None and algorithm not in SIGNING_ALGORITHMS:
            raise InvalidArgument(f"{member}: fapi2 expects ES256 or EdDSA")
    for member, name in (
        ("token_endpoint_auth_signing_alg", change.token_endpoint_auth_signing_alg),
        ("request_object_signing_alg", change.request_object_signing_alg),
    ):
        if name and name not in FAPI_ALGORITHMS:
            raise InvalidArgument(f"{member}: fapi2 expects one of {', '.join(FAPI_ALGORITHMS)}")


def _expect_method(change: ClientChange) -> None:
    method = change.token_endpoint_auth_method
    if method is None:
        return
    if change.is_confidential is (method is AuthenticationMethod.NONE):
        raise InvalidArgument(
            "token_endpoint_auth_method: expected none for a public client, and only for one"
        )
    if method in _NEED_KEYS and not change.has_keys:
        raise InvalidArgument(f"token_endpoint_auth_method: {method} needs jwks or jwks_uri")


def _expect_signatures(change: ClientChange) -> None:
    """Check keys, assertions and signed authorization requests of the client."""
    for member, algorithm in (
        ("token_endpoint_auth_signing_alg", change.token_endpoint_auth_signing_alg),
        ("request_object_signing_alg", change.request_object_signing_alg),
    ):
        expect_algorithm(member, algorithm, CLIENT_ALGORITHMS)
    if change.requires_signed_request and not change.has_keys:
        raise InvalidArgument("require_signed_request_object: expected jwks or jwks_uri")


def _expect_keys(change: ClientChange) -> None:
    if not change.has_keys:
        return
    # A public client uses keys for signed requests only, so the caller has to set the method explicitly.
    if not change.is_confidential and change.token_endpoint_auth_method is None:
        raise InvalidArgument("jwks, jwks_uri: expected a confidential client")
    if change.jwks and change.jwks_uri:
        # RFC 7591 §2.
        raise InvalidArgument("jwks, jwks_uri: expected one of them")
    if change.jwks:
        try:
            expect_key_set(change.jwks)
        except RefusedJwk as error:
            raise InvalidArgument(f"jwks: {error}") from error


def _expect_flows(change: ClientChange) -> None:
    if change.is_confidential:
        return
    # RFC 6749 §4.4: only a confidential client gets tokens in its own name. RFC 8693 §5: a stolen token is worth more
    # to a client that needs no proof, and so is an assertion. RFC 9700 §2.1.1: a public client needs PKCE.
    for grant_type in (GrantType.CLIENT_CREDENTIALS, GrantType.TOKEN_EXCHANGE, GrantType.JWT_BEARER):
        if grant_type in change.grant_types:
            raise InvalidArgument(f"flows_enabled: {grant_type} needs a confidential client")
    if not change.requires_pkce:
        raise InvalidArgument("challenges: expected S256 for a public client")


def _permissions(client: Client, change: ClientChange) -> tuple[Permission, ...]:
    """Return the client's own permissions: with those of new scopes, without those of removed ones.

    A configured scope that applies to tokens of users only stays limited to them.
    """
    own = {*client.permissions, *change.given(client)}
    return tuple(
        permission for permission in Permission if permission in own and permission in change.oauth_scopes
    )


def _expect_scopes(change: ClientChange) -> None:
    if not set(change.default_scopes) <= set(change.oauth_scopes):
        raise InvalidArgument("default_scopes: expected some of scopes")


def _expect_claims(change: ClientChange) -> None:
    if not change.claims:
        return
    try:
        claims = msgspec.json.decode(change.claims, type=dict[str, object])
    except (msgspec.DecodeError, RecursionError) as error:
        raise InvalidArgument("claims: expected a JSON object") from error
    if change.claims_at_root and not RESERVED.isdisjoint(claims):
        raise InvalidArgument("claims: at the root expected none of the provider's own claims, found one")
