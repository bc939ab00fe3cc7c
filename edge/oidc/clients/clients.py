"""/clients: administration of clients. A secret is only in the response that creates it."""

import msgspec
import orjson
from aiohttp import web

from edge.oidc.access.administration_calls import segment, written
from edge.oidc.access.body import bad_request, read_body, read_json
from edge.oidc.access.browsers import Browsers
from edge.oidc.access.callers import caller_of
from edge.oidc.access.tenant import tenant_of
from edge.oidc.clients.client_body import ClientBody, NewClient, Rotation
from edge.oidc.config import OidcConfig
from edge.oidc.openapi.operation import content, described, done
from edge.oidc.openapi.schemas import BOOLEAN, STRING, an_object, answer_of, array, titled, with_any
from edge.oidc.stubs import Stubs
from gnomon.identity.v1 import caller_pb2
from gnomon.identity.v1 import client_service_pb2 as pb

_CLIENT = titled("Client", answer_of(ClientBody))


class ClientsEndpoint:
    def __init__(self, stubs: Stubs, config: OidcConfig, *, browsers: Browsers) -> None:
        self._clients = stubs.clients
        self._timeout = config.call_timeout_seconds
        self._max_bytes = config.max_form_bytes
        self._browsers = browsers

    @described("Lists the clients of a tenant.", content(array(_CLIENT)))
    async def list(self, request: web.Request) -> web.Response:
        asked = pb.ListClientsRequest(tenant_id=tenant_of(request), caller=self._caller(request))
        found = await self._clients.ListClients(asked, timeout=self._timeout)
        return written([members(client) for client in found.clients])

    @described("A client.", content(_CLIENT))
    async def get(self, request: web.Request) -> web.Response:
        asked = pb.GetClientRequest(
            tenant_id=tenant_of(request), caller=self._caller(request), id=segment(request, "id")
        )
        return written(members((await self._clients.GetClient(asked, timeout=self._timeout)).client))

    @described(
        "Creates a client; the response alone has its secret.",
        content(with_any(_CLIENT, secret=STRING)),
        body=NewClient,
        refusals=(409,),
    )
    async def create(self, request: web.Request) -> web.Response:
        sent = await read_json(request, NewClient, max_bytes=self._max_bytes)
        asked = pb.CreateClientRequest(
            tenant_id=tenant_of(request),
            caller=self._caller(request),
            id=sent.id,
            name=sent.name or "",
            confidential=sent.confidential,
            redirect_uris=sent.redirect_uris,
            post_logout_redirect_uris=sent.post_logout_redirect_uris or (),
        )
        return _with_secret(await self._clients.CreateClient(asked, timeout=self._timeout))

    @described(
        "Replaces a client.", content(with_any(_CLIENT, secret=STRING)), body=ClientBody, refusals=(409,)
    )
    async def update(self, request: web.Request) -> web.Response:
        client_id = segment(request, "id")
        sent = await read_json(request, ClientBody, max_bytes=self._max_bytes)
        if sent.id != client_id:
            raise bad_request("id: expected that of the address")
        asked = pb.UpdateClientRequest(
            tenant_id=tenant_of(request), caller=self._caller(request), client=sent.message()
        )
        return _with_secret(await self._clients.UpdateClient(asked, timeout=self._timeout))

    @described("Deletes a client.", done())
    async def delete(self, request: web.Request) -> web.Response:
        asked = pb.DeleteClientRequest(
            tenant_id=tenant_of(request), caller=self._caller(request), id=segment(request, "id")
        )
        await self._clients.DeleteClient(asked, timeout=self._timeout)
        return web.Response()

    @described(
        "Makes another secret; the previous one may stay valid for some hours.",
        content(an_object(id=STRING, confidential=BOOLEAN, secret=STRING)),
        body=Rotation,
        has_optional_body=True,
        refusals=(409,),
    )
    async def rotate_secret(self, request: web.Request) -> web.Response:
        client_id, hours = segment(request, "id"), await self._grace_hours(request)
        asked = pb.RotateClientSecretRequest(
            tenant_id=tenant_of(request),
            caller=self._caller(request),
            id=client_id,
            cache_current_hours=hours,
        )
        rotated = await self._clients.RotateClientSecret(asked, timeout=self._timeout)
        return written({"id": client_id, "confidential": True, "secret": rotated.client_secret})

    async def _grace_hours(self, request: web.Request) -> int:
        """Return the validity of the previous secret in hours, 0 without a body; raises Refused."""
        body = await read_body(request, self._max_bytes)
        try:
            sent = msgspec.json.decode(body, type=Rotation) if body else Rotation()
        except (msgspec.DecodeError, ValueError) as error:
            raise bad_request("cache_current_hours: expected 1 to 24") from error
        return sent.cache_current_hours or 0

    def _caller(self, request: web.Request) -> caller_pb2.Caller:
        return caller_of(request, self._browsers)


def members(client: pb.Client) -> dict[str, object]:
    """Return the members of a client, with both names of each algorithm: the registered one and that of other tools."""
    return {
        "id": client.id,
        "name": client.name or None,
        "enabled": client.enabled,
        "confidential": client.confidential,
        "redirect_uris": list(client.redirect_uris),
        "post_logout_redirect_uris": list(client.post_logout_redirect_uris) or None,
        "allowed_origins": list(client.allowed_origins) or None,
        "flows_enabled": list(client.flows_enabled),
        "access_token_signed_response_alg": client.access_token_signed_response_alg,
        "id_token_signed_response_alg": client.id_token_signed_response_alg,
        "access_token_alg": client.access_token_signed_response_alg,
        "id_token_alg": client.id_token_signed_response_alg,
        "auth_code_lifetime": client.auth_code_lifetime,
        "access_token_lifetime": client.access_token_lifetime,
        "scopes": list(client.scopes),
        "default_scopes": list(client.default_scopes),
        "challenges": list(client.challenges) or None,
        "force_mfa": client.force_mfa,
        "client_uri": client.client_uri or None,
        "contacts": list(client.contacts) or None,
        "backchannel_logout_uri": client.backchannel_logout_uri or None,
        "restrict_group_prefix": client.restrict_group_prefix or None,
        "allowed_resources": list(client.allowed_resources) or None,
        "default_aud": list(client.default_aud) or None,
        "claims": orjson.Fragment(client.claims) if client.claims else None,
        "claims_at_root": client.claims_at_root,
        "consent": client.consent,
        "jwks": orjson.Fragment(client.jwks) if client.jwks else None,
        "jwks_uri": client.jwks_uri or None,
        "token_endpoint_auth_method": client.token_endpoint_auth_method,
        "token_endpoint_auth_signing_alg": client.token_endpoint_auth_signing_alg or None,
        "request_object_signing_alg": client.request_object_signing_alg or None,
        "require_signed_request_object": client.require_signed_request_object,
        "request_uris": list(client.request_uris) or None,
        "policy_uri": client.policy_uri or None,
        "tos_uri": client.tos_uri or None,
        "fed_cm": client.fed_cm,
        "userinfo_signed_response_alg": client.userinfo_signed_response_alg or None,
        "access_token_typ": client.access_token_typ,
        "require_pushed_authorization_requests": client.require_pushed_authorization_requests,
        "dpop_bound_access_tokens": client.dpop_bound_access_tokens,
        "may_act": list(client.may_act) or None,
        "assertion_providers": list(client.assertion_providers) or None,
        "introspection_signed_response_alg": client.introspection_signed_response_alg,
        "subject_type": client.subject_type,
        "sector_identifier_uri": client.sector_identifier_uri or None,
        "frontchannel_logout_uri": client.frontchannel_logout_uri or None,
        "frontchannel_logout_session_required": client.frontchannel_logout_session_required,
        "tls_client_auth_subject_dn": client.tls_client_auth_subject_dn or None,
        "tls_client_auth_san_dns": client.tls_client_auth_san_dns or None,
        "tls_client_auth_san_uri": client.tls_client_auth_san_uri or None,
        "tls_client_auth_san_ip": client.tls_client_auth_san_ip or None,
        "tls_client_auth_san_email": client.tls_client_auth_san_email or None,
        "tls_client_certificate_bound_access_tokens": client.tls_client_certificate_bound_access_tokens,
        "security_profile": client.security_profile or "none",
    }


def _with_secret(answer: pb.CreateClientResponse | pb.UpdateClientResponse) -> web.Response:
    secret = {"secret": answer.client_secret} if answer.client_secret else {}
    return written({**members(answer.client), **secret})
