"""DynamicClientService."""

from dataclasses import fields
from functools import partial

from gnomon.identity.v1 import dynamic_client_service_pb2 as pb
from identity.access.rpc import records
from identity.access.rpc.admission import TenantAdmission
from identity.access.rpc.operations import Operations
from identity.clients.dynamic.metadata import ClientMetadata
from identity.clients.dynamic.registration import DynamicRegistration, Registered
from identity.clients.rpc.client_messages import message_of, record_fields
from identity.directory.client import Client

_OWN = {each.name for each in fields(ClientMetadata)}
_OTHERS = {each.name for each in pb.ClientMetadata.DESCRIPTOR.fields} - _OWN


class DynamicClientServicer(Operations):
    def __init__(self, admission: TenantAdmission, registration: DynamicRegistration) -> None:
        super().__init__(
            admission,
            {
                pb.RegisterClientRequest: registration.register,
                pb.GetRegistrationRequest: registration.read,
                pb.UpdateRegistrationRequest: registration.change,
                pb.DeleteRegistrationRequest: registration.remove,
            },
            reads={ClientMetadata: _metadata},
            shows={Registered: _message},
        )


def _metadata(message: pb.ClientMetadata) -> ClientMetadata:
    return records.record_of(
        ClientMetadata, message, without=_OTHERS, others=partial(record_fields, message, without=_OWN)
    )


def _message(registered: Registered) -> pb.ClientRegistration:
    client = registered.client
    return records.message_of(
        pb.ClientRegistration,
        registered,
        client_id=client.id,
        client_id_issued_at=client.registration.issued_at if client.registration else 0,
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
