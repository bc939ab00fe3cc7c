"""DeviceListService."""

from gnomon.identity.v1 import device_list_service_pb2 as pb
from identity.access.rpc.admission import Admission
from identity.access.rpc.operations import Operations
from identity.access.rpc.records import message_of
from identity.protocol.devices.administration import DeviceAdministration, ListedDevice


class DeviceListServicer(Operations):
    def __init__(self, admission: Admission, devices: DeviceAdministration) -> None:
        super().__init__(
            admission,
            {
                pb.ListDevicesRequest: devices.of_user,
                pb.RenameDeviceRequest: devices.rename,
                pb.RevokeDeviceRequest: devices.revoke,
            },
            shows={ListedDevice: _message},
        )


def _message(listed: ListedDevice) -> pb.Device:
    return message_of(pb.Device, listed.device, {"peer_ip": "peer_address"}, refresh_exp=listed.refresh_until)
