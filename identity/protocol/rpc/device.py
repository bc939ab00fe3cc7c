"""DeviceService."""

from collections.abc import Mapping

from gnomon.identity.v1 import device_service_pb2 as pb
from identity.access.rpc.records import message_of
from identity.authentication.rpc.authorization_details import messages_of
from identity.authentication.rpc.browser import browser_of
from identity.authentication.rpc.proofs import credentials_of
from identity.directory import oauth_scopes as scopes
from identity.foundation.tenants import Tenants
from identity.protocol.devices.authorization import DeviceAuthorizations, StartRequest
from identity.protocol.devices.verification import (
    Decision,
    DeviceVerification,
    Question,
    accepted,
    declined,
    looked_at,
)
from server.platform.call import Call
from server.platform.errors import InvalidArgument

_DECISIONS: Mapping[int, Decision] = {
    pb.DEVICE_DECISION_PENDING: looked_at,
    pb.DEVICE_DECISION_ACCEPT: accepted,
    pb.DEVICE_DECISION_DECLINE: declined,
}


class DeviceServicer:
    def __init__(
        self, tenants: Tenants, authorizations: DeviceAuthorizations, verification: DeviceVerification
    ) -> None:
        self._tenants = tenants
        self._authorizations = authorizations
        self._verification = verification

    async def start_device_authorization(
        self, request: pb.StartDeviceAuthorizationRequest, call: Call
    ) -> pb.StartDeviceAuthorizationResponse:
        started = await self._authorizations.start(
            StartRequest(
                tenant=self._tenants.find(request.tenant_id),
                credentials=credentials_of(request.client, call),
                oauth_scopes=scopes.parse(request.scope),
                nonce=request.nonce,
                authorization_details=request.authorization_details,
                peer_address=request.peer_address,
            )
        )
        return message_of(pb.StartDeviceAuthorizationResponse, started, {"expires_in": "lifetime"})

    async def verify_device(self, request: pb.VerifyDeviceRequest, _call: Call) -> pb.VerifyDeviceResponse:
        decision = _DECISIONS.get(request.decision)
        if decision is None:
            raise InvalidArgument("decision: expected one of pending, accept and decline")
        asked_for = await self._verification.decide(self._question(request), decision)
        code = asked_for.code
        return pb.VerifyDeviceResponse(
            scopes=" ".join(code.oauth_scopes),
            client_id=code.client_id,
            client_name=asked_for.client.name,
            peer_address=code.peer_address,
            started_at=int(code.started_at.timestamp()),
            authorization_details=messages_of(asked_for.details),
        )

    def _question(self, request: pb.VerifyDeviceRequest) -> Question:
        return Question(
            tenant=self._tenants.find(request.tenant_id),
            browser=browser_of(request.browser),
            user_code=request.user_code,
            proof_of_work=request.pow,
        )
