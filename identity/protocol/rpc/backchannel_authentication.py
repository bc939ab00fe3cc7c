"""BackchannelAuthenticationService."""

from gnomon.identity.v1 import backchannel_authentication_service_pb2 as pb
from identity.authentication.rpc.authorization_details import messages_of
from identity.authentication.rpc.browser import browser_of, parameters_of
from identity.authentication.rpc.proofs import credentials_of
from identity.foundation.tenants import Tenants
from identity.protocol.backchannel.authentication import BackchannelAuthentications
from identity.protocol.backchannel.decisions import BackchannelDecisions, SignInAgain, WaitingRequest
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
        return pb.StartBackchannelAuthenticationResponse(
            auth_req_id=started.auth_req_id,
            expires_in=int(started.lifetime.total_seconds()),
            interval=started.interval,
        )

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


def _shown(waiting: WaitingRequest) -> pb.BackchannelRequest:
    request = waiting.request
    return pb.BackchannelRequest(
        id=request.id,
        client_id=request.client_id,
        client_name=waiting.client.name,
        binding_message=request.binding_message,
        scopes=request.oauth_scopes,
        started_at=int(request.started_at.timestamp()),
        expires_at=int(request.redeemable_until.timestamp()),
        repeated_sign_in=_repeated(waiting.sign_in_again),
        authorization_details=messages_of(waiting.details),
    )


def _repeated(again: SignInAgain | None) -> pb.RepeatedSignIn | None:
    if again is None:
        return None
    return pb.RepeatedSignIn(
        acr_values=again.acr_values, max_age=again.max_age, is_possible=again.is_possible
    )
