"""Composes FedCM: sign-in that the browser mediates between a user and a client."""

from collections.abc import Mapping

from google.protobuf.descriptor import ServiceDescriptor

from gnomon.identity.v1 import fed_cm_service_pb2
from identity.access.tokens.custom_claims import CustomClaims
from identity.access.tokens.id_token import IdTokens
from identity.clients.dynamic.first_use import FirstUse
from identity.directory.authorization_details.detail_types import DetailTypes
from identity.directory.tenants.confirmation import ConfirmationBySettings
from identity.directory.tenants.tenant_record import TENANTS
from identity.protocol.consents import ConsentAdministration
from identity.protocol.fed_cm.accounts import Accounts
from identity.protocol.fed_cm.assertion_signer import AssertionSigner
from identity.protocol.fed_cm.assertions import Assertions, Statement
from identity.protocol.fed_cm.disconnection import Disconnection
from identity.protocol.fed_cm.people import People
from identity.protocol.fed_cm.relying_parties import RelyingParties
from identity.protocol.grants.reports import GrantReports
from identity.protocol.rpc.fed_cm import FedCmAdmission, FedCmServicer
from identity.protocol.unredeemed_codes import UnredeemedCodes
from identity.wiring.access import UserState
from identity.wiring.dependencies import Dependencies

_FED_CM = fed_cm_service_pb2.DESCRIPTOR.services_by_name["FedCmService"]


class FedCmWiring:
    servicers: Mapping[ServiceDescriptor, object]

    def __init__(self, dependencies: Dependencies, user_state: UserState) -> None:
        self._dependencies = dependencies
        self._user_state = user_state
        self._reports = GrantReports(dependencies.events, dependencies.config.events)
        self._first_use = FirstUse(dependencies.store)
        relying_parties = RelyingParties(dependencies.clients)
        people = People(
            user_state.sessions,
            user_state.users,
            confirmation=ConfirmationBySettings(dependencies.store.of(TENANTS)),
            clock=dependencies.clock,
        )
        withdrawal = ConsentAdministration(
            user_state.consents,
            dependencies.clients,
            details=DetailTypes(dependencies.store),
            codes=UnredeemedCodes(dependencies.store),
            token_sets=user_state.token_sets,
            events=dependencies.events,
        )
        self.servicers = {
            _FED_CM: FedCmServicer(
                FedCmAdmission(dependencies.tenants, dependencies.config.fedcm),
                relying_parties,
                accounts=Accounts(people, user_state.consents),
                assertions=self._assertions(relying_parties, people),
                disconnection=Disconnection(
                    relying_parties, people, withdrawal, subjects=dependencies.subjects
                ),
            )
        }

    def _assertions(self, relying_parties: RelyingParties, people: People) -> Assertions:
        dependencies = self._dependencies
        signing = AssertionSigner(
            dependencies.keys,
            IdTokens(dependencies.clock, dependencies.signatures),
            custom=CustomClaims(dependencies.store),
            subjects=dependencies.subjects,
            clock=dependencies.clock,
        )
        return Assertions(
            relying_parties,
            people,
            sessions=self._user_state.sessions,
            consents=self._user_state.consents,
            terms_of_use=self._user_state.terms,
            sign=signing.sign,
            report=self._report,
            events=dependencies.events,
            clock=dependencies.clock,
        )

    async def _report(self, statement: Statement) -> None:
        await self._first_use.note(statement.client)
        await self._reports.assertion_issued(
            statement.tenant, client_id=statement.client.id, user_id=statement.person.user.id
        )
