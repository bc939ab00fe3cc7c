"""Devices that a user authorized: list, rename, and revoke their tokens."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from identity.access.callers import Actor
from identity.access.device import Device
from identity.access.tokens.token_sets import TokenSets
from identity.directory.user import UserId
from identity.foundation.events.events import Events
from identity.foundation.events.kinds import EventType
from identity.foundation.tenants import Tenant
from server.platform.errors import InvalidArgument, InvalidState, NotFound, PermissionDenied
from server.platform.records import Changed, Records

_MOST_OF_A_USER = 1000
_NAME_LENGTHS = range(2, 129)


@dataclass(frozen=True, slots=True)
class ListedDevice:
    """`refresh_until` is the expiry of the refresh token, None without one."""

    device: Device
    refresh_until: datetime | None


class DeviceAdministration:
    def __init__(self, devices: Records[Device], token_sets: TokenSets, events: Events) -> None:
        self._devices = devices
        self._token_sets = token_sets
        self._events = events

    async def of_user(self, tenant: Tenant, user_id: UserId) -> Sequence[ListedDevice]:
        devices = await self._devices.find(tenant.tenant_id, "user_id", user_id, most=_MOST_OF_A_USER)
        return [ListedDevice(device, await self._refresh_until(tenant, device)) for device in devices]

    async def rename(
        self, tenant: Tenant, user_id: UserId, device_id: str, *, name: str, actor: Actor
    ) -> None:
        """Raises NotFound, InvalidArgument, InvalidState, and PermissionDenied for another user's device."""
        if len(name) not in _NAME_LENGTHS or not name.isprintable():
            raise InvalidArgument("name: expected 2 to 128 printable characters")
        device = await self._of(tenant, user_id, device_id)
        try:
            await self._devices.replace(replace(device, name=name))
        except Changed as error:
            raise InvalidState("another caller changed the device in the meantime") from error
        await self._tell(tenant, device, actor)

    async def revoke(self, tenant: Tenant, user_id: UserId, device_id: str, *, actor: Actor) -> None:
        """Revoke the device's tokens; raises NotFound, and PermissionDenied for another user's device."""
        device = await self._of(tenant, user_id, device_id)
        await self._token_sets.remove_of_device(tenant, device.id)
        await self._tell(tenant, device, actor)

    async def _of(self, tenant: Tenant, user_id: UserId, device_id: str) -> Device:
        device = await self._devices.get(tenant.tenant_id, device_id)
        if device is None:
            raise NotFound("there is no such device")
        if device.user_id != user_id:
            raise PermissionDenied("the device belongs to another user")
        return device

    async def _refresh_until(self, tenant: Tenant, device: Device) -> datetime | None:
        sets = await self._token_sets.of_device(tenant, device.id)
        ends = [each.expires_at for each in sets if each.refresh_token_hash and each.expires_at]
        return max(ends, default=None)

    async def _tell(self, tenant: Tenant, device: Device, actor: Actor) -> None:
        await self._events.emit(
            tenant.tenant_id,
            EventType.CHANGED,
            text=f"device {device.id}",
            user_id=device.user_id,
            client_id=device.client_id,
            actor=actor,
        )
