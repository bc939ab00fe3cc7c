"""BackchannelAuthenticationService."""

from gnomon.identity.v1 import backchannel_authentication_service_pb2 as pb
from identity.access.rpc.admission import TenantAdmission
from identity.access.rpc.operations import Operations
from identity.access.rpc.records import message_of
from identity.authentication.rpc.authorization_details import messages_of
from identity.authentication.rpc.browser import READS
from identity.protocol.backchannel.authentication import BackchannelAuthentications
from identity.protocol.backchannel.decisions import BackchannelDecisions, WaitingRequest, WaitingRequests


class BackchannelAuthenticationServicer(Operations):
    def __init__(
        self,
        admission: TenantAdmission,
        authentications: BackchannelAuthentications,
        decisions: BackchannelDecisions,
    ) -> None:
        super().__init__(
            admission,
            {
                pb.StartBackchannelAuthenticationRequest: authentications.start,
                pb.ListBackchannelRequestsRequest: decisions.waiting,
                pb.AnswerBackchannelRequestRequest: decisions.decide,
            },
            names={
                "expires_in": "lifetime",
                "client_id": "client.client_id",
                "client_name": "client.name",
            },
            reads=READS,
            shows={WaitingRequests: _listed},
        )


def _listed(found: WaitingRequests) -> pb.ListBackchannelRequestsResponse:
    return message_of(
        pb.ListBackchannelRequestsResponse, found, _OF_LIST, requests=map(_shown, found.requests)
    )


_OF_LIST = {"email": "user.email", "user_language": "user.language", "csrf_token": "session.csrf_token"}
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
