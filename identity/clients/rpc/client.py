"""ClientService."""

from datetime import timedelta

from gnomon.identity.v1 import client_service_pb2 as pb
from identity.access.callers import Actor, AdministrationArea, Right
from identity.access.rpc.admission import Admission
from identity.access.rpc.operations import Operations, named
from identity.clients.administration import ClientAdministration
from identity.clients.changes import ClientChange
from identity.clients.fields import record_fields, word_of
from identity.clients.rpc.client_messages import message_of, values_of
from identity.directory.client import Client
from identity.foundation.tenants import Tenant
from identity.foundation.vocabulary import AuthenticationMethod


class ClientServicer(Operations):
    def __init__(self, admission: Admission, clients: ClientAdministration) -> None:
        self._admission = admission
        self._clients = clients
        super().__init__(
            admission,
            {
                pb.ListClientsRequest: clients.all,
                pb.GetClientRequest: named(clients.find, client_id="id"),
                pb.CreateClientRequest: clients.create,
                pb.UpdateClientRequest: self._update,
                pb.DeleteClientRequest: named(clients.delete, client_id="id"),
                pb.RotateClientSecretRequest: self._rotate,
            },
            names={"confidential": "is_confidential"},
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
    method = message.token_endpoint_auth_method
    return ClientChange(
        id=message.id,
        is_confidential=message.confidential,
        method=word_of(AuthenticationMethod, "token_endpoint_auth_method", method) if method else None,
        fields=record_fields(values_of(message)),
    )


def _message(client: Client) -> pb.Client:
    return message_of(pb.Client, client)
