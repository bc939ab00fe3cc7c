"""The step between sign-in and consent: the user accepts or declines the terms of use."""

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Protocol

from identity.access.sessions.browser import Browser
from identity.access.sessions.session import Session
from identity.access.sessions.sessions import Sessions, expect_own, proved
from identity.authentication.authorization.asked import AskedRequests, Reference
from identity.authentication.authorization.conclusion import Conclusion
from identity.authentication.authorization.consent import ConsentGate, ConsentQuestion
from identity.authentication.authorization.session_check import SessionCheck, refusal_of
from identity.authentication.authorization.sign_in import SessionTermination
from identity.authentication.authorization.terms_gate import terms_page
from identity.authentication.requests.parameters import Parameters
from identity.authentication.requests.redirection import Redirection
from identity.authentication.requests.request import AuthorizationRequest
from identity.directory.client import Client, ClientId
from identity.directory.terms_of_use.terms import TermsVersion
from identity.directory.terms_of_use.terms_of_use import OutstandingTerms
from identity.directory.user import User, UserId
from identity.foundation.errors import AccessDenied
from identity.foundation.events.events import Events
from identity.foundation.events.kinds import EventType
from identity.foundation.tenants import Tenant
from server.platform.errors import Unauthenticated


class TermsDecision(StrEnum):
    ACCEPT = "accept"
    DECLINE = "decline"
    LATER = "later"


class TermsToAccept(Protocol):
    async def outstanding(self, tenant: Tenant, user: User) -> OutstandingTerms | None: ...

    async def accept(
        self, tenant: Tenant, user_id: UserId, version: TermsVersion, *, client_id: ClientId
    ) -> bool: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class TermsQuestion:
    """Terms that the user has to accept before the client gets a code.

    `outstanding` is None when the user accepted them meanwhile.
    """

    authorization_id: str
    client: Client
    request: AuthorizationRequest
    user: User
    session: Session
    outstanding: OutstandingTerms | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TermsAnswered:
    """`session` has another cookie if this answer signed the user in, and is None if the answer ended it."""

    outcome: Redirection | ConsentQuestion
    session: Session | None
    cookie: str = field(default="", repr=False)


class TermsStep:
    def __init__(
        self,
        sessions: Sessions,
        terms: TermsToAccept,
        *,
        asked: AskedRequests,
        standing: SessionCheck,
        consent_gate: ConsentGate,
        conclusion: Conclusion,
        termination: SessionTermination,
        events: Events,
    ) -> None:
        self._sessions = sessions
        self._terms = terms
        self._asked = asked
        self._standing = standing
        self._consent_gate = consent_gate
        self._conclusion = conclusion
        self._termination = termination
        self._events = events

    async def question(self, tenant: Tenant, browser: Browser, authorization_id: str) -> TermsQuestion:
        """Return the question to the browser's user; raises Unauthenticated when there is none."""
        session = await self._sessions.find(tenant, browser.cookie, browser.peer_address)
        if session is None:
            raise Unauthenticated("no user is signed in")
        return await self._question(tenant, session, authorization_id)

    async def answer(
        self,
        tenant: Tenant,
        browser: Browser,
        authorization_id: str,
        *,
        version: str,
        decision: TermsDecision,
    ) -> TermsAnswered:
        """Continue the request, or ask again when another version holds by now; raises Unauthenticated."""
        session = await proved(self._sessions, tenant, browser)
        expect_own(session)
        question = await self._question(tenant, session, authorization_id)
        if decision is not TermsDecision.DECLINE and not _is_answered(question, version, decision):
            return TermsAnswered(outcome=terms_page(tenant, authorization_id), session=session)
        await self._asked.take(tenant, question.request)
        if decision is TermsDecision.DECLINE:
            return await self._declined(tenant, browser, question, version)
        if decision is TermsDecision.ACCEPT:
            await self._accept(tenant, browser, question)
        else:
            session = await self._sessions.postpone_terms(session, version)
        return await self._continued(tenant, session, question)

    async def _question(self, tenant: Tenant, session: Session, authorization_id: str) -> TermsQuestion:
        reference = Reference(authorization_id=authorization_id, parameters=Parameters(()))
        client, request = await self._asked.find(tenant, session, reference)
        user = await self._standing.user(tenant, _released(session), request)
        if user is None:
            raise Unauthenticated("the authorization request requires a sign-in")
        return TermsQuestion(
            authorization_id=authorization_id,
            client=client,
            request=request,
            user=user,
            session=session,
            outstanding=await self._terms.outstanding(tenant, user),
        )

    async def _accept(self, tenant: Tenant, browser: Browser, question: TermsQuestion) -> None:
        if question.outstanding is None:
            return
        version, client_id = question.outstanding.version, question.client.client_id
        if await self._terms.accept(tenant, question.user.user_id, version, client_id=client_id):
            await self._tell(tenant, browser, question, EventType.TERMS_ACCEPTED, version.id)

    async def _declined(
        self, tenant: Tenant, browser: Browser, question: TermsQuestion, version: str
    ) -> TermsAnswered:
        """Sign the user out, and refuse the client's request."""
        known = question.outstanding.version.id if question.outstanding is not None else version
        await self._tell(tenant, browser, question, EventType.TERMS_DECLINED, known)
        await self._termination.end(tenant, question.session)
        refusal = AccessDenied("the user declined the terms of use")
        outcome = await self._conclusion.refuse(tenant, question.client, question.request, refusal)
        return TermsAnswered(outcome=outcome, session=None)

    async def _continued(self, tenant: Tenant, session: Session, question: TermsQuestion) -> TermsAnswered:
        cookie, client, request = "", question.client, question.request
        if session.held is not None:
            cookie, session = await self._sessions.release(session)
        amr = session.authentication.amr if session.authentication is not None else ()
        refusal = refusal_of(client, question.user, amr)
        outcome: Redirection | ConsentQuestion
        if refusal is not None:
            outcome = await self._conclusion.refuse(tenant, client, request, refusal)
        else:
            outcome = await self._consent_gate.pass_or_ask(
                tenant, client, request, user=question.user, session=session
            )
        return TermsAnswered(outcome=outcome, session=session, cookie=cookie)

    async def _tell(
        self,
        tenant: Tenant,
        browser: Browser,
        question: TermsQuestion,
        event_type: EventType,
        version: str,
    ) -> None:
        await self._events.emit(
            tenant.tenant_id,
            event_type,
            ip=browser.peer_address,
            text=version,
            user_id=question.user.user_id,
            client_id=question.client.client_id,
        )


def _is_answered(question: TermsQuestion, version: str, decision: TermsDecision) -> bool:
    """Whether the answer is about the outstanding version, and the user may give it."""
    if question.outstanding is None:
        return True
    is_about_it = version == question.outstanding.version.id
    return is_about_it and (decision is TermsDecision.ACCEPT or question.outstanding.may_wait)


def _released(session: Session) -> Session:
    """Return the session as it is when the user has accepted the terms."""
    return replace(session, authentication=session.authentication or session.held)
