"""BlacklistService."""

from datetime import UTC, datetime

from gnomon.identity.v1 import blacklist_service_pb2 as pb
from identity.access.login_protection.blacklist import Blacklist
from identity.access.login_protection.failures import BlockScope
from identity.access.rpc.admission import Admission
from identity.foundation.tenants import Tenants
from server.platform.call import Call

_REACHES = {
    BlockScope.EVERYTHING: pb.BLOCK_REACH_EVERYTHING,
    BlockScope.SIGN_IN: pb.BLOCK_REACH_SIGN_IN,
    BlockScope.ACCOUNTS: pb.BLOCK_REACH_ACCOUNTS,
}


class BlacklistServicer:
    def __init__(self, tenants: Tenants, admission: Admission, blacklist: Blacklist) -> None:
        self._tenants = tenants
        self._admission = admission
        self._blacklist = blacklist

    async def admit_address(self, request: pb.AdmitAddressRequest, _call: Call) -> pb.AdmitAddressResponse:
        await self._blacklist.admit(self._tenants.find(request.tenant_id), request.peer_address)
        return pb.AdmitAddressResponse()

    async def list_blocked_addresses(
        self, request: pb.ListBlockedAddressesRequest, _call: Call
    ) -> pb.ListBlockedAddressesResponse:
        tenant, _ = await self._admission.of(request)
        blocked = await self._blacklist.blocked(tenant)
        ips = [
            pb.BlockedAddress(ip=each.address, exp=int(each.until.timestamp()), reach=_REACHES[each.reach])
            for each in blocked
        ]
        return pb.ListBlockedAddressesResponse(ips=ips)

    async def block_address(self, request: pb.BlockAddressRequest, _call: Call) -> pb.BlockAddressResponse:
        tenant, actor = await self._admission.of(request)
        until = datetime.fromtimestamp(request.exp, UTC)
        await self._blacklist.block(tenant, request.ip, until=until, actor=actor)
        return pb.BlockAddressResponse()

    async def unblock_address(
        self, request: pb.UnblockAddressRequest, _call: Call
    ) -> pb.UnblockAddressResponse:
        tenant, actor = await self._admission.of(request)
        await self._blacklist.unblock(tenant, request.ip, actor=actor)
        return pb.UnblockAddressResponse()
