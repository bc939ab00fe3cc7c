"""The consent step between sign-in and code: the user accepts or refuses the client's request."""

from typing import Protocol

from identity.access.sessions.browser import Browser
from identity.access.sessions.session import Session
from identity.access.sessions.sessions import Sessions, expect_own, proved
from identity.authentication.authorization.asked import AskedRequests, Reference
from identity.authentication.authorization.conclusion import Conclusion
from identity.authentication.authorization.consent import ConsentQuestion, terms_of
from identity.authentication.authorization.session_check import SessionCheck, refusal_of
from identity.authentication.requests.parameters import Parameters
from identity.authentication.requests.redirection import Redirection
from identity.directory.authorization_details.details import types_of
from identity.directory.client import ClientId
from identity.directory.consents.consent import Consent, Terms
from identity.directory.user import UserId
from identity.foundation.errors import AccessDenied, ProtocolError
from identity.foundation.events.events import Events
from identity.foundation.events.kinds import EventType
from identity.foundation.tenants import Tenant
from server.platform.errors import Unauthenticated


class Consents(Protocol):
    async def remember(
        self, tenant: Tenant, user_id: UserId, client_id: ClientId, *, terms: Terms
    ) -> Consent: ...


class ConsentStep:
    def __init__(
        self,
        sessions: Sessions,
        consents: Consents,
        *,
        asked: AskedRequests,
        standing: SessionCheck,
        conclusion: Conclusion,
        events: Events,
    ) -> None:
        self._sessions = sessions
        self._consents = consents
        self._asked = asked
        self._standing = standing
        self._conclusion = conclusion
        self._events = events

    async def question(self, tenant: Tenant, browser: Browser, authorization_id: str) -> ConsentQuestion:
        """Return the consent request of the browser's user; raises Unauthenticated when there is none."""
        session = await self._sessions.find(tenant, browser.cookie, browser.peer_address)
        if session is None:
            raise Unauthenticated("no user is signed in")
        return await self._question(tenant, session, authorization_id)

    async def answer(
        self, tenant: Tenant, browser: Browser, authorization_id: str, *, is_accepted: bool
    ) -> Redirection:
        """Redirect with a code or an error; raises Unauthenticated when there is no consent request."""
        session = await proved(self._sessions, tenant, browser)
        expect_own(session)
        question = await self._question(tenant, session, authorization_id)
        await self._asked.take(tenant, question.request)
        refusal = _refusal(question, is_accepted=is_accepted)
        if refusal is not None:
            return await self._conclusion.refuse(tenant, question.client, question.request, refusal)
        await self._remember(tenant, browser, question)
        return await self._conclusion.grant(tenant, question.client, question.request, session=session)

    async def _question(self, tenant: Tenant, session: Session, authorization_id: str) -> ConsentQuestion:
        reference = Reference(authorization_id=authorization_id, parameters=Parameters(()))
        client, request = await self._asked.find(tenant, session, reference)
        user = await self._standing.user(tenant, session, request)
        if user is None:
            raise Unauthenticated("the authorization request requires a sign-in")
        return ConsentQuestion(
            authorization_id=authorization_id, client=client, request=request, user=user, session=session
        )

    async def _remember(self, tenant: Tenant, browser: Browser, question: ConsentQuestion) -> None:
        user_id, client_id, terms = (
            question.user.user_id,
            question.client.client_id,
            terms_of(question.request),
        )
        await self._consents.remember(tenant, user_id, client_id, terms=terms)
        await self._events.emit(
            tenant.tenant_id,
            EventType.CONSENT_GRANTED,
            ip=browser.peer_address,
            text=" ".join((*terms.oauth_scopes, *types_of(terms.authorization_details))),
            user_id=user_id,
            client_id=client_id,
        )


def _refusal(question: ConsentQuestion, *, is_accepted: bool) -> ProtocolError | None:
    if not is_accepted:
        return AccessDenied("the user declined")
    authentication = question.session.authentication
    return refusal_of(question.client, question.user, authentication.amr if authentication else ())
