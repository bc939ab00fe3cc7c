"""ClientService."""

from collections.abc import Iterable
from datetime import timedelta

from gnomon.identity.v1 import client_service_pb2 as pb
from identity.access.callers import AdministrationArea, Right
from identity.access.rpc.admission import Admission
from identity.clients.administration import ClientAdministration, NewClient
from identity.clients.changes import ClientChange
from identity.clients.fields import record_fields, word_of
from identity.clients.rpc.client_messages import message_of, values_of
from identity.directory.client import Client
from identity.foundation.vocabulary import AuthenticationMethod
from server.platform.call import Call


class ClientServicer:
    def __init__(self, admission: Admission, administration: ClientAdministration) -> None:
        self._admission = admission
        self._administration = administration

    async def list_clients(self, request: pb.ListClientsRequest, _call: Call) -> pb.ListClientsResponse:
        tenant, _ = await self._admission.of(request)
        return pb.ListClientsResponse(clients=map(_client, await self._administration.all(tenant)))

    async def get_client(self, request: pb.GetClientRequest, _call: Call) -> pb.GetClientResponse:
        tenant, _ = await self._admission.of(request)
        return pb.GetClientResponse(client=_client(await self._administration.find(tenant, request.id)))

    async def create_client(self, request: pb.CreateClientRequest, _call: Call) -> pb.CreateClientResponse:
        tenant, actor = await self._admission.of(request)
        new = NewClient(
            id=request.id,
            name=request.name,
            is_confidential=request.confidential,
            redirect_uris=_distinct(request.redirect_uris),
            post_logout_redirect_uris=_distinct(request.post_logout_redirect_uris),
        )
        client, secret = await self._administration.create(tenant, new, actor=actor)
        return pb.CreateClientResponse(client=_client(client), client_secret=secret)

    async def update_client(self, request: pb.UpdateClientRequest, _call: Call) -> pb.UpdateClientResponse:
        tenant, actor = await self._admission.of(request)
        change = _change(request.client)
        if change.gives_credentials(await self._administration.find(tenant, change.id)):
            # New credentials give the caller the client's permissions, so this needs the right to secrets.
            await self._admission.of(request, AdministrationArea.SECRETS, Right.UPDATE)
        client, secret = await self._administration.change(tenant, change, actor=actor)
        return pb.UpdateClientResponse(client=_client(client), client_secret=secret)

    async def delete_client(self, request: pb.DeleteClientRequest, _call: Call) -> pb.DeleteClientResponse:
        tenant, actor = await self._admission.of(request)
        await self._administration.delete(tenant, request.id, actor=actor)
        return pb.DeleteClientResponse()

    async def rotate_client_secret(
        self, request: pb.RotateClientSecretRequest, _call: Call
    ) -> pb.RotateClientSecretResponse:
        tenant, actor = await self._admission.of(request)
        grace = timedelta(hours=request.cache_current_hours)
        secret = await self._administration.rotate_secret(tenant, request.id, grace=grace, actor=actor)
        return pb.RotateClientSecretResponse(client_secret=secret)


def _change(message: pb.Client) -> ClientChange:
    """Raises InvalidArgument for a word that does not exist."""
    method = message.token_endpoint_auth_method
    return ClientChange(
        id=message.id,
        is_confidential=message.confidential,
        method=word_of(AuthenticationMethod, "token_endpoint_auth_method", method) if method else None,
        fields=record_fields(values_of(message)),
    )


def _distinct(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))


def _client(client: Client) -> pb.Client:
    return message_of(pb.Client, client)
