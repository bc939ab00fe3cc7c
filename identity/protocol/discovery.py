"""Metadata of a provider: OpenID Connect Discovery 1.0 §3, RFC 8414 §2, RFC 8628 §4, RFC 9126 §5, RFC 8705 §3.3, RFC 9207 §3, RFC 9396 §10, RFC 9449 §5.1, JARM §4, CIBA Core 1.0 §4.

It lists only supported features.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from identity.access.tokens.claims import PERSON_CLAIMS
from identity.access.tokens.custom_claims import CUSTOM
from identity.authentication.requests.request import RESPONSE_MODES, Prompt, signed_mode_of
from identity.crypto.jose.algorithms import ALGORITHMS
from identity.crypto.jose.encryption import ContentEncryption, KeyManagement
from identity.crypto.signed_jwt import FAPI_ALGORITHMS
from identity.directory.clients import SIGNING_ALGORITHMS
from identity.foundation.tenants import Tenant
from identity.foundation.vocabulary import (
    BUILT_IN_SCOPES,
    CERTIFICATE_METHODS,
    KEY_METHODS,
    AuthenticationContext,
    AuthenticationMethod,
    GrantType,
    SecurityProfile,
    SubjectType,
    TokenDeliveryMode,
)

_SIGNING = tuple(kind.algorithm for kind in ALGORITHMS)
_SIGNED_BY_CLIENTS = ("RS256", "PS256", "ES256", "EdDSA")
_KEY_MANAGEMENT = tuple(KeyManagement)
_CONTENT_ENCRYPTION = tuple(ContentEncryption)
_METHODS = tuple(method for method in AuthenticationMethod if method not in CERTIFICATE_METHODS)

_TOKEN_CLAIMS = ("iss", "sub", "aud", "azp", "iat", "nbf", "exp", "jti", "scope", "tid", "sid", "did", "cnf")
_AUTHENTICATION_CLAIMS = ("auth_time", "amr", "acr", "nonce", "at_hash")
_PROMPTS = ("none", "login", "consent", "select_account")
_CLAIMS = (*_TOKEN_CLAIMS, *_AUTHENTICATION_CLAIMS, *(rule.name for rule in PERSON_CLAIMS), CUSTOM)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderMetadata:
    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    userinfo_endpoint: str
    introspection_endpoint: str
    revocation_endpoint: str
    end_session_endpoint: str
    device_authorization_endpoint: str
    pushed_authorization_request_endpoint: str
    backchannel_authentication_endpoint: str
    jwks_uri: str
    grant_types_supported: tuple[GrantType, ...]
    scopes_supported: tuple[str, ...]
    prompt_values_supported: tuple[str, ...]
    response_types_supported: tuple[str, ...] = ("code",)
    response_modes_supported: tuple[str, ...] = RESPONSE_MODES
    id_token_encryption_alg_values_supported: tuple[str, ...] = _KEY_MANAGEMENT
    id_token_encryption_enc_values_supported: tuple[str, ...] = _CONTENT_ENCRYPTION
    userinfo_encryption_alg_values_supported: tuple[str, ...] = _KEY_MANAGEMENT
    userinfo_encryption_enc_values_supported: tuple[str, ...] = _CONTENT_ENCRYPTION
    authorization_encryption_alg_values_supported: tuple[str, ...] = _KEY_MANAGEMENT
    authorization_encryption_enc_values_supported: tuple[str, ...] = _CONTENT_ENCRYPTION
    authorization_signing_alg_values_supported: tuple[str, ...] = _SIGNING
    subject_types_supported: tuple[str, ...] = tuple(SubjectType)
    id_token_signing_alg_values_supported: tuple[str, ...] = _SIGNING
    userinfo_signing_alg_values_supported: tuple[str, ...] = _SIGNING
    token_endpoint_auth_methods_supported: tuple[str, ...]
    introspection_endpoint_auth_methods_supported: tuple[str, ...]
    revocation_endpoint_auth_methods_supported: tuple[str, ...]
    token_endpoint_auth_signing_alg_values_supported: tuple[str, ...] = _SIGNED_BY_CLIENTS
    introspection_signing_alg_values_supported: tuple[str, ...] = _SIGNING
    dpop_signing_alg_values_supported: tuple[str, ...] = _SIGNED_BY_CLIENTS
    code_challenge_methods_supported: tuple[str, ...] = ("S256",)
    acr_values_supported: tuple[str, ...] = tuple(AuthenticationContext)
    claim_types_supported: tuple[str, ...] = ("normal",)
    claims_supported: tuple[str, ...] = _CLAIMS
    claims_parameter_supported: bool = True
    authorization_response_iss_parameter_supported: bool = True
    backchannel_logout_supported: bool = True
    backchannel_logout_session_supported: bool = True
    frontchannel_logout_supported: bool = True
    frontchannel_logout_session_supported: bool = True
    backchannel_token_delivery_modes_supported: tuple[str, ...] = tuple(TokenDeliveryMode)
    backchannel_authentication_request_signing_alg_values_supported: tuple[str, ...] = _SIGNED_BY_CLIENTS
    backchannel_user_code_parameter_supported: bool = False
    request_parameter_supported: bool = True
    request_uri_parameter_supported: bool = True
    require_request_uri_registration: bool = True
    request_object_signing_alg_values_supported: tuple[str, ...] = _SIGNED_BY_CLIENTS
    authorization_details_types_supported: tuple[str, ...]
    require_pushed_authorization_requests: bool = False
    require_signed_request_object: bool = False
    tls_client_certificate_bound_access_tokens: bool = False
    registration_endpoint: str | None = None
    client_id_metadata_document_supported: bool = False
    check_session_iframe: str | None = None


def metadata_of(
    tenant: Tenant,
    grant_types: Iterable[GrantType],
    *,
    certificate_methods: Sequence[AuthenticationMethod],
    own_scopes: Iterable[str],
    details_types: Iterable[str],
    registers_clients: bool,
    reads_clients: bool,
    registers_people: bool,
    has_session_frame: bool,
) -> ProviderMetadata:
    """Return the metadata; `scopes_supported` includes the tenant's own scopes.

    `certificate_methods` are the methods by which clients can authenticate with a certificate; if it is empty, client
    certificates are not supported. `reads_clients` is whether the provider reads documents of clients at their ids.

    `prompt_values_supported` includes `create` only while people register themselves: Initiating User Registration via
    OpenID Connect 1.0 §4.
    """
    protocol = f"{tenant.issuer}oidc/"
    methods = (*_METHODS, *certificate_methods)
    metadata = ProviderMetadata(
        issuer=tenant.issuer,
        authorization_endpoint=f"{protocol}authorize",
        token_endpoint=f"{protocol}token",
        userinfo_endpoint=f"{protocol}userinfo",
        introspection_endpoint=f"{protocol}introspect",
        revocation_endpoint=f"{protocol}token/revoke",
        end_session_endpoint=f"{protocol}logout",
        device_authorization_endpoint=f"{protocol}device",
        pushed_authorization_request_endpoint=f"{protocol}par",
        backchannel_authentication_endpoint=f"{protocol}bc-authorize",
        jwks_uri=f"{protocol}certs",
        token_endpoint_auth_methods_supported=methods,
        # Introspection needs an authenticated client.
        introspection_endpoint_auth_methods_supported=tuple(
            method for method in methods if method is not AuthenticationMethod.NONE
        ),
        revocation_endpoint_auth_methods_supported=methods,
        tls_client_certificate_bound_access_tokens=bool(certificate_methods),
        grant_types_supported=tuple(grant_types),
        scopes_supported=(*BUILT_IN_SCOPES, *own_scopes),
        authorization_details_types_supported=tuple(details_types),
        prompt_values_supported=(*_PROMPTS, Prompt.CREATE) if registers_people else _PROMPTS,
        registration_endpoint=f"{tenant.issuer}clients_dyn" if registers_clients else None,
        client_id_metadata_document_supported=reads_clients,
        check_session_iframe=f"{tenant.issuer}oidc/check_session" if has_session_frame else None,
    )
    if tenant.security_profile is SecurityProfile.NONE:
        return metadata
    under_fapi = _under_fapi(metadata)
    signs_messages = tenant.security_profile is SecurityProfile.FAPI_2_MESSAGE_SIGNING
    return _with_signed_messages(under_fapi) if signs_messages else under_fapi


def _under_fapi(metadata: ProviderMetadata) -> ProviderMetadata:
    """Return the metadata of a tenant whose clients follow the FAPI 2.0 Security Profile."""
    signing = tuple(algorithm for algorithm in _SIGNING if algorithm in SIGNING_ALGORITHMS)
    methods = tuple(
        method for method in metadata.token_endpoint_auth_methods_supported if method in KEY_METHODS
    )
    return replace(
        metadata,
        require_pushed_authorization_requests=True,
        token_endpoint_auth_methods_supported=methods,
        introspection_endpoint_auth_methods_supported=methods,
        revocation_endpoint_auth_methods_supported=methods,
        id_token_signing_alg_values_supported=signing,
        userinfo_signing_alg_values_supported=signing,
        introspection_signing_alg_values_supported=signing,
        authorization_signing_alg_values_supported=signing,
        token_endpoint_auth_signing_alg_values_supported=FAPI_ALGORITHMS,
        request_object_signing_alg_values_supported=FAPI_ALGORITHMS,
        backchannel_authentication_request_signing_alg_values_supported=FAPI_ALGORITHMS,
        dpop_signing_alg_values_supported=FAPI_ALGORITHMS,
    )


def _with_signed_messages(metadata: ProviderMetadata) -> ProviderMetadata:
    """Return the metadata of a tenant whose clients follow FAPI 2.0 Message Signing."""
    return replace(
        metadata,
        require_signed_request_object=True,
        response_modes_supported=tuple(mode for mode in RESPONSE_MODES if signed_mode_of(mode) is not None),
    )
