"""ClientService."""

from datetime import timedelta

from gnomon.identity.v1 import client_service_pb2 as pb
from identity.access.callers import Actor, AdministrationArea, Right
from identity.access.rpc.admission import Admission
from identity.access.rpc.operations import Operations, named
from identity.access.rpc.records import reader_of
from identity.clients.administration import ClientAdministration
from identity.clients.changes import ClientChange
from identity.clients.rpc.client_messages import message_of, record_fields
from identity.directory.client import Client
from identity.foundation.tenants import Tenant
from identity.foundation.vocabulary import AuthenticationMethod

# An empty method leaves the choice to the provider.
_METHOD = reader_of(
    pb.Client.DESCRIPTOR.fields_by_name["token_endpoint_auth_method"], AuthenticationMethod, default=None
)


class ClientServicer(Operations):
    def __init__(self, admission: Admission, clients: ClientAdministration) -> None:
        self._admission = admission
        self._clients = clients
        super().__init__(
            admission,
            {
                pb.ListClientsRequest: clients.page,
                pb.GetClientRequest: named(clients.find, client_id="id"),
                pb.CreateClientRequest: clients.create,
                pb.UpdateClientRequest: self._update,
                pb.DeleteClientRequest: named(clients.delete, client_id="id"),
                pb.RotateClientSecretRequest: self._rotate,
            },
            names={"confidential": "is_confidential", "search": "text"},
            shows={Client: _message},
        )

    async def _update(
        self, tenant: Tenant, request: pb.UpdateClientRequest, actor: Actor
    ) -> tuple[Client, str]:
        change = _change(request.client)
        if change.gives_credentials(await self._clients.find(tenant, change.id)):
            # New credentials give the caller the client's permissions, so this operation needs the right to secrets.
            await self._admission.of(request, AdministrationArea.SECRETS, Right.UPDATE)
        return await self._clients.change(tenant, change, actor=actor)

    async def _rotate(self, tenant: Tenant, request: pb.RotateClientSecretRequest, actor: Actor) -> str:
        grace = timedelta(hours=request.cache_current_hours)
        return await self._clients.rotate_secret(tenant, request.id, grace=grace, actor=actor)


def _change(message: pb.Client) -> ClientChange:
    """Raises InvalidArgument for a word that does not exist."""
    return ClientChange(
        id=message.id,
        is_confidential=message.confidential,
        method=_METHOD(message),
        fields=record_fields(message),
    )


def _message(client: Client) -> pb.Client:
    return message_of(pb.Client, client)
