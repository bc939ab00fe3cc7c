"""The steps of a page: signing in with credentials, and going on with the session that there is."""

from dataclasses import dataclass, field

from identity.authorization.asked import AskedRequests, Reference
from identity.authorization.consent import ConsentGate, ConsentQuestion
from identity.authorization.door import Door
from identity.authorization.redirection import Redirection, way_back_of
from identity.authorization.signing_in import Proof, SignedIn
from identity.authorization.standing import Standing, refusal_of
from identity.sessions.browser import Browser
from identity.sessions.sessions import Sessions, proved
from identity.sign_in.password import PasswordSignIn
from identity.tenants import Tenant
from identity.vocabulary import AuthenticationContext
from server.platform.errors import InvalidArgument, Unauthenticated

# RFC 8176 §2.
_PASSWORD = Proof(amr=("pwd",), acr=AuthenticationContext.PASSWORD)


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    email: str
    password: str = field(repr=False)
    proof_of_work: str


class CredentialStep:
    """Checks what costs nothing first: the session, the form, the proof of work, and only then the account."""

    def __init__(
        self,
        sessions: Sessions,
        door: Door,
        *,
        password_sign_in: PasswordSignIn,
    ) -> None:
        self._sessions = sessions
        self._door = door
        self._password_sign_in = password_sign_in

    async def submit(
        self, tenant: Tenant, browser: Browser, reference: Reference, *, credentials: Credentials
    ) -> SignedIn:
        """Sign in and go back with a code, or on to the question that comes before it.

        Raises Unauthenticated, InvalidArgument, NotFound for a proof of work that was used, and PermissionDenied; the
        metadata `cause` of the last says what is wrong with an account whose password was right.
        """
        before = await proved(self._sessions, tenant, browser)
        if not (credentials.email and credentials.password and credentials.proof_of_work):
            raise InvalidArgument("expected an e-mail address, a password and a proof of work")
        await self._door.proof_of_work.spend(tenant, credentials.proof_of_work)
        client, request = await self._door.asked.find(tenant, before, reference)
        user = await self._password_sign_in.verify(
            tenant,
            email=credentials.email,
            password=credentials.password,
            peer_address=browser.peer_address,
        )
        return await self._door.signing_in.finish(
            tenant,
            browser,
            before,
            client=client,
            request=request,
            user=user,
            proof=_PASSWORD,
        )


class RefreshStep:
    """Goes on without credentials, as far as the request lets it."""

    def __init__(
        self, sessions: Sessions, *, asked: AskedRequests, standing: Standing, consent_gate: ConsentGate
    ) -> None:
        self._sessions = sessions
        self._asked = asked
        self._standing = standing
        self._consent_gate = consent_gate

    async def refresh(
        self, tenant: Tenant, browser: Browser, reference: Reference
    ) -> Redirection | ConsentQuestion:
        """Raises Unauthenticated when somebody has to sign in."""
        session = await proved(self._sessions, tenant, browser)
        client, request = await self._asked.find(tenant, session, reference)
        user = await self._standing.user(tenant, session, request)
        if user is None or session.authentication is None:
            raise Unauthenticated("the authorization request asks for a sign-in")
        await self._asked.take(request)
        refusal = refusal_of(client, user, session.authentication.amr)
        if refusal is not None:
            return way_back_of(request, tenant).with_error(refusal)
        return await self._consent_gate.pass_or_ask(tenant, client, request, user=user, session=session)
