"""The first step of an authorization request: shows the sign-in page, or redirects to the client at once.

`prompt=none` never shows a page: a signed-in user gets a code, otherwise the client gets an error.
"""

from dataclasses import dataclass, field
from typing import Protocol

from identity.access.sessions.browser import Browser
from identity.access.sessions.session import Session
from identity.access.sessions.sessions import Sessions
from identity.authentication.authorization.asked import AskedRequests
from identity.authentication.authorization.conclusion import Conclusion
from identity.authentication.authorization.pending_requests import PendingRequests
from identity.authentication.authorization.session_check import SessionCheck, refusal_of
from identity.authentication.authorization.terms_gate import TermsGate
from identity.authentication.requests.parameters import Parameters
from identity.authentication.requests.redirection import Redirection
from identity.authentication.requests.refusals import RedirectedRefusal
from identity.authentication.requests.request import AuthorizationRequest, Prompt
from identity.authentication.requests.request_reader import RequestReader
from identity.authentication.saml_applications.request_reader import SamlRequestReader, SentMessage
from identity.directory.client import Client
from identity.directory.tenants.sign_in_targets import PASSWORD_PAGE, Route
from identity.foundation.errors import LoginRequired
from identity.foundation.tenants import Tenant


class Targets(Protocol):
    async def is_email_first(self, tenant: Tenant) -> bool: ...

    async def route_of(self, tenant: Tenant, email: str) -> Route: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInStep:
    """`cookie` is the value for a new session's cookie, empty when the browser had a session.

    With `is_email_first` the page asks only for the e-mail address. `route` is the sign-in route of the prefilled
    address.
    """

    authorization_id: str
    client: Client
    request: AuthorizationRequest
    session: Session
    is_signed_in: bool
    is_email_first: bool = False
    route: Route = PASSWORD_PAGE
    cookie: str = field(default="", repr=False)


class AuthorizationStart:
    def __init__(
        self,
        reader: RequestReader,
        sessions: Sessions,
        *,
        asked: AskedRequests,
        pending: PendingRequests,
        standing: SessionCheck,
        terms_gate: TermsGate,
        conclusion: Conclusion,
        targets: Targets,
        saml_reader: SamlRequestReader,
    ) -> None:
        self._reader = reader
        self._sessions = sessions
        self._asked = asked
        self._pending = pending
        self._standing = standing
        self._terms_gate = terms_gate
        self._conclusion = conclusion
        self._targets = targets
        self._saml_reader = saml_reader

    async def begin(
        self, tenant: Tenant, parameters: Parameters, browser: Browser
    ) -> SignInStep | Redirection:
        """Raises NoWayBack when the error must not be sent to the client."""
        try:
            client, request = await self._reader.read(tenant, parameters)
        except RedirectedRefusal as refusal:
            return refusal.redirection
        return await self._first_step(tenant, client, request, browser=browser)

    async def begin_saml(
        self, tenant: Tenant, sent: SentMessage, browser: Browser
    ) -> SignInStep | Redirection:
        """Begin at the request of a SAML application; raises UnredirectableRefusal."""
        try:
            client, request = await self._saml_reader.read(tenant, sent)
        except RedirectedRefusal as refusal:
            return refusal.redirection
        return await self._first_step(tenant, client, request, browser=browser)

    async def _first_step(
        self, tenant: Tenant, client: Client, request: AuthorizationRequest, *, browser: Browser
    ) -> SignInStep | Redirection:
        session = await self._sessions.find(tenant, browser.cookie, browser.peer_address)
        is_impersonated = session is not None and session.is_impersonated
        if Prompt.NONE in request.prompts or (
            is_impersonated and await self._standing.user(tenant, session, request) is None
        ):
            # A support person who acts as the user cannot sign in as the user.
            return await self._without_page(tenant, client, request, session=session)
        return await self._page(tenant, client, request, session=session, browser=browser)

    async def _without_page(
        self, tenant: Tenant, client: Client, request: AuthorizationRequest, *, session: Session | None
    ) -> Redirection:
        await self._asked.take(tenant, request)
        user = await self._standing.user(tenant, session, request)
        if session is None or user is None:
            missing = LoginRequired("no user is signed in as the request requires")
            return await self._conclusion.refuse(tenant, client, request, missing)
        refusal = refusal_of(client, user, _amr(session))
        if refusal is not None:
            return await self._conclusion.refuse(tenant, client, request, refusal)
        return await self._terms_gate.pass_silently(tenant, client, request, user=user, session=session)

    async def _page(
        self,
        tenant: Tenant,
        client: Client,
        request: AuthorizationRequest,
        *,
        session: Session | None,
        browser: Browser,
    ) -> SignInStep:
        user = await self._standing.user(tenant, session, request)
        cookie = ""
        if session is None:
            cookie, session = await self._sessions.begin(tenant, browser.peer_address)
        return SignInStep(
            authorization_id=await self._pending.keep(request, session),
            client=client,
            request=request,
            session=session,
            is_signed_in=user is not None and refusal_of(client, user, _amr(session)) is None,
            is_email_first=not request.login_hint and await self._targets.is_email_first(tenant),
            route=await self._route(tenant, request.login_hint),
            cookie=cookie,
        )

    async def _route(self, tenant: Tenant, login_hint: str) -> Route:
        return await self._targets.route_of(tenant, login_hint) if login_hint else PASSWORD_PAGE


def _amr(session: Session) -> tuple[str, ...]:
    return session.authentication.amr if session.authentication is not None else ()
