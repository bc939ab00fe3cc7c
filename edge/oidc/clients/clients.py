"""PUT /clients/{id}/secret, which reads a body of any media type. All else about clients is in client_service.proto."""

from typing import Annotated

import msgspec
from aiohttp import web

from edge.oidc.access.administration_calls import AdministrationCalls, segment, written
from edge.oidc.access.body import bad_request, read_body
from edge.oidc.access.tenant import tenant_of
from edge.oidc.openapi.operation import content, described
from edge.oidc.openapi.schemas import BOOLEAN, STRING, an_object
from edge.oidc.stubs import Stubs
from gnomon.identity.v1 import client_service_pb2 as pb
from server.platform.json_members import expect_unique_members

_Hours = Annotated[int, msgspec.Meta(ge=1, le=24)]


class Rotation(msgspec.Struct, forbid_unknown_fields=True):
    cache_current_hours: _Hours | None = None


class ClientsEndpoint:
    def __init__(self, stubs: Stubs, calls: AdministrationCalls) -> None:
        self._clients = stubs.clients
        self._calls = calls

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
            caller=self._calls.caller(request),
            id=client_id,
            cache_current_hours=hours,
        )
        rotated = await self._clients.RotateClientSecret(asked, timeout=self._calls.timeout)
        return written({"id": client_id, "confidential": True, "secret": rotated.client_secret})

    async def _grace_hours(self, request: web.Request) -> int:
        """Return the validity of the previous secret in hours, 0 without a body; raises Refused."""
        body = await read_body(request, self._calls.max_bytes)
        try:
            sent = msgspec.json.decode(body, type=Rotation) if body else Rotation()
            expect_unique_members(body or b"{}")
        except (msgspec.DecodeError, ValueError) as error:
            raise bad_request("cache_current_hours: expected 1 to 24") from error
        return sent.cache_current_hours or 0
