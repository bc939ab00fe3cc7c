"""UserInfoService."""

import msgspec

from gnomon.identity.v1 import user_info_service_pb2 as pb
from identity.access.dpop.nonces import DpopNonces
from identity.access.rpc.records import message_of
from identity.foundation.tenants import Tenants
from identity.protocol.userinfo.forward import Caller, ForwardAuthentication
from identity.protocol.userinfo.presented import PresentedToken
from identity.protocol.userinfo.userinfo import UserInfo
from server.platform.call import Call
from server.platform.mutual_tls import certificate_of


class UserInfoServicer:
    def __init__(
        self, tenants: Tenants, user_info: UserInfo, *, forward: ForwardAuthentication, nonces: DpopNonces
    ) -> None:
        self._tenants = tenants
        self._user_info = user_info
        self._forward = forward
        self._nonces = nonces

    async def get_user_info(self, request: pb.GetUserInfoRequest, call: Call) -> pb.GetUserInfoResponse:
        tenant = self._tenants.find(request.tenant_id)
        document = await self._user_info.of(tenant, _presented(request.token, call))
        dpop_nonce = self._nonces.current(tenant) if request.token.is_dpop else ""
        if document.jwt:
            return pb.GetUserInfoResponse(jwt=document.jwt, dpop_nonce=dpop_nonce)
        return pb.GetUserInfoResponse(claims=msgspec.json.encode(document.claims), dpop_nonce=dpop_nonce)

    async def authorize_forward(
        self, request: pb.AuthorizeForwardRequest, call: Call
    ) -> pb.AuthorizeForwardResponse:
        tenant = self._tenants.find(request.tenant_id)
        return forward_response(await self._forward.caller(tenant, _presented(request.token, call)))


def forward_response(caller: Caller) -> pb.AuthorizeForwardResponse:
    return message_of(pb.AuthorizeForwardResponse, caller)


def _presented(token: pb.PresentedToken, call: Call) -> PresentedToken:
    return PresentedToken(
        access_token=token.access_token,
        is_dpop=token.is_dpop,
        proof=token.dpop if token.HasField("dpop") else None,
        certificate=certificate_of(call),
    )
