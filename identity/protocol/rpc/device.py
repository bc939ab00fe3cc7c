"""DeviceService."""

from collections.abc import Mapping

from gnomon.identity.v1 import device_service_pb2 as pb
from identity.access.client_authentication.authenticator import ClientCredentials
from identity.access.rpc.admission import TenantAdmission
from identity.access.rpc.operations import Operations
from identity.access.rpc.records import message_of
from identity.access.sessions.browser import Browser
from identity.authentication.rpc.authorization_details import messages_of
from identity.authentication.rpc.browser import READS
from identity.directory import oauth_scopes as scopes
from identity.foundation.tenants import Tenant
from identity.protocol.devices.authorization import DeviceAuthorizations, StartedAuthorization, StartRequest
from identity.protocol.devices.verification import (
    Decision,
    DeviceVerification,
    Question,
    accepted,
    declined,
    looked_at,
)
from server.platform.errors import InvalidArgument

_DECISIONS: Mapping[int, Decision] = {
    pb.DEVICE_DECISION_PENDING: looked_at,
    pb.DEVICE_DECISION_ACCEPT: accepted,
    pb.DEVICE_DECISION_DECLINE: declined,
}
_OF_REQUEST = {
    "client_id": "code.client_id",
    "client_name": "client.name",
    "peer_address": "code.peer_address",
    "started_at": "code.started_at",
}


class DeviceServicer(Operations):
    def __init__(
        self,
        admission: TenantAdmission,
        authorizations: DeviceAuthorizations,
        verification: DeviceVerification,
    ) -> None:
        self._authorizations = authorizations
        self._verification = verification
        super().__init__(
            admission,
            {pb.StartDeviceAuthorizationRequest: self._start, pb.VerifyDeviceRequest: self._verify},
            names={"expires_in": "lifetime"},
            reads=READS,
        )

    async def _start(
        self, tenant: Tenant, credentials: ClientCredentials, request: pb.StartDeviceAuthorizationRequest
    ) -> StartedAuthorization:
        return await self._authorizations.start(
            StartRequest(
                tenant=tenant,
                credentials=credentials,
                oauth_scopes=scopes.parse(request.scope),
                nonce=request.nonce,
                authorization_details=request.authorization_details,
                peer_address=request.peer_address,
            )
        )

    async def _verify(
        self, tenant: Tenant, browser: Browser, request: pb.VerifyDeviceRequest
    ) -> pb.VerifyDeviceResponse:
        decision = _DECISIONS.get(request.decision)
        if decision is None:
            raise InvalidArgument("decision: expected one of pending, accept and decline")
        question = Question(
            tenant=tenant, browser=browser, user_code=request.user_code, proof_of_work=request.pow
        )
        asked_for = await self._verification.decide(question, decision)
        return message_of(
            pb.VerifyDeviceResponse,
            asked_for,
            _OF_REQUEST,
            scopes=" ".join(asked_for.code.oauth_scopes),
            authorization_details=messages_of(asked_for.details),
        )
