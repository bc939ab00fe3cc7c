"""Bodies of dynamic client registrations: RFC 7591 §2. Unknown members are ignored, as the standard requires."""

from typing import Annotated

import msgspec

from edge.oidc.access.refusal import invalid_client_metadata
from gnomon.identity.v1 import dynamic_client_service_pb2 as pb

_Seconds = Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)]


class RegistrationBody(msgspec.Struct, kw_only=True):
    """`client_id` and `client_secret` only repeat the present values: RFC 7592 §2.2."""

    client_id: str | None = None
    client_secret: str | None = None
    redirect_uris: tuple[str, ...] | None = None
    post_logout_redirect_uris: tuple[str, ...] | None = None
    post_logout_redirect_uri: str | None = None
    grant_types: tuple[str, ...] | None = None
    response_types: tuple[str, ...] | None = None
    token_endpoint_auth_method: str | None = None
    token_endpoint_auth_signing_alg: str | None = None
    id_token_signed_response_alg: str | None = None
    userinfo_signed_response_alg: str | None = None
    request_object_signing_alg: str | None = None
    require_signed_request_object: bool | None = None
    request_uris: tuple[str, ...] | None = None
    require_pushed_authorization_requests: bool | None = None
    dpop_bound_access_tokens: bool | None = None
    jwks: dict[str, object] | None = None
    jwks_uri: str | None = None
    client_name: str | None = None
    client_uri: str | None = None
    policy_uri: str | None = None
    tos_uri: str | None = None
    contacts: tuple[str, ...] | None = None
    scope: str | None = None
    backchannel_logout_uri: str | None = None
    subject_type: str | None = None
    sector_identifier_uri: str | None = None
    frontchannel_logout_uri: str | None = None
    frontchannel_logout_session_required: bool | None = None
    tls_client_auth_subject_dn: str | None = None
    tls_client_auth_san_dns: str | None = None
    tls_client_auth_san_uri: str | None = None
    tls_client_auth_san_ip: str | None = None
    tls_client_auth_san_email: str | None = None
    tls_client_certificate_bound_access_tokens: bool | None = None
    application_type: str | None = None
    default_max_age: _Seconds | None = None
    software_statement: str | None = None

    def metadata(self) -> pb.ClientMetadata:
        """Raises Refused for a software statement, because no issuer of them is trusted."""
        if self.software_statement is not None:
            # RFC 7591 §2.3: its claims would take precedence over these.
            raise invalid_client_metadata("software_statement: no issuer of statements is trusted")
        return pb.ClientMetadata(
            redirect_uris=self.redirect_uris or (),
            post_logout_redirect_uris=self._after_logout(),
            grant_types=self.grant_types or (),
            response_types=self.response_types or (),
            token_endpoint_auth_method=self.token_endpoint_auth_method or "",
            token_endpoint_auth_signing_alg=self.token_endpoint_auth_signing_alg or "",
            id_token_signed_response_alg=self.id_token_signed_response_alg or "",
            userinfo_signed_response_alg=self.userinfo_signed_response_alg or "",
            request_object_signing_alg=self.request_object_signing_alg or "",
            require_signed_request_object=self.require_signed_request_object or False,
            request_uris=self.request_uris or (),
            require_pushed_authorization_requests=self.require_pushed_authorization_requests or False,
            dpop_bound_access_tokens=self.dpop_bound_access_tokens or False,
            jwks="" if self.jwks is None else msgspec.json.encode(self.jwks).decode(),
            jwks_uri=self.jwks_uri or "",
            client_name=self.client_name or "",
            client_uri=self.client_uri or "",
            policy_uri=self.policy_uri or "",
            tos_uri=self.tos_uri or "",
            contacts=self.contacts or (),
            scope=self.scope or "",
            backchannel_logout_uri=self.backchannel_logout_uri or "",
            subject_type=self.subject_type or "",
            sector_identifier_uri=self.sector_identifier_uri or "",
            frontchannel_logout_uri=self.frontchannel_logout_uri or "",
            frontchannel_logout_session_required=bool(self.frontchannel_logout_session_required),
            tls_client_auth_subject_dn=self.tls_client_auth_subject_dn or "",
            tls_client_auth_san_dns=self.tls_client_auth_san_dns or "",
            tls_client_auth_san_uri=self.tls_client_auth_san_uri or "",
            tls_client_auth_san_ip=self.tls_client_auth_san_ip or "",
            tls_client_auth_san_email=self.tls_client_auth_san_email or "",
            tls_client_certificate_bound_access_tokens=bool(self.tls_client_certificate_bound_access_tokens),
            application_type=self.application_type or "",
            default_max_age=self.default_max_age,
        )

    def _after_logout(self) -> tuple[str, ...]:
        """Return the URIs; some libraries send a single one."""
        single = self.post_logout_redirect_uri
        return (*(self.post_logout_redirect_uris or ()), *([] if single is None else [single]))
