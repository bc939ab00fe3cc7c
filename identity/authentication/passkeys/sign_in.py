"""Sign-in with a passkey: after a password, instead of one, or without an e-mail address."""

from dataclasses import dataclass, field

from identity.access.login_protection.protection import LoginProtection
from identity.access.sessions.browser import Browser
from identity.access.sessions.sessions import Sessions, proved
from identity.authentication.authorization.asked import Reference
from identity.authentication.authorization.sign_in import Proof, SignedIn
from identity.authentication.authorization.sign_in_context import SignInContext
from identity.authentication.confirmation import ConfirmationPolicy, expect_confirmed
from identity.authentication.passkeys.assertion import Assertion, ShownPasskey
from identity.authentication.passkeys.ceremony import Ceremonies, Ceremony, Purpose
from identity.authentication.passkeys.remembered import RememberedFactors
from identity.directory.user import User, UserId
from identity.directory.users import Users
from identity.foundation.tenants import Tenant
from identity.foundation.vocabulary import AuthenticationContext
from server.platform.clock import Clock
from server.platform.errors import Unauthenticated

_REFUSED = "the passkey is not accepted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Challenge:
    """`options` are the request options as JSON; `code` identifies the ceremony."""

    code: str = field(repr=False)
    options: str
    user_id: UserId


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedInByPasskey:
    """`remembered` is a cookie by which the browser needs no password for a while, or empty."""

    signed_in: SignedIn
    remembered: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class PasskeySignIn:
    sessions: Sessions
    users: Users
    context: SignInContext
    ceremonies: Ceremonies
    assertion: Assertion
    remembered: RememberedFactors
    protection: LoginProtection
    confirmation: ConfirmationPolicy
    clock: Clock

    async def start(self, tenant: Tenant, browser: Browser, code: str, user_id: UserId) -> Challenge:
        """Continue after the credentials; `user_id` is empty where the path has none. Raises Unauthenticated."""
        session = await proved(self.sessions, tenant, browser)
        begun = await self.ceremonies.take(tenant, code, session.sid, Purpose.SECOND_FACTOR)
        if user_id not in {"", begun.user_id}:
            raise Unauthenticated("the ceremony belongs to another user")
        code = await self.ceremonies.begin(
            tenant,
            session.sid,
            Purpose.SIGN_IN,
            begun.user_id,
            request=begun.request,
            amr=begun.amr,
            vouching=begun.vouching,
            is_remembered=begun.is_remembered,
        )
        options = await self.assertion.options(tenant, code, begun.user_id, needs_user=begun.needs_user)
        return Challenge(code=code, options=options, user_id=begun.user_id)

    async def start_for_anybody(self, tenant: Tenant, browser: Browser, reference: Reference) -> Challenge:
        """Ask for any passkey that the authenticator offers; raises Unauthenticated, InvalidArgument."""
        session = await proved(self.sessions, tenant, browser)
        _, request = await self.context.asked.find(tenant, session, reference)
        code = await self.ceremonies.begin(tenant, session.sid, Purpose.SIGN_IN, UserId(""), request=request)
        options = await self.assertion.options(tenant, code, UserId(""), needs_user=True)
        return Challenge(code=code, options=options, user_id=UserId(""))

    async def finish(
        self, tenant: Tenant, browser: Browser, user_id: UserId, *, code: str, answer: str
    ) -> SignedInByPasskey:
        """Sign in and redirect with a code; raises Unauthenticated, ResourceExhausted, PermissionDenied.

        `user_id` is empty where the path has none.
        """
        session = await proved(self.sessions, tenant, browser)
        ceremony = await self.ceremonies.take(tenant, code, session.sid, Purpose.SIGN_IN)
        await self.protection.admit(
            tenant, browser.peer_address, account=ceremony.user_id, may_be_listed=False
        )
        if ceremony.request is None or user_id not in {"", ceremony.user_id}:
            raise Unauthenticated("the ceremony belongs to another user")
        user, shown = await self._shown(tenant, browser, ceremony, code=code, answer=answer)
        client = await self.context.asked.client(tenant, ceremony.request)
        signed_in = await self.context.sign_in_flow.finish(
            tenant,
            browser,
            session,
            client=client,
            request=ceremony.request,
            user=user,
            proof=Proof(
                amr=shown.amr,
                acr=AuthenticationContext.PHISHING_RESISTANT,
                vouching=ceremony.vouching,
            ),
        )
        # A remembered browser skips the password, so this is not for sign-ins at upstream providers.
        remembered = self.remembered.issue(tenant, user) if ceremony.vouching is None else ""
        return SignedInByPasskey(signed_in=signed_in, remembered=remembered)

    async def _shown(
        self, tenant: Tenant, browser: Browser, ceremony: Ceremony, *, code: str, answer: str
    ) -> tuple[User, ShownPasskey]:
        """Verify the assertion; a wrong one counts like a wrong password."""
        try:
            shown = await self.assertion.verify(tenant, ceremony, code=code, answer=answer)
            user = await self._user(tenant, shown)
        except Unauthenticated as refusal:
            await self.protection.failed(
                tenant,
                browser.peer_address,
                account=ceremony.user_id,
                secret=answer,
                user_id=ceremony.user_id,
            )
            raise Unauthenticated(_REFUSED) from refusal
        for account in (user.email, user.user_id):
            await self.protection.succeeded(tenant, browser.peer_address, account=account)
        await expect_confirmed(self.confirmation, tenant, user)
        return await self.users.note_sign_in(user, self.clock.now()), shown

    async def _user(self, tenant: Tenant, shown: ShownPasskey) -> User:
        user = await self.users.find(tenant, shown.passkey.user_id)
        if user is None or not user.is_active(self.clock.now()):
            raise Unauthenticated("the account cannot sign in")
        return user
