"""/clients: administration of clients. A secret is only in the response that creates it."""

import msgspec
from aiohttp import web

from edge.oidc.access.administration_calls import segment, written
from edge.oidc.access.body import bad_request, read_body, read_json
from edge.oidc.access.browsers import Browsers
from edge.oidc.access.callers import caller_of
from edge.oidc.access.tenant import tenant_of
from edge.oidc.clients.client_body import ClientBody, NewClient, Rotation, client_of, members
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
        client = client_of(sent)
        if client.id != client_id:
            raise bad_request("id: expected that of the address")
        asked = pb.UpdateClientRequest(
            tenant_id=tenant_of(request), caller=self._caller(request), client=client
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


def _with_secret(answer: pb.CreateClientResponse | pb.UpdateClientResponse) -> web.Response:
    secret = {"secret": answer.client_secret} if answer.client_secret else {}
    return written({**members(answer.client), **secret})
