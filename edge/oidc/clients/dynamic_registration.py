"""/clients_dyn: dynamic client registration, RFC 7591, and its management, RFC 7592."""

from collections.abc import Awaitable
from typing import TypeVar

import grpc
import msgspec
import orjson
from aiohttp import hdrs, web

from edge.oidc.access.administration_calls import segment, written
from edge.oidc.access.bearer import refused_to_bearer
from edge.oidc.access.body import JSON, read_body
from edge.oidc.access.browsers import Browsers
from edge.oidc.access.refusal import Refused, invalid_client_metadata, refused_by_protocol
from edge.oidc.access.tenant import tenant_of
from edge.oidc.clients.registration_body import RegistrationBody
from edge.oidc.config import OidcConfig
from edge.oidc.openapi.operation import Caller, content, described, done
from edge.oidc.openapi.schemas import answer_of
from edge.oidc.stubs import Stubs
from gnomon.identity.v1 import dynamic_client_service_pb2 as pb
from server.platform.channels import error_of
from server.platform.errors import InvalidArgument, OAuthError, ServiceError

_MAX_TOKEN = 2048

_Answer = TypeVar("_Answer")


class ClientRegistrationEndpoint:
    def __init__(self, stubs: Stubs, config: OidcConfig, *, browsers: Browsers) -> None:
        self._clients = stubs.dynamic_clients
        self._timeout = config.call_timeout_seconds
        self._max_bytes = config.max_form_bytes
        self._browsers = browsers

    @described(
        "Registers a client: RFC 7591.",
        content(answer_of(RegistrationBody), status=201),
        caller=Caller.REGISTERED_CLIENT,
        body=RegistrationBody,
    )
    async def create(self, request: web.Request) -> web.Response:
        asked = pb.RegisterClientRequest(
            tenant_id=tenant_of(request),
            token=_bearer(request),
            peer_address=self._browsers.peer_address(request),
            metadata=(await self._body(request)).metadata(),
        )
        answer = await _answered(self._clients.RegisterClient(asked, timeout=self._timeout))
        return written(members(answer.registration), status=201)

    @described(
        "A registered client: RFC 7592 §2.1.",
        content(answer_of(RegistrationBody)),
        caller=Caller.REGISTERED_CLIENT,
    )
    async def get(self, request: web.Request) -> web.Response:
        asked = pb.GetRegistrationRequest(
            tenant_id=tenant_of(request), client_id=segment(request, "id"), token=_bearer(request)
        )
        answer = await _answered(self._clients.GetRegistration(asked, timeout=self._timeout))
        return written(members(answer.registration))

    @described(
        "Replaces the metadata of a registered client: RFC 7592 §2.2.",
        content(answer_of(RegistrationBody)),
        caller=Caller.REGISTERED_CLIENT,
        body=RegistrationBody,
    )
    async def update(self, request: web.Request) -> web.Response:
        client_id, sent = segment(request, "id"), await self._body(request)
        if sent.client_id not in (None, client_id):
            raise invalid_client_metadata("client_id: expected that of the address")
        asked = pb.UpdateRegistrationRequest(
            tenant_id=tenant_of(request),
            client_id=client_id,
            token=_bearer(request),
            peer_address=self._browsers.peer_address(request),
            client_secret=sent.client_secret or "",
            metadata=sent.metadata(),
        )
        answer = await _answered(self._clients.UpdateRegistration(asked, timeout=self._timeout))
        return written(members(answer.registration))

    @described("Deletes a registered client: RFC 7592 §2.3.", done(204), caller=Caller.REGISTERED_CLIENT)
    async def delete(self, request: web.Request) -> web.Response:
        asked = pb.DeleteRegistrationRequest(
            tenant_id=tenant_of(request),
            client_id=segment(request, "id"),
            token=_bearer(request),
            peer_address=self._browsers.peer_address(request),
        )
        await _answered(self._clients.DeleteRegistration(asked, timeout=self._timeout))
        return web.Response(status=204)

    async def _body(self, request: web.Request) -> RegistrationBody:
        if request.content_type != JSON:
            raise invalid_client_metadata(f"the body must be {JSON}")
        try:
            return msgspec.json.decode(await read_body(request, self._max_bytes), type=RegistrationBody)
        except (msgspec.DecodeError, RecursionError, ValueError) as error:
            raise invalid_client_metadata(
                "expected an object of client metadata, found another type"
            ) from error


async def _answered(call: Awaitable[_Answer]) -> _Answer:
    """Raises Refused."""
    try:
        return await call
    except grpc.RpcError as failure:
        raise _refused(error_of(failure)) from failure


def members(registration: pb.ClientRegistration) -> dict[str, object]:
    """RFC 7591 §3.2.1; empty members are left out. A secret is only in the response that creates it."""
    metadata = registration.metadata
    described: dict[str, object] = {
        "redirect_uris": list(metadata.redirect_uris),
        "post_logout_redirect_uris": list(metadata.post_logout_redirect_uris),
        "grant_types": list(metadata.grant_types),
        "response_types": list(metadata.response_types),
        "token_endpoint_auth_method": metadata.token_endpoint_auth_method,
        "token_endpoint_auth_signing_alg": metadata.token_endpoint_auth_signing_alg,
        "id_token_signed_response_alg": metadata.id_token_signed_response_alg,
        "userinfo_signed_response_alg": metadata.userinfo_signed_response_alg,
        "request_object_signing_alg": metadata.request_object_signing_alg,
        "require_signed_request_object": metadata.require_signed_request_object,
        "request_uris": list(metadata.request_uris),
        "require_pushed_authorization_requests": metadata.require_pushed_authorization_requests,
        "dpop_bound_access_tokens": metadata.dpop_bound_access_tokens,
        "jwks": orjson.Fragment(metadata.jwks) if metadata.jwks else "",
        "jwks_uri": metadata.jwks_uri,
        "client_name": metadata.client_name,
        "client_uri": metadata.client_uri,
        "policy_uri": metadata.policy_uri,
        "tos_uri": metadata.tos_uri,
        "contacts": list(metadata.contacts),
        "scope": metadata.scope,
        "backchannel_logout_uri": metadata.backchannel_logout_uri,
        "subject_type": metadata.subject_type,
        "sector_identifier_uri": metadata.sector_identifier_uri,
        "frontchannel_logout_uri": metadata.frontchannel_logout_uri,
        "frontchannel_logout_session_required": metadata.frontchannel_logout_session_required,
        "tls_client_auth_subject_dn": metadata.tls_client_auth_subject_dn,
        "tls_client_auth_san_dns": metadata.tls_client_auth_san_dns,
        "tls_client_auth_san_uri": metadata.tls_client_auth_san_uri,
        "tls_client_auth_san_ip": metadata.tls_client_auth_san_ip,
        "tls_client_auth_san_email": metadata.tls_client_auth_san_email,
        "tls_client_certificate_bound_access_tokens": metadata.tls_client_certificate_bound_access_tokens,
        "application_type": metadata.application_type,
    }
    if metadata.HasField("default_max_age"):
        described["default_max_age"] = metadata.default_max_age
    secret = registration.client_secret
    return {
        "client_id": registration.client_id,
        "client_id_issued_at": registration.client_id_issued_at,
        "registration_client_uri": registration.registration_client_uri,
        **({"client_secret": secret, "client_secret_expires_at": 0} if secret else {}),
        **_if_any("registration_access_token", registration.registration_access_token),
        **{name: value for name, value in described.items() if value not in ("", [])},
    }


def _if_any(name: str, value: str) -> dict[str, str]:
    return {name: value} if value else {}


def _bearer(request: web.Request) -> str:
    """Return the token of the Authorization header, empty for a missing or malformed one."""
    scheme, _, token = request.headers.get(hdrs.AUTHORIZATION, "").partition(" ")
    is_token = scheme.lower() == "bearer" and token.isascii() and len(token) <= _MAX_TOKEN
    return token.strip() if is_token else ""


def _refused(error: ServiceError) -> Refused:
    """RFC 7591 §3.2.2, RFC 7592 §2: map errors about the metadata and about the token."""
    if isinstance(error, InvalidArgument):
        return invalid_client_metadata(error.detail)
    is_of_token = isinstance(error, OAuthError) and error.error == "invalid_token"
    return refused_to_bearer(error, is_dpop=False) if is_of_token else refused_by_protocol(error)
