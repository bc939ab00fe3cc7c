"""DynamicClientService."""

from dataclasses import fields
from functools import partial

from gnomon.identity.v1 import dynamic_client_service_pb2 as pb
from identity.access.rpc.records import record_of
from identity.clients.dynamic.metadata import ClientMetadata
from identity.clients.dynamic.registration import DynamicRegistration, Registered
from identity.clients.rpc.client_messages import message_of, record_fields
from identity.directory.client import Client
from identity.foundation.tenants import Tenant, Tenants
from server.platform.call import Call

_OWN = {each.name for each in fields(ClientMetadata)}
_OTHERS = {each.name for each in pb.ClientMetadata.DESCRIPTOR.fields} - _OWN


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
    return record_of(
        ClientMetadata, message, without=_OTHERS, others=partial(record_fields, message, without=_OWN)
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
    return message_of(
        pb.ClientMetadata,
        client,
        response_types=("code",),
        scope=" ".join(client.oauth_scopes),
        application_type=client.registration.application_type if client.registration else "",
    )
