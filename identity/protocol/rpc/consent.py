"""ConsentService."""

from gnomon.identity.v1 import consent_service_pb2 as pb
from identity.access.rpc.admission import Admission
from identity.access.rpc.records import message_of
from identity.directory.client import ClientId
from identity.directory.user import UserId
from identity.protocol.consents import ConsentAdministration, ListedConsent
from server.platform.call import Call


class ConsentServicer:
    def __init__(self, admission: Admission, administration: ConsentAdministration) -> None:
        self._admission = admission
        self._administration = administration

    async def list_consents(self, request: pb.ListConsentsRequest, _call: Call) -> pb.ListConsentsResponse:
        tenant, _ = await self._admission.of(request)
        found = await self._administration.of_user(tenant, UserId(request.user_id))
        return pb.ListConsentsResponse(consents=map(_message, found))

    async def withdraw_consent(
        self, request: pb.WithdrawConsentRequest, _call: Call
    ) -> pb.WithdrawConsentResponse:
        tenant, actor = await self._admission.of(request)
        user_id, client_id = UserId(request.user_id), ClientId(request.client_id)
        await self._administration.withdraw(tenant, user_id, client_id, actor=actor)
        return pb.WithdrawConsentResponse()


def _message(listed: ListedConsent) -> pb.Consent:
    consent, terms = listed.consent, listed.consent.terms
    return message_of(
        pb.Consent,
        consent,
        client_name=listed.client_name,
        scopes=terms.oauth_scopes,
        resources=terms.resources,
        claims=terms.claims,
    )
