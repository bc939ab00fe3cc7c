"""Composes FedCM: sign-in that the browser mediates between a user and a client."""

from collections.abc import Mapping

from google.protobuf.descriptor import ServiceDescriptor

from gnomon.identity.v1 import fed_cm_service_pb2
from identity.access.tokens.custom_claims import CustomClaims
from identity.access.tokens.id_token import IdTokens
from identity.clients.dynamic.first_use import FirstUse
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
from identity.protocol.rpc.fed_cm import FedCmServicer
from identity.protocol.unredeemed_codes import UnredeemedCodes
from identity.wiring.access import UserState
from identity.wiring.dependencies import Dependencies

_FED_CM = fed_cm_service_pb2.DESCRIPTOR.services_by_name["FedCmService"]


class FedCmWiring:
    servicers: Mapping[ServiceDescriptor, object]

    def __init__(self, ground: Dependencies, presence: UserState) -> None:
        self._ground = ground
        self._presence = presence
        self._reports = GrantReports(ground.events, ground.config.events)
        self._first_use = FirstUse(ground.store)
        relying_parties = RelyingParties(ground.clients)
        people = People(
            presence.sessions,
            presence.users,
            confirmation=ConfirmationBySettings(ground.store.of(TENANTS)),
            clock=ground.clock,
        )
        withdrawal = ConsentAdministration(
            presence.consents,
            ground.clients,
            codes=UnredeemedCodes(ground.store),
            token_sets=presence.token_sets,
            events=ground.events,
        )
        self.servicers = {
            _FED_CM: FedCmServicer(
                ground.tenants,
                relying_parties,
                accounts=Accounts(people, presence.consents),
                assertions=self._assertions(relying_parties, people),
                disconnection=Disconnection(relying_parties, people, withdrawal),
                config=ground.config.fedcm,
            )
        }

    def _assertions(self, relying_parties: RelyingParties, people: People) -> Assertions:
        ground = self._ground
        signing = AssertionSigner(
            ground.keys, IdTokens(ground.clock), custom=CustomClaims(ground.store), clock=ground.clock
        )
        return Assertions(
            relying_parties,
            people,
            sessions=self._presence.sessions,
            consents=self._presence.consents,
            sign=signing.sign,
            report=self._report,
            events=ground.events,
            clock=ground.clock,
        )

    async def _report(self, statement: Statement) -> None:
        await self._first_use.note(statement.client)
        await self._reports.assertion_issued(
            statement.tenant, client_id=statement.client.id, user_id=statement.person.user.id
        )
