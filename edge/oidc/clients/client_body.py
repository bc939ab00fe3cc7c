"""Bodies of requests about clients."""

from typing import Annotated

import msgspec

from edge.oidc.access.body import bad_request
from gnomon.identity.v1 import client_service_pb2 as pb

_DEFAULT_ALGORITHM = "RS256"
_DEFAULT_CONSENT = "never"

_Hours = Annotated[int, msgspec.Meta(ge=1, le=24)]
_CodeSeconds = Annotated[int, msgspec.Meta(ge=10, le=300)]
_TokenSeconds = Annotated[int, msgspec.Meta(ge=10, le=86_400)]


class NewClient(msgspec.Struct, forbid_unknown_fields=True):
    id: str
    confidential: bool
    redirect_uris: tuple[str, ...]
    name: str | None = None
    post_logout_redirect_uris: tuple[str, ...] | None = None


class Rotation(msgspec.Struct, forbid_unknown_fields=True):
    cache_current_hours: _Hours | None = None


class ClientBody(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """Algorithms may have either of their two names; absent members have the defaults of a new client."""

    id: str
    name: str | None = None
    enabled: bool
    confidential: bool
    redirect_uris: tuple[str, ...]
    post_logout_redirect_uris: tuple[str, ...] | None = None
    allowed_origins: tuple[str, ...] | None = None
    flows_enabled: tuple[str, ...]
    access_token_signed_response_alg: str | None = None
    id_token_signed_response_alg: str | None = None
    access_token_alg: str | None = None
    id_token_alg: str | None = None
    auth_code_lifetime: _CodeSeconds = 60
    access_token_lifetime: _TokenSeconds = 1800
    scopes: tuple[str, ...]
    default_scopes: tuple[str, ...]
    challenges: tuple[str, ...] | None = None
    force_mfa: bool = False
    client_uri: str | None = None
    contacts: tuple[str, ...] | None = None
    backchannel_logout_uri: str | None = None
    restrict_group_prefix: str | None = None
    allowed_resources: tuple[str, ...] | None = None
    default_aud: tuple[str, ...] | None = None
    claims: dict[str, object] | None = None
    claims_at_root: bool = False
    consent: str | None = None
    jwks: dict[str, object] | None = None
    jwks_uri: str | None = None
    token_endpoint_auth_method: str | None = None
    token_endpoint_auth_signing_alg: str | None = None
    request_object_signing_alg: str | None = None
    require_signed_request_object: bool = False
    request_uris: tuple[str, ...] | None = None
    policy_uri: str | None = None
    tos_uri: str | None = None
    fed_cm: bool = False
    userinfo_signed_response_alg: str | None = None
    access_token_typ: str | None = None
    require_pushed_authorization_requests: bool = False
    dpop_bound_access_tokens: bool = False
    may_act: tuple[str, ...] | None = None
    assertion_providers: tuple[str, ...] | None = None
    introspection_signed_response_alg: str | None = None
    subject_type: str | None = None
    sector_identifier_uri: str | None = None
    frontchannel_logout_uri: str | None = None
    frontchannel_logout_session_required: bool = False
    tls_client_auth_subject_dn: str | None = None
    tls_client_auth_san_dns: str | None = None
    tls_client_auth_san_uri: str | None = None
    tls_client_auth_san_ip: str | None = None
    tls_client_auth_san_email: str | None = None
    tls_client_certificate_bound_access_tokens: bool = False
    security_profile: str | None = None

    def message(self) -> pb.Client:
        """Raises Refused when the two names of an algorithm do not say the same."""
        return pb.Client(
            id=self.id,
            name=self.name or "",
            enabled=self.enabled,
            confidential=self.confidential,
            redirect_uris=self.redirect_uris,
            post_logout_redirect_uris=self.post_logout_redirect_uris or (),
            allowed_origins=self.allowed_origins or (),
            flows_enabled=self.flows_enabled,
            access_token_signed_response_alg=_algorithm(
                self.access_token_signed_response_alg, self.access_token_alg
            ),
            id_token_signed_response_alg=_algorithm(self.id_token_signed_response_alg, self.id_token_alg),
            auth_code_lifetime=self.auth_code_lifetime,
            access_token_lifetime=self.access_token_lifetime,
            scopes=self.scopes,
            default_scopes=self.default_scopes,
            challenges=self.challenges or (),
            force_mfa=self.force_mfa,
            client_uri=self.client_uri or "",
            contacts=self.contacts or (),
            backchannel_logout_uri=self.backchannel_logout_uri or "",
            restrict_group_prefix=self.restrict_group_prefix or "",
            allowed_resources=self.allowed_resources or (),
            default_aud=self.default_aud or (),
            claims=msgspec.json.encode(self.claims).decode() if self.claims else "",
            claims_at_root=self.claims_at_root,
            consent=self.consent or _DEFAULT_CONSENT,
            jwks="" if self.jwks is None else msgspec.json.encode(self.jwks).decode(),
            jwks_uri=self.jwks_uri or "",
            token_endpoint_auth_method=self.token_endpoint_auth_method or "",
            token_endpoint_auth_signing_alg=self.token_endpoint_auth_signing_alg or "",
            request_object_signing_alg=self.request_object_signing_alg or "",
            require_signed_request_object=self.require_signed_request_object,
            request_uris=self.request_uris or (),
            policy_uri=self.policy_uri or "",
            tos_uri=self.tos_uri or "",
            fed_cm=self.fed_cm,
            userinfo_signed_response_alg=self.userinfo_signed_response_alg or "",
            access_token_typ=self.access_token_typ or "",
            require_pushed_authorization_requests=self.require_pushed_authorization_requests,
            dpop_bound_access_tokens=self.dpop_bound_access_tokens,
            may_act=self.may_act or (),
            assertion_providers=self.assertion_providers or (),
            introspection_signed_response_alg=self.introspection_signed_response_alg or "",
            subject_type=self.subject_type or "",
            sector_identifier_uri=self.sector_identifier_uri or "",
            frontchannel_logout_uri=self.frontchannel_logout_uri or "",
            frontchannel_logout_session_required=self.frontchannel_logout_session_required,
            tls_client_auth_subject_dn=self.tls_client_auth_subject_dn or "",
            tls_client_auth_san_dns=self.tls_client_auth_san_dns or "",
            tls_client_auth_san_uri=self.tls_client_auth_san_uri or "",
            tls_client_auth_san_ip=self.tls_client_auth_san_ip or "",
            tls_client_auth_san_email=self.tls_client_auth_san_email or "",
            tls_client_certificate_bound_access_tokens=self.tls_client_certificate_bound_access_tokens,
            security_profile=self.security_profile or "",
        )


def _algorithm(registered: str | None, alias: str | None) -> str:
    if registered and alias and registered != alias:
        raise bad_request("the two names of an algorithm name different ones")
    return registered or alias or _DEFAULT_ALGORITHM
