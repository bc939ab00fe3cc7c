"""FedCM as composed in production, over the provider's browser side."""

from dataclasses import dataclass, field, replace
from typing import Any

from identity.access.sessions.session import Session
from identity.access.sessions.ways import way_to
from identity.access.tokens.custom_claims import CustomClaims
from identity.access.tokens.id_token import IdTokens
from identity.access.tokens.signatures import Signatures
from identity.access.tokens.token_sets import TokenSets
from identity.access.tokens.verification import verified
from identity.directory.authorization_details.detail_types import DetailTypes
from identity.directory.client import CLIENTS, Client, ClientId
from identity.directory.consents.consent import Consent, Terms
from identity.directory.user import User, UserId
from identity.foundation.events.event import EVENTS
from identity.foundation.tenants import Tenant
from identity.protocol.consents import ConsentAdministration
from identity.protocol.fed_cm.accounts import Account, Accounts
from identity.protocol.fed_cm.assertion_signer import AssertionSigner
from identity.protocol.fed_cm.assertions import AssertionRequest, Assertions, Statement
from identity.protocol.fed_cm.disclosure import FIELDS, Disclosure
from identity.protocol.fed_cm.disconnection import Disconnection
from identity.protocol.fed_cm.people import FedCmBrowser, People
from identity.protocol.fed_cm.relying_parties import RelyingParties
from identity.protocol.unredeemed_codes import UnredeemedCodes
from tests.identity.browsers import ADDRESS, Provider, alice, app

ORIGIN = "https://app.example.com"
TOLD = Disclosure(told=FIELDS)
NOBODY = FedCmBrowser(way="", peer_address=ADDRESS)


def shop(**fields: Any) -> Client:
    return app(id="shop", allowed_origins=(ORIGIN,), **fields)


def person(**fields: Any) -> User:
    return alice(given_name="Alice", family_name="Liddell", picture_id="p1", **fields)


@dataclass
class Mediation:
    provider: Provider = field(default_factory=Provider)
    reported: list[Statement] = field(default_factory=list)

    def __post_init__(self) -> None:
        provider = self.provider
        parties = RelyingParties(provider.clients)
        people = People(
            provider.sessions, provider.users, confirmation=provider.confirmation, clock=provider.clock
        )
        signing = AssertionSigner(
            provider.keys,
            IdTokens(provider.clock, Signatures()),
            custom=CustomClaims(provider.store),
            subjects=provider.subjects,
            clock=provider.clock,
        )
        withdrawal = ConsentAdministration(
            provider.consents,
            provider.clients,
            details=DetailTypes(provider.store),
            codes=UnredeemedCodes(provider.store),
            token_sets=TokenSets(provider.store, provider.version),
            events=provider.events,
        )
        self._accounts = Accounts(people, provider.consents)
        self._assertions = Assertions(
            parties,
            people,
            sessions=provider.sessions,
            consents=provider.consents,
            terms_of_use=provider.terms,
            sign=signing.sign,
            report=self._report,
            events=provider.events,
            clock=provider.clock,
        )
        self._disconnection = Disconnection(parties, people, withdrawal, subjects=provider.subjects)

    @property
    def tenant(self) -> Tenant:
        return self.provider.tenant

    async def sign_in(
        self, user_id: str = "alice", *, amr: tuple[str, ...] = ("pwd",), tenant: Tenant | None = None
    ) -> FedCmBrowser:
        cookie, session = await self.provider.sessions.sign_in(
            tenant or self.tenant, None, UserId(user_id), amr=amr, acr="level", peer_address=ADDRESS
        )
        return FedCmBrowser(way=way_to(cookie, session.sid), peer_address=ADDRESS)

    async def accounts(self, browser: FedCmBrowser) -> Account:
        return await self._accounts.at(self.tenant, browser)

    async def issue(self, browser: FedCmBrowser, **requested: Any) -> dict[str, Any]:
        """Issue an ID token and return its claims."""
        asked = {
            "client_id": "shop",
            "origin": ORIGIN,
            "account_id": "alice",
            "nonce": "n1",
            "disclosure": TOLD,
        }
        token = await self._assertions.issue(self.tenant, browser, AssertionRequest(**asked | requested))
        return dict(await verified(token, self.tenant, self.provider.keys))

    async def disconnect(
        self,
        browser: FedCmBrowser,
        *,
        client_id: str = "shop",
        origin: str = ORIGIN,
        account_hint: str = "alice",
    ) -> UserId:
        return await self._disconnection.disconnect(
            self.tenant, browser, client_id=client_id, origin=origin, account_hint=account_hint
        )

    async def session(self, browser: FedCmBrowser) -> Session | None:
        return await self.provider.sessions.follow(self.tenant, browser.way, browser.peer_address)

    async def consent(self) -> Consent | None:
        return await self.provider.consents.find(self.tenant, UserId("alice"), ClientId("shop"))

    async def grant(self, terms: Terms, client_id: str = "shop") -> None:
        await self.provider.consents.remember(self.tenant, UserId("alice"), ClientId(client_id), terms=terms)

    async def change_client(self, **fields: Any) -> None:
        records = self.provider.store.of(CLIENTS)
        client = await records.get(self.tenant.tenant_id, "shop")
        assert client is not None
        await records.replace(replace(client, **fields))

    async def change_person(self, **fields: Any) -> None:
        user = await self.provider.users.find(self.tenant, UserId("alice"))
        assert user is not None
        await self.provider.users.replace(replace(user, **fields))

    async def events(self) -> list[tuple[str, str | None, str | None]]:
        """Return type, text and client of each event, oldest first."""
        found = await self.provider.store.of(EVENTS).page(self.tenant.tenant_id)
        return [
            (str(event.type), event.text, event.client_id)
            for event in sorted(found, key=lambda each: each.id)
        ]

    async def _report(self, statement: Statement) -> None:
        self.reported.append(statement)
