"""ConsentService."""

from gnomon.identity.v1 import consent_service_pb2 as pb
from identity.access.rpc.admission import Admission
from identity.access.rpc.operations import Operations
from identity.access.rpc.records import message_of
from identity.authentication.rpc.authorization_details import messages_of
from identity.protocol.consents import ConsentAdministration, ListedConsent


class ConsentServicer(Operations):
    def __init__(self, admission: Admission, consents: ConsentAdministration) -> None:
        super().__init__(
            admission,
            {
                pb.ListConsentsRequest: consents.of_user,
                pb.WithdrawConsentRequest: consents.withdraw,
            },
            shows={ListedConsent: _message},
        )


def _message(listed: ListedConsent) -> pb.Consent:
    consent, terms = listed.consent, listed.consent.terms
    return message_of(
        pb.Consent,
        consent,
        client_name=listed.client_name,
        scopes=terms.oauth_scopes,
        resources=terms.resources,
        claims=terms.claims,
        authorization_details=messages_of(listed.details),
    )
