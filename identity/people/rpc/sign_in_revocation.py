"""SignInRevocationService."""

from gnomon.identity.v1 import sign_in_revocation_service_pb2 as pb
from identity.directory.user import UserId
from identity.foundation.tenants import Tenants
from identity.people.notices.revocations import Revocations
from server.platform.call import Call


class SignInRevocationServicer:
    def __init__(self, tenants: Tenants, revocations: Revocations) -> None:
        self._tenants = tenants
        self._revocations = revocations

    async def check_revocation_link(
        self, request: pb.CheckRevocationLinkRequest, _call: Call
    ) -> pb.CheckRevocationLinkResponse:
        tenant = self._tenants.find(request.tenant_id)
        await self._revocations.find(tenant, UserId(request.user_id), request.code)
        return pb.CheckRevocationLinkResponse()

    async def revoke_sign_ins(
        self, request: pb.RevokeSignInsRequest, _call: Call
    ) -> pb.RevokeSignInsResponse:
        tenant = self._tenants.find(request.tenant_id)
        await self._revocations.revoke(
            tenant, UserId(request.user_id), request.code, peer_address=request.peer_address
        )
        return pb.RevokeSignInsResponse()
