"""BackchannelAuthenticationService."""

from gnomon.identity.v1 import backchannel_authentication_service_pb2 as pb
from identity.access.rpc.records import message_of
from identity.authentication.rpc.authorization_details import messages_of
from identity.authentication.rpc.browser import browser_of, parameters_of
from identity.authentication.rpc.proofs import credentials_of
from identity.foundation.tenants import Tenants
from identity.protocol.backchannel.authentication import BackchannelAuthentications
from identity.protocol.backchannel.decisions import BackchannelDecisions, WaitingRequest
from server.platform.call import Call


class BackchannelAuthenticationServicer:
    def __init__(
        self, tenants: Tenants, authentications: BackchannelAuthentications, decisions: BackchannelDecisions
    ) -> None:
        self._tenants = tenants
        self._authentications = authentications
        self._decisions = decisions

    async def start_backchannel_authentication(
        self, request: pb.StartBackchannelAuthenticationRequest, call: Call
    ) -> pb.StartBackchannelAuthenticationResponse:
        started = await self._authentications.start(
            self._tenants.find(request.tenant_id),
            credentials_of(request.client, call),
            parameters_of(request.parameters),
        )
        return message_of(pb.StartBackchannelAuthenticationResponse, started, {"expires_in": "lifetime"})

    async def list_backchannel_requests(
        self, request: pb.ListBackchannelRequestsRequest, _call: Call
    ) -> pb.ListBackchannelRequestsResponse:
        tenant = self._tenants.find(request.tenant_id)
        found = await self._decisions.waiting(tenant, browser_of(request.browser))
        return pb.ListBackchannelRequestsResponse(
            requests=map(_shown, found.requests),
            email=found.user.email,
            user_language=found.user.language,
            csrf_token=found.session.csrf_token,
        )

    async def answer_backchannel_request(
        self, request: pb.AnswerBackchannelRequestRequest, _call: Call
    ) -> pb.AnswerBackchannelRequestResponse:
        answered = await self._decisions.decide(
            self._tenants.find(request.tenant_id),
            browser_of(request.browser),
            request.request_id,
            is_accepted=request.is_accepted,
        )
        return pb.AnswerBackchannelRequestResponse(
            client_id=answered.client.client_id, client_name=answered.client.name
        )


_NAMES = {
    "client_name": "client.name",
    "scopes": "request.oauth_scopes",
    "expires_at": "request.redeemable_until",
    "repeated_sign_in": "sign_in_again",
    **{name: f"request.{name}" for name in ("id", "client_id", "binding_message", "started_at")},
}


def _shown(waiting: WaitingRequest) -> pb.BackchannelRequest:
    details = messages_of(waiting.details)
    return message_of(pb.BackchannelRequest, waiting, _NAMES, authorization_details=details)
