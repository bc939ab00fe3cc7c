"""A client: a service that is registered at the provider, RFC 7591 §2."""

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import NewType

from identity.crypto.jose.algorithms import SigningAlgorithm
from identity.crypto.jose.encryption import ContentEncryption, KeyManagement
from identity.crypto.signed_jwt import CLIENT_ALGORITHMS, FAPI_ALGORITHMS
from identity.foundation.absolute_uris import absolute_uri
from identity.foundation.searches import words_of
from identity.foundation.tenants import Tenant
from identity.foundation.vocabulary import (
    CERTIFICATE_METHODS,
    LATER_GRANT_TYPES,
    LATER_PERMISSIONS,
    AccessTokenTyp,
    AuthenticationMethod,
    ConsentMode,
    GrantType,
    Permission,
    SecurityProfile,
    SubjectType,
    TokenDeliveryMode,
)
from server.platform.call import TenantId
from server.platform.records import Kind, Record

ClientId = NewType("ClientId", str)


@dataclass(frozen=True, slots=True, kw_only=True)
class Registration:
    """Registration data of a client that registered itself: RFC 7591 §3.2.1.

    `issued_at` is in Unix seconds. The holder of the registration access token, whose keyed hash is `token_hash`,
    manages the client.
    """

    token_hash: bytes = field(repr=False)
    issued_at: int
    application_type: str = "web"


class CertificateNameType(StrEnum):
    """Kind of name in a certificate, as metadata of clients spells it after `tls_client_auth_`: RFC 8705 §2.1.2."""

    SUBJECT_DN = "subject_dn"
    SAN_DNS = "san_dns"
    SAN_URI = "san_uri"
    SAN_IP = "san_ip"
    SAN_EMAIL = "san_email"


@dataclass(frozen=True, slots=True)
class CertificateName:
    type: CertificateNameType
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Client(Record):
    """`id` is the client id; `tenant_ids` are the engine's tenants in which the client may act.

    A client without a secret and without keys is public. `oauth_scopes` are the scopes that it may ask for. Of these,
    `default_scopes` are added to every token; permissions among them only when the client asks for no scope. While a
    secret is being replaced, the previous one is valid until `previous_secret_until`, in Unix seconds.

    `claims` is the JSON object that tokens in the client's own name carry. These claims and custom attributes of users
    stand below `custom`, or at the root with `claims_at_root`. `default_aud` are additional audiences of all its access
    tokens. `token_endpoint_auth_signing_alg` is the algorithm of its assertions, and `request_object_signing_alg` that
    of its authorization requests; an empty one admits all that the provider supports. Request objects are fetched from
    `request_uris` only.

    `default_max_age` is the default of `max_age`, in seconds. A client that registered itself has a `registration`, and
    expires unless it is used. `may_act` are the ids of clients that may exchange tokens of this client, and
    `assertion_providers` those of upstream providers whose assertions it may redeem. `logo_id` is the id of its
    uploaded logo, empty without one. `has_fed_cm` permits FedCM to a confidential client; a public client needs no
    permission. Clients of one sector get the same pairwise subjects; the sector is the host of `sector_identifier_uri`,
    or of the redirect URIs without it. `certificate_name` stands in the certificates by which it authenticates; with
    `requires_certificate` its access tokens are bound to a certificate. Token sets of the client, and tokens in its own
    name, that began before `not_before` are refused.
    """

    name: str = ""
    secret_hash: bytes | None = field(default=None, repr=False)
    previous_secret_hash: bytes | None = field(default=None, repr=False)
    previous_secret_until: int = 0
    jwks: str = ""
    jwks_uri: str = ""
    token_endpoint_auth_method: AuthenticationMethod = AuthenticationMethod.CLIENT_SECRET_BASIC
    token_endpoint_auth_signing_alg: str = ""
    request_object_signing_alg: str = ""
    request_uris: tuple[str, ...] = ()
    tenant_ids: tuple[TenantId, ...] = ()
    permissions: tuple[Permission, ...] = ()
    roles: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    oauth_scopes: tuple[str, ...] = ()
    default_scopes: tuple[str, ...] = ()
    grant_types: frozenset[GrantType] = frozenset({GrantType.CLIENT_CREDENTIALS})
    redirect_uris: tuple[str, ...] = ()
    post_logout_redirect_uris: tuple[str, ...] = ()
    allowed_origins: tuple[str, ...] = ()
    allowed_resources: tuple[str, ...] = ()
    default_aud: tuple[str, ...] = ()
    may_act: tuple[str, ...] = ()
    assertion_providers: tuple[str, ...] = ()
    claims: str = ""
    claims_at_root: bool = False
    client_uri: str = ""
    policy_uri: str = ""
    tos_uri: str = ""
    contacts: tuple[str, ...] = ()
    backchannel_logout_uri: str = ""
    restrict_group_prefix: str = ""
    access_token_signed_response_alg: SigningAlgorithm = SigningAlgorithm.RS256
    id_token_signed_response_alg: SigningAlgorithm = SigningAlgorithm.RS256
    userinfo_signed_response_alg: SigningAlgorithm | None = None
    introspection_signed_response_alg: SigningAlgorithm = SigningAlgorithm.RS256
    authorization_signed_response_alg: SigningAlgorithm = SigningAlgorithm.RS256
    id_token_encrypted_response_alg: KeyManagement | None = None
    id_token_encrypted_response_enc: ContentEncryption | None = None
    userinfo_encrypted_response_alg: KeyManagement | None = None
    userinfo_encrypted_response_enc: ContentEncryption | None = None
    authorization_encrypted_response_alg: KeyManagement | None = None
    authorization_encrypted_response_enc: ContentEncryption | None = None
    authorization_code_lifetime: timedelta = timedelta(seconds=60)
    access_token_lifetime: timedelta = timedelta(seconds=1800)
    consent: ConsentMode = ConsentMode.NEVER
    requires_pkce: bool = True
    requires_signed_request: bool = False
    requires_pushed_request: bool = False
    requires_dpop: bool = False
    access_token_typ: AccessTokenTyp = AccessTokenTyp.JWT
    requires_mfa: bool = False
    has_fed_cm: bool = False
    is_enabled: bool = True
    default_max_age: int | None = None
    registration: Registration | None = None
    logo_id: str = ""
    subject_type: SubjectType = SubjectType.PUBLIC
    sector_identifier_uri: str = ""
    frontchannel_logout_uri: str = ""
    frontchannel_logout_session_required: bool = False
    certificate_name: CertificateName | None = None
    requires_certificate: bool = False
    security_profile: SecurityProfile = SecurityProfile.NONE
    backchannel_token_delivery_mode: TokenDeliveryMode = TokenDeliveryMode.POLL
    backchannel_client_notification_endpoint: str = ""
    backchannel_authentication_request_signing_alg: str = ""
    authorization_details_types: tuple[str, ...] = ()
    not_before: datetime | None = None

    @property
    def client_id(self) -> ClientId:
        return ClientId(self.id)

    @property
    def words(self) -> frozenset[str]:
        """Texts by whose beginnings an administrator finds the client: id and name, whole and in parts."""
        return words_of(self.id, self.name)

    @property
    def is_public(self) -> bool:
        return self.token_endpoint_auth_method is AuthenticationMethod.NONE

    @property
    def follows_fapi(self) -> bool:
        return self.security_profile is not SecurityProfile.NONE

    @property
    def signs_messages(self) -> bool:
        """Whether authorization requests and the responses to them must be signed: FAPI 2.0 Message Signing."""
        return self.security_profile is SecurityProfile.FAPI_2_MESSAGE_SIGNING

    @property
    def accepted_algorithms(self) -> Collection[str]:
        """Accepted algorithms for the client's signatures."""
        return FAPI_ALGORITHMS if self.follows_fapi else CLIENT_ALGORITHMS

    @property
    def has_pairwise_subjects(self) -> bool:
        return self.subject_type is SubjectType.PAIRWISE

    @property
    def sector_identifier(self) -> str:
        """The host that stands for the client's sector: OpenID Connect Core 1.0 §8.1; empty without one."""
        hosts = sector_hosts(self.sector_identifier_uri, self.redirect_uris)
        return hosts[0] if len(hosts) == 1 else ""

    def is_known_at(self, tenant: Tenant, *, default: Tenant) -> bool:
        """Whether the provider of `tenant` serves the client; the default provider serves clients of all tenants."""
        return tenant.tenant_id == self.tenant_id or tenant == default or tenant.tenant_id in self.tenant_ids


def sector_hosts(sector_identifier_uri: str, redirect_uris: tuple[str, ...]) -> tuple[str, ...]:
    """Return the hosts that may stand for a sector; only a single host makes a sector."""
    uris = (sector_identifier_uri,) if sector_identifier_uri else redirect_uris
    found = (absolute_uri(uri) for uri in uris)
    return tuple(dict.fromkeys((parts.hostname or "").rstrip(".") for parts in found if parts is not None))


CLIENTS = Kind(
    Client,
    "client",
    derived=(
        *("groups", "roles", "tenant_ids", "oauth_scopes", "default_scopes"),
        "authorization_details_types",
    ),
    words=("words",),
    later={"permissions": LATER_PERMISSIONS, "grant_types": LATER_GRANT_TYPES},
    # Without keys of its own the previous version refuses such a client; with keys, that version verifies the same key.
    instead={
        "security_profile": {SecurityProfile.FAPI_2_MESSAGE_SIGNING.value: SecurityProfile.FAPI_2.value},
        "token_endpoint_auth_method": dict.fromkeys(
            CERTIFICATE_METHODS, AuthenticationMethod.PRIVATE_KEY_JWT.value
        ),
    },
    owners=(),
)
