"""PUT /users/{id}/devices, where an absent name is the id. All else about devices is in device_list_service.proto."""

import msgspec
from aiohttp import web

from edge.oidc.access.administration_calls import AdministrationCalls, tenant_and_id
from edge.oidc.access.body import read_json
from edge.oidc.openapi.operation import described, done
from edge.oidc.stubs import Stubs
from gnomon.identity.v1 import device_list_service_pb2 as pb


class _Renamed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    device_id: str
    name: str | None = None


class DevicesEndpoint:
    def __init__(self, stubs: Stubs, calls: AdministrationCalls) -> None:
        self._devices = stubs.device_lists
        self._calls = calls

    @described("Renames a device.", done(), body=_Renamed, refusals=(409,))
    async def rename(self, request: web.Request) -> web.Response:
        """Rename the device; without a name it gets its id as name."""
        (tenant_id, user_id), caller = tenant_and_id(request), self._calls.caller(request)
        sent = await read_json(request, _Renamed, max_bytes=self._calls.max_bytes)
        asked = pb.RenameDeviceRequest(
            tenant_id=tenant_id,
            caller=caller,
            user_id=user_id,
            device_id=sent.device_id,
            name=sent.name or sent.device_id,
        )
        await self._devices.RenameDevice(asked, timeout=self._calls.timeout)
        return web.Response()
