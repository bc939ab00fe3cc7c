"""Sign-in with a code, after a password or in a remembered browser."""

from dataclasses import dataclass, field

from identity.access.sessions.browser import Browser
from identity.access.sessions.sessions import Sessions, proved
from identity.authentication.authorization.sign_in import Proof, SignedIn
from identity.authentication.authorization.sign_in_context import SignInContext
from identity.authentication.confirmation import ConfirmationPolicy, expect_confirmed
from identity.authentication.one_time_codes.question import CodeQuestion, CodeQuestions
from identity.authentication.one_time_codes.typed import CodeKind
from identity.authentication.one_time_codes.verification import ANY_CODE, CodeVerification
from identity.authentication.passkeys.remembered import RememberedFactors
from identity.authentication.requests.redirect_uris import origin_of
from identity.directory.user import User
from identity.directory.users import Users
from identity.foundation.tenants import Tenant
from identity.foundation.vocabulary import AuthenticationContext
from server.platform.clock import Clock
from server.platform.errors import Unauthenticated

# RFC 8176 §2.
_ONE_TIME, _SEVERAL = "otp", "mfa"
# Not of RFC 8176, which has no method for a mailbox; a mailed code does not count as `otp` of a device.
_EMAIL = "email"


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedInByCode:
    """`remembered` is a cookie by which the browser needs no password for a while, or empty."""

    signed_in: SignedIn
    remembered: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeSignIn:
    sessions: Sessions
    users: Users
    context: SignInContext
    questions: CodeQuestions
    verification: CodeVerification
    remembered: RememberedFactors
    confirmation: ConfirmationPolicy
    clock: Clock

    async def finish(self, tenant: Tenant, browser: Browser, name: str, *, code: str) -> SignedInByCode:
        """Sign in and redirect with a code; raises Unauthenticated, ResourceExhausted, PermissionDenied.

        After a wrong code the request stays pending. The metadata of that error have the `cause` WRONG_CODE, and
        `redirect_origin` for the content security policy of the form.
        """
        session = await proved(self.sessions, tenant, browser)
        question = await self.questions.find(tenant, name, session.sid)
        await self._user(tenant, question)
        is_mailed = bool(question.amr) and self.questions.is_mailed(question, code)
        kind = await self._verified(tenant, browser, question, code=code, is_mailed=is_mailed)
        await self.questions.take(question)
        user = await self._user(tenant, question)
        await expect_confirmed(self.confirmation, tenant, user)
        user = await self.users.note_sign_in(user, self.clock.now())
        client = await self.context.asked.client(tenant, question.request)
        signed_in = await self.context.sign_in_flow.finish(
            tenant,
            browser,
            session,
            client=client,
            request=question.request,
            user=user,
            proof=_proof(question, _EMAIL if is_mailed else _ONE_TIME),
        )
        if is_mailed and signed_in.session is not None and not await self._has_stronger_factor(tenant, user):
            # With a stronger factor, changes of factors need that one: a mailbox must not replace it.
            await self.sessions.note_factor(tenant, signed_in.session.sid)
        # A remembered browser skips the password, so this needs a sign-in with a password here.
        # A mailbox is no factor that replaces the password.
        is_remembered = kind is CodeKind.ONE_TIME and question.vouching is None and not is_mailed
        remembered = self.remembered.issue(tenant, user) if is_remembered else ""
        return SignedInByCode(signed_in=signed_in, remembered=remembered)

    async def _verified(
        self, tenant: Tenant, browser: Browser, question: CodeQuestion, *, code: str, is_mailed: bool
    ) -> CodeKind:
        try:
            return await self.verification.verify(
                tenant,
                question.user_id,
                code,
                peer_address=browser.peer_address,
                # A recovery code replaces a lost factor, never the password.
                kinds=ANY_CODE if question.amr else (CodeKind.ONE_TIME,),
                is_mailed=is_mailed,
            )
        except Unauthenticated as refusal:
            origin = origin_of(question.request.redirect_uri)
            raise Unauthenticated(refusal.detail, cause="WRONG_CODE", redirect_origin=origin) from refusal

    async def _has_stronger_factor(self, tenant: Tenant, user: User) -> bool:
        kept = await self.verification.factor_records.of(tenant, user.user_id)
        return user.has_passkey or bool(kept.generators)

    async def _user(self, tenant: Tenant, question: CodeQuestion) -> User:
        user = await self.users.find(tenant, question.user_id)
        if (
            user is None
            or not user.is_active(self.clock.now())
            or not self.questions.is_about(question, user)
        ):
            raise Unauthenticated("the account cannot sign in by a code")
        return user


def _proof(question: CodeQuestion, method: str) -> Proof:
    if not question.amr:
        # A remembered browser is not a factor of this sign-in.
        return Proof(amr=(_ONE_TIME,), acr=AuthenticationContext.PASSWORD)
    return Proof(
        amr=(*question.amr, method, _SEVERAL),
        acr=AuthenticationContext.SEVERAL_FACTORS,
        vouching=question.vouching,
    )
