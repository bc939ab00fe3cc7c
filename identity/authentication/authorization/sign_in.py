"""The step that follows every successful authentication: starts a session and returns to the relying party."""

from dataclasses import dataclass, field
from typing import Protocol

from identity.access.sessions.browser import Browser
from identity.access.sessions.session import Session, UpstreamAuthentication
from identity.access.sessions.sessions import Sessions
from identity.authentication.authorization.asked import AskedRequests
from identity.authentication.authorization.conclusion import Conclusion
from identity.authentication.authorization.consent import ConsentQuestion
from identity.authentication.authorization.session_check import refusal_of
from identity.authentication.authorization.terms_gate import TermsGate
from identity.authentication.requests.redirection import Redirection
from identity.authentication.requests.request import AuthorizationRequest
from identity.directory.client import Client
from identity.directory.user import User
from identity.foundation.errors import AccessDenied, LoginRequired
from identity.foundation.events.events import Events
from identity.foundation.events.kinds import EventType
from identity.foundation.tenants import Tenant
from identity.foundation.vocabulary import AuthenticationContext
from server.platform.errors import PermissionDenied


class SignInWatch(Protocol):
    async def note(self, tenant: Tenant, user: User, browser: Browser, *, sid: str) -> str:
        """Record a sign-in and notify the user if it is new; returns the cookie for the browser. Raises nothing."""
        ...


class SessionTermination(Protocol):
    """Ends a session and notifies its relying parties."""

    async def end(self, tenant: Tenant, session: Session) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """How the user authenticated: OpenID Connect Core 1.0 §2, RFC 8176 §2; `vouching` is set for upstream providers."""

    amr: tuple[str, ...]
    acr: AuthenticationContext
    vouching: UpstreamAuthentication | None = None


# RFC 8176 §2.
PASSWORD = Proof(amr=("pwd",), acr=AuthenticationContext.PASSWORD)


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedIn:
    """`session` is None when another user authenticated than the one that the request requires.

    `device` is the cookie by which the browser is recognized later.
    """

    outcome: Redirection | ConsentQuestion
    session: Session | None = None
    cookie: str = field(default="", repr=False)
    device: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInFlow:
    sessions: Sessions
    asked: AskedRequests
    termination: SessionTermination
    terms_gate: TermsGate
    conclusion: Conclusion
    watch: SignInWatch
    events: Events

    async def finish(
        self,
        tenant: Tenant,
        browser: Browser,
        before: Session,
        *,
        client: Client,
        request: AuthorizationRequest,
        user: User,
        proof: Proof,
    ) -> SignedIn:
        """Sign the user in and continue the request, if the client accepts the user.

        Raises Unauthenticated when the request has ended, and PermissionDenied when the client refuses the user; its
        metadata `cause` gives the reason.
        """
        await self._expect_admitted(tenant, browser, client, user=user, proof=proof)
        await self.asked.take(tenant, request)
        return await self.conclude(
            tenant, browser, before, client=client, request=request, user=user, proof=proof
        )

    async def conclude(
        self,
        tenant: Tenant,
        browser: Browser,
        before: Session,
        *,
        client: Client,
        request: AuthorizationRequest,
        user: User,
        proof: Proof,
    ) -> SignedIn:
        """Sign the user in for a request that was taken, and redirect with a code or ask for consent.

        A user who has to accept terms of use is redirected to them, and signed in when the user has accepted.
        """
        if request.user_id not in {"", user.user_id}:
            # OpenID Connect Core 1.0 §3.1.2.1, id_token_hint.
            return SignedIn(outcome=await self.conclusion.refuse(tenant, client, request, _ANOTHER_PERSON))
        if before.is_impersonated or before.user_id not in {"", user.user_id}:
            await self.termination.end(tenant, before)
        cookie, session = await self.sessions.sign_in(
            tenant,
            before,
            user.user_id,
            amr=proof.amr,
            acr=proof.acr,
            peer_address=browser.peer_address,
            vouching=proof.vouching,
            is_held=await self.terms_gate.is_closed(tenant, user),
        )
        await self.events.emit(
            tenant.tenant_id,
            EventType.LOGIN_SUCCEEDED,
            ip=browser.peer_address,
            user_id=user.user_id,
            client_id=client.client_id,
            session=session.sid,
        )
        device = await self.watch.note(tenant, user, browser, sid=session.sid)
        outcome = await self.terms_gate.pass_or_ask(tenant, client, request, user=user, session=session)
        return SignedIn(outcome=outcome, session=session, cookie=cookie, device=device)

    async def _expect_admitted(
        self, tenant: Tenant, browser: Browser, client: Client, *, user: User, proof: Proof
    ) -> None:
        refusal = refusal_of(client, user, proof.amr)
        if refusal is None:
            return
        cause = "GROUP_REQUIRED" if isinstance(refusal, AccessDenied) else "SECOND_FACTOR_REQUIRED"
        await self.events.emit(
            tenant.tenant_id,
            EventType.LOGIN_REFUSED,
            ip=browser.peer_address,
            text=cause,
            user_id=user.user_id,
            client_id=client.client_id,
        )
        raise PermissionDenied(refusal.detail, cause=cause)


_ANOTHER_PERSON = LoginRequired("another user signed in than was requested")
