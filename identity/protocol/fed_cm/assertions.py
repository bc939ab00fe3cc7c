"""ID tokens for pages of clients: FedCM §3.5, OpenID Connect Core 1.0 §2.

There is no access token and no token set. The session records the client, which is notified of the logout.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

import msgspec

from identity.access.sessions.session import Session
from identity.authentication.authorization.session_check import refusal_of
from identity.directory.client import Client, ClientId
from identity.directory.consents.consent import Consent, Terms
from identity.directory.user import User, UserId
from identity.foundation.errors import AccessDenied, LoginRequired
from identity.foundation.events.events import Events
from identity.foundation.events.kinds import EventType
from identity.foundation.tenants import Tenant
from identity.protocol.fed_cm.disclosure import Disclosure, approval_of, terms_of
from identity.protocol.fed_cm.people import FedCmBrowser, People, SignedIn, another_account
from identity.protocol.fed_cm.relying_parties import RelyingParties, expect_sign_in
from server.platform.clock import Clock
from server.platform.errors import Unauthenticated


class Sessions(Protocol):
    async def note_use(self, session: Session) -> Session | None: ...

    async def note_client(self, session: Session, client_id: ClientId) -> Session: ...


class Consents(Protocol):
    async def find(self, tenant: Tenant, user_id: UserId, client_id: ClientId) -> Consent | None: ...

    async def remember(
        self, tenant: Tenant, user_id: UserId, client_id: ClientId, *, terms: Terms
    ) -> Consent: ...


class TermsOfUse(Protocol):
    async def is_overdue(self, tenant: Tenant, user: User) -> bool: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class AssertionRequest:
    """The request of a client's page, after the user chose an account in the browser."""

    client_id: str
    origin: str
    account_id: str
    nonce: str = ""
    disclosure: Disclosure = Disclosure()


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """The content of an ID token; `claims` is a claims parameter that requests the claims of the terms."""

    tenant: Tenant
    client: Client
    person: SignedIn
    terms: Terms
    nonce: str

    @property
    def claims(self) -> str:
        return msgspec.json.encode({"id_token": dict.fromkeys(self.terms.claims)}).decode()


# Returns the signed ID token; raises InvalidRequest when it would be too long.
Sign = Callable[[Statement], Awaitable[str]]


class Assertions:
    def __init__(
        self,
        relying_parties: RelyingParties,
        people: People,
        *,
        sessions: Sessions,
        consents: Consents,
        terms_of_use: TermsOfUse,
        sign: Sign,
        report: Callable[[Statement], Awaitable[None]],
        events: Events,
        clock: Clock,
    ) -> None:
        self._relying_parties = relying_parties
        self._people = people
        self._sessions = sessions
        self._consents = consents
        self._terms_of_use = terms_of_use
        self._sign = sign
        self._report = report
        self._events = events
        self._clock = clock

    async def issue(self, tenant: Tenant, browser: FedCmBrowser, requested: AssertionRequest) -> str:
        """Return an ID token.

        Raises InvalidArgument for a page that is not the client's, Unauthenticated when the account is not signed in,
        and a ProtocolError for refusals that the page may read.
        """
        client = await self._relying_parties.find(tenant, requested.client_id, origin=requested.origin)
        person = await self._people.at(tenant, browser)
        if person.user.id != requested.account_id:
            raise another_account()
        await self._expect_admitted(tenant, browser, client, person=person)
        consent = await self._consents.find(tenant, person.user.user_id, client.client_id)
        terms = terms_of(client, requested.disclosure, consent)
        statement = Statement(tenant=tenant, client=client, person=person, terms=terms, nonce=requested.nonce)
        token = await self._sign(statement)
        await self._note(person.session, client)
        await self._approve(statement, browser, approval_of(requested.disclosure, terms), before=consent)
        await self._report(statement)
        return token

    async def _expect_admitted(
        self, tenant: Tenant, browser: FedCmBrowser, client: Client, *, person: SignedIn
    ) -> None:
        expect_sign_in(client)
        self._expect_recent(client, person)
        if await self._terms_of_use.is_overdue(tenant, person.user):
            raise LoginRequired("the user has to accept the terms of use at a sign-in")
        refusal = refusal_of(client, person.user, person.authentication.amr)
        if refusal is None:
            return
        await self._events.emit(
            tenant.tenant_id,
            EventType.LOGIN_REFUSED,
            ip=browser.peer_address,
            text="GROUP_REQUIRED" if isinstance(refusal, AccessDenied) else "SECOND_FACTOR_REQUIRED",
            user_id=person.user.id,
            client_id=client.id,
        )
        raise refusal

    def _expect_recent(self, client: Client, person: SignedIn) -> None:
        """Apply `default_max_age`, because a FedCM request has no max_age: OpenID Connect Dynamic Registration §2."""
        if client.default_max_age is None:
            return
        oldest = self._clock.now() - timedelta(seconds=client.default_max_age)
        if person.authentication.at < oldest:
            raise LoginRequired("the sign-in is older than the client's default_max_age")

    async def _note(self, session: Session, client: Client) -> None:
        used = await self._sessions.note_use(session)
        if used is None:
            raise Unauthenticated("the session has ended")
        await self._sessions.note_client(used, client.client_id)

    async def _approve(
        self, statement: Statement, browser: FedCmBrowser, approval: Terms, *, before: Consent | None
    ) -> None:
        if before is not None and before.terms.cover(approval):
            return
        tenant, user_id = statement.tenant, statement.person.user.user_id
        await self._consents.remember(tenant, user_id, statement.client.client_id, terms=approval)
        await self._events.emit(
            tenant.tenant_id,
            EventType.CONSENT_GRANTED,
            ip=browser.peer_address,
            text=" ".join(approval.oauth_scopes),
            user_id=user_id,
            client_id=statement.client.id,
        )
