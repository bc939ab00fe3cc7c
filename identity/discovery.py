"""Metadata of a provider: OpenID Connect Discovery 1.0 §3, RFC 8414 §2.

Only what works is in it. The members that the documents demand are always there, the list of response types empty
as long as there is no authorization endpoint.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from identity.jose.algorithms import KEY_KINDS
from identity.tenants import Tenant
from identity.vocabulary import AuthenticationMethod, GrantType, Permission


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderMetadata:
    issuer: str
    token_endpoint: str
    jwks_uri: str
    grant_types_supported: tuple[GrantType, ...]
    scopes_supported: tuple[str, ...] = tuple(Permission)
    response_types_supported: tuple[str, ...] = ()
    subject_types_supported: tuple[str, ...] = ("public",)
    id_token_signing_alg_values_supported: tuple[str, ...] = tuple(kind.algorithm for kind in KEY_KINDS)
    token_endpoint_auth_methods_supported: tuple[str, ...] = (
        AuthenticationMethod.CLIENT_SECRET_BASIC,
        AuthenticationMethod.CLIENT_SECRET_POST,
    )
    claims_supported: tuple[str, ...] = (
        "iss",
        "sub",
        "aud",
        "azp",
        "iat",
        "nbf",
        "exp",
        "jti",
        "scope",
        "tid",
    )
    # Left out, request_uri would count as supported.
    request_parameter_supported: bool = False
    request_uri_parameter_supported: bool = False
    claims_parameter_supported: bool = False


def metadata_of(tenant: Tenant, grant_types: Iterable[GrantType]) -> ProviderMetadata:
    return ProviderMetadata(
        issuer=tenant.issuer,
        token_endpoint=f"{tenant.issuer}oidc/token",
        jwks_uri=f"{tenant.issuer}oidc/certs",
        grant_types_supported=tuple(grant_types),
    )
