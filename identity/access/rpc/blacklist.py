"""BlacklistService."""

from datetime import UTC, datetime

from gnomon.identity.v1 import blacklist_service_pb2 as pb
from identity.access.callers import AdministrationArea, Callers, Right
from identity.access.login_protection.blacklist import Blacklist
from identity.access.login_protection.failures import BlockScope
from identity.foundation.tenants import Tenants
from server.platform.call import Call

_REACHES = {
    BlockScope.EVERYTHING: pb.BLOCK_REACH_EVERYTHING,
    BlockScope.SIGN_IN: pb.BLOCK_REACH_SIGN_IN,
    BlockScope.ACCOUNTS: pb.BLOCK_REACH_ACCOUNTS,
}


class BlacklistServicer:
    def __init__(self, tenants: Tenants, callers: Callers, blacklist: Blacklist) -> None:
        self._tenants = tenants
        self._callers = callers
        self._blacklist = blacklist

    async def admit_address(self, request: pb.AdmitAddressRequest, _call: Call) -> pb.AdmitAddressResponse:
        await self._blacklist.admit(self._tenants.find(request.tenant_id), request.peer_address)
        return pb.AdmitAddressResponse()

    async def list_blocked_addresses(
        self, request: pb.ListBlockedAddressesRequest, _call: Call
    ) -> pb.ListBlockedAddressesResponse:
        tenant = self._tenants.find(request.tenant_id)
        await self._callers.expect(tenant, request.caller, AdministrationArea.BLACKLIST, Right.READ)
        blocked = await self._blacklist.blocked(tenant)
        ips = [
            pb.BlockedAddress(ip=each.address, exp=int(each.until.timestamp()), reach=_REACHES[each.reach])
            for each in blocked
        ]
        return pb.ListBlockedAddressesResponse(ips=ips)

    async def block_address(self, request: pb.BlockAddressRequest, _call: Call) -> pb.BlockAddressResponse:
        tenant = self._tenants.find(request.tenant_id)
        actor = await self._callers.expect(tenant, request.caller, AdministrationArea.BLACKLIST, Right.CREATE)
        until = datetime.fromtimestamp(request.exp, UTC)
        await self._blacklist.block(tenant, request.ip, until=until, actor=actor)
        return pb.BlockAddressResponse()

    async def unblock_address(
        self, request: pb.UnblockAddressRequest, _call: Call
    ) -> pb.UnblockAddressResponse:
        tenant = self._tenants.find(request.tenant_id)
        actor = await self._callers.expect(tenant, request.caller, AdministrationArea.BLACKLIST, Right.DELETE)
        await self._blacklist.unblock(tenant, request.ip, actor=actor)
        return pb.UnblockAddressResponse()
