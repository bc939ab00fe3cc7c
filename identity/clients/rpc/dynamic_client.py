"""DynamicClientService."""

from collections.abc import Iterable

from gnomon.identity.v1 import dynamic_client_service_pb2 as pb
from identity.clients.dynamic.metadata import ClientMetadata
from identity.clients.dynamic.registration import DynamicRegistration, Registered
from identity.clients.rpc.certificate_names import certificate_name_of, fields_of
from identity.directory.client import Client
from identity.foundation.tenants import Tenant, Tenants
from server.platform.call import Call


class DynamicClientServicer:
    def __init__(self, tenants: Tenants, registration: DynamicRegistration) -> None:
        self._tenants = tenants
        self._registration = registration

    async def register_client(
        self, request: pb.RegisterClientRequest, _call: Call
    ) -> pb.RegisterClientResponse:
        tenant = self._tenants.find(request.tenant_id)
        registered = await self._registration.register(
            tenant, _metadata(request.metadata), token=request.token, peer_address=request.peer_address
        )
        return pb.RegisterClientResponse(registration=_message(registered, tenant))

    async def get_registration(
        self, request: pb.GetRegistrationRequest, _call: Call
    ) -> pb.GetRegistrationResponse:
        tenant = self._tenants.find(request.tenant_id)
        registered = await self._registration.read(tenant, request.client_id, token=request.token)
        return pb.GetRegistrationResponse(registration=_message(registered, tenant))

    async def update_registration(
        self, request: pb.UpdateRegistrationRequest, _call: Call
    ) -> pb.UpdateRegistrationResponse:
        tenant = self._tenants.find(request.tenant_id)
        registered = await self._registration.change(
            tenant,
            request.client_id,
            _metadata(request.metadata),
            token=request.token,
            client_secret=request.client_secret,
            peer_address=request.peer_address,
        )
        return pb.UpdateRegistrationResponse(registration=_message(registered, tenant))

    async def delete_registration(
        self, request: pb.DeleteRegistrationRequest, _call: Call
    ) -> pb.DeleteRegistrationResponse:
        await self._registration.remove(
            self._tenants.find(request.tenant_id),
            request.client_id,
            token=request.token,
            peer_address=request.peer_address,
        )
        return pb.DeleteRegistrationResponse()


def _metadata(message: pb.ClientMetadata) -> ClientMetadata:
    return ClientMetadata(
        redirect_uris=_distinct(message.redirect_uris),
        post_logout_redirect_uris=_distinct(message.post_logout_redirect_uris),
        grant_types=_distinct(message.grant_types),
        response_types=_distinct(message.response_types),
        token_endpoint_auth_method=message.token_endpoint_auth_method,
        token_endpoint_auth_signing_alg=message.token_endpoint_auth_signing_alg,
        id_token_signed_response_alg=message.id_token_signed_response_alg,
        userinfo_signed_response_alg=message.userinfo_signed_response_alg,
        request_object_signing_alg=message.request_object_signing_alg,
        require_signed_request_object=message.require_signed_request_object,
        request_uris=_distinct(message.request_uris),
        require_pushed_authorization_requests=message.require_pushed_authorization_requests,
        dpop_bound_access_tokens=message.dpop_bound_access_tokens,
        jwks=message.jwks,
        jwks_uri=message.jwks_uri,
        client_name=message.client_name,
        client_uri=message.client_uri,
        policy_uri=message.policy_uri,
        tos_uri=message.tos_uri,
        contacts=_distinct(message.contacts),
        scope=message.scope,
        backchannel_logout_uri=message.backchannel_logout_uri,
        subject_type=message.subject_type,
        sector_identifier_uri=message.sector_identifier_uri,
        frontchannel_logout_uri=message.frontchannel_logout_uri,
        frontchannel_logout_session_required=message.frontchannel_logout_session_required,
        certificate_name=certificate_name_of(message),
        requires_certificate=message.tls_client_certificate_bound_access_tokens,
        application_type=message.application_type,
        default_max_age=message.default_max_age if message.HasField("default_max_age") else None,
    )


def _message(registered: Registered, tenant: Tenant) -> pb.ClientRegistration:
    client = registered.client
    return pb.ClientRegistration(
        client_id=client.id,
        client_secret=registered.client_secret,
        client_id_issued_at=client.registration.issued_at if client.registration else 0,
        registration_access_token=registered.registration_access_token,
        registration_client_uri=f"{tenant.issuer}clients_dyn/{client.id}",
        metadata=_described(client),
    )


def _described(client: Client) -> pb.ClientMetadata:
    """Return all registered metadata, also the defaults that the provider chose: RFC 7591 §3.2.1."""
    return pb.ClientMetadata(
        redirect_uris=client.redirect_uris,
        post_logout_redirect_uris=client.post_logout_redirect_uris,
        grant_types=sorted(client.grant_types),
        response_types=("code",),
        token_endpoint_auth_method=client.token_endpoint_auth_method,
        token_endpoint_auth_signing_alg=client.token_endpoint_auth_signing_alg,
        id_token_signed_response_alg=client.id_token_signed_response_alg,
        userinfo_signed_response_alg=client.userinfo_signed_response_alg or "",
        request_object_signing_alg=client.request_object_signing_alg,
        require_signed_request_object=client.requires_signed_request,
        request_uris=client.request_uris,
        require_pushed_authorization_requests=client.requires_pushed_request,
        dpop_bound_access_tokens=client.requires_dpop,
        jwks=client.jwks,
        jwks_uri=client.jwks_uri,
        client_name=client.name,
        client_uri=client.client_uri,
        policy_uri=client.policy_uri,
        tos_uri=client.tos_uri,
        contacts=client.contacts,
        scope=" ".join(client.oauth_scopes),
        backchannel_logout_uri=client.backchannel_logout_uri,
        subject_type=client.subject_type,
        sector_identifier_uri=client.sector_identifier_uri,
        frontchannel_logout_uri=client.frontchannel_logout_uri,
        frontchannel_logout_session_required=client.frontchannel_logout_session_required,
        tls_client_certificate_bound_access_tokens=client.requires_certificate,
        **fields_of(client.certificate_name),
        application_type=client.registration.application_type if client.registration else "",
        default_max_age=client.default_max_age,
    )


def _distinct(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))
