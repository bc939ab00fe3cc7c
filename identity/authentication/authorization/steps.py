"""The steps of a sign-in page: sign in with credentials, or continue with the existing session."""

from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Protocol

from identity.access.sessions.browser import Browser
from identity.access.sessions.session import Session
from identity.access.sessions.sessions import Sessions, proved
from identity.authentication.authorization.asked import AskedRequests, Reference
from identity.authentication.authorization.conclusion import Conclusion
from identity.authentication.authorization.consent import ConsentQuestion
from identity.authentication.authorization.session_check import SessionCheck, refusal_of
from identity.authentication.authorization.sign_in import PASSWORD, Proof, SignedIn
from identity.authentication.authorization.sign_in_context import SignInContext
from identity.authentication.authorization.terms_gate import TermsGate
from identity.authentication.password_sign_in import PasswordSignIn
from identity.authentication.requests.redirection import Redirection
from identity.authentication.requests.request import AuthorizationRequest
from identity.directory.client import Client
from identity.directory.user import User, UserId
from identity.foundation.tenants import Tenant
from identity.foundation.vocabulary import FactorMethod
from server.platform.errors import InvalidArgument, Unauthenticated


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    email: str
    password: str = field(repr=False)
    proof_of_work: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SecondFactor:
    """`code` starts the ceremony that follows, and identifies the question when the user answers with a code.

    `methods` are the user's factors, best first. With `is_remembered` the browser showed both factors before.
    `redirect_origin` is the origin to which the form for a one-time code redirects in the end, and `client` is the
    client of the sign-in page.
    """

    code: str = field(repr=False)
    user_id: UserId
    lifetime: timedelta
    methods: tuple[FactorMethod, ...] = (FactorMethod.PASSKEY,)
    is_remembered: bool = False
    redirect_origin: str = ""
    client: Client | None = None


class SecondFactors(Protocol):
    async def after(
        self, tenant: Tenant, session: Session, request: AuthorizationRequest, user: User, *, first: Proof
    ) -> SecondFactor | None:
        """Return None for a user without a second factor."""
        ...

    async def instead_of_password(
        self, tenant: Tenant, session: Session, request: AuthorizationRequest, browser: Browser, *, email: str
    ) -> SecondFactor:
        """Return a challenge for every address, so that the response does not reveal which have accounts."""
        ...


class CredentialStep:
    """Checks in order of cost: session, form, proof of work, and then the account.

    A user with a second factor is asked for it, after the password or instead of it.
    """

    def __init__(
        self,
        sessions: Sessions,
        context: SignInContext,
        *,
        password_sign_in: PasswordSignIn,
        second_factors: SecondFactors,
    ) -> None:
        self._sessions = sessions
        self._context = context
        self._password_sign_in = password_sign_in
        self._second_factors = second_factors

    async def submit(
        self, tenant: Tenant, browser: Browser, reference: Reference, *, credentials: Credentials
    ) -> SignedIn | SecondFactor:
        """Sign in, or return the second factor that follows. Without a password there is always a second factor.

        Raises Unauthenticated, InvalidArgument, NotFound for a used proof of work, and PermissionDenied. The metadata
        `cause` of the last is the reason why an account with the right password is refused.
        """
        before = await proved(self._sessions, tenant, browser)
        if not (credentials.email and credentials.proof_of_work):
            raise InvalidArgument("expected an e-mail address and a proof of work")
        await self._context.proof_of_work.spend(tenant, credentials.proof_of_work)
        client, request = await self._context.asked.find(tenant, before, reference)
        if not credentials.password:
            instead = await self._second_factors.instead_of_password(
                tenant, before, request, browser, email=credentials.email
            )
            return replace(instead, client=client)
        user = await self._password_sign_in.verify(
            tenant,
            email=credentials.email,
            password=credentials.password,
            peer_address=browser.peer_address,
            device=browser.device,
        )
        follows = await self._second_factors.after(tenant, before, request, user, first=PASSWORD)
        if follows is not None:
            return replace(follows, client=client)
        return await self._context.sign_in_flow.finish(
            tenant, browser, before, client=client, request=request, user=user, proof=PASSWORD
        )


class RefreshStep:
    """Continues the request without credentials, if the session satisfies it."""

    def __init__(
        self,
        sessions: Sessions,
        *,
        asked: AskedRequests,
        standing: SessionCheck,
        terms_gate: TermsGate,
        conclusion: Conclusion,
    ) -> None:
        self._sessions = sessions
        self._asked = asked
        self._standing = standing
        self._terms_gate = terms_gate
        self._conclusion = conclusion

    async def refresh(
        self, tenant: Tenant, browser: Browser, reference: Reference
    ) -> Redirection | ConsentQuestion:
        """Raises Unauthenticated when the user has to sign in."""
        session = await proved(self._sessions, tenant, browser)
        client, request = await self._asked.find(tenant, session, reference)
        user = await self._standing.user(tenant, session, request)
        if user is None or session.authentication is None:
            raise Unauthenticated("the authorization request requires a sign-in")
        await self._asked.take(tenant, request)
        refusal = refusal_of(client, user, session.authentication.amr)
        if refusal is not None:
            return await self._conclusion.refuse(tenant, client, request, refusal)
        return await self._terms_gate.pass_or_ask(tenant, client, request, user=user, session=session)
