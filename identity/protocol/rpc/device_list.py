"""DeviceListService."""

from gnomon.identity.v1 import device_list_service_pb2 as pb
from identity.access.rpc.admission import Admission
from identity.access.rpc.records import message_of
from identity.directory.user import UserId
from identity.protocol.devices.administration import DeviceAdministration, ListedDevice
from server.platform.call import Call


class DeviceListServicer:
    def __init__(self, admission: Admission, administration: DeviceAdministration) -> None:
        self._admission = admission
        self._administration = administration

    async def list_devices(self, request: pb.ListDevicesRequest, _call: Call) -> pb.ListDevicesResponse:
        tenant, _ = await self._admission.of(request)
        found = await self._administration.of_user(tenant, UserId(request.user_id))
        return pb.ListDevicesResponse(devices=map(_message, found))

    async def rename_device(self, request: pb.RenameDeviceRequest, _call: Call) -> pb.RenameDeviceResponse:
        tenant, actor = await self._admission.of(request)
        user_id = UserId(request.user_id)
        await self._administration.rename(tenant, user_id, request.device_id, name=request.name, actor=actor)
        return pb.RenameDeviceResponse()

    async def revoke_device(self, request: pb.RevokeDeviceRequest, _call: Call) -> pb.RevokeDeviceResponse:
        tenant, actor = await self._admission.of(request)
        await self._administration.revoke(tenant, UserId(request.user_id), request.device_id, actor=actor)
        return pb.RevokeDeviceResponse()


def _message(listed: ListedDevice) -> pb.Device:
    return message_of(pb.Device, listed.device, {"peer_ip": "peer_address"}, refresh_exp=listed.refresh_until)
