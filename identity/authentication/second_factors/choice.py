"""Selects the second factor that a user is asked for: a passkey, or a code instead.

Before a right password or a remembered browser, the response reveals nothing about the account.
"""

from contextlib import suppress
from dataclasses import dataclass, replace

from identity.access.sessions.browser import Browser
from identity.access.sessions.session import Session
from identity.authentication.authorization.sign_in import Proof
from identity.authentication.authorization.steps import SecondFactor, SecondFactors
from identity.authentication.one_time_codes.code_factor_records import CodeFactorRecords
from identity.authentication.one_time_codes.config import OneTimeCodeConfig
from identity.authentication.one_time_codes.email_codes import CodesByEmail
from identity.authentication.one_time_codes.factors import CodeFactors
from identity.authentication.one_time_codes.question import CodeQuestions
from identity.authentication.requests.redirect_uris import origin_of
from identity.authentication.requests.request import AuthorizationRequest
from identity.directory.user import User
from identity.directory.users import Users
from identity.foundation.tenants import Tenant
from identity.foundation.vocabulary import FactorMethod
from server.platform.errors import ResourceExhausted


@dataclass(frozen=True, slots=True, kw_only=True)
class SecondFactorRequests:
    """A passkey has its own ceremony; the request for a code is stored beside it, under the same code."""

    passkeys: SecondFactors
    users: Users
    codes: CodeFactorRecords
    questions: CodeQuestions
    by_email: CodesByEmail
    config: OneTimeCodeConfig

    async def after(
        self, tenant: Tenant, session: Session, request: AuthorizationRequest, user: User, *, first: Proof
    ) -> SecondFactor | None:
        """Return None for a user without a second factor."""
        by_passkey = await self.passkeys.after(tenant, session, request, user, first=first)
        kept = await self.codes.of(tenant, user.user_id)
        has_other_factor = by_passkey is not None or bool(kept.generators)
        is_by_email = await self.by_email.asks(tenant, user, kept, has_other_factor=has_other_factor)
        methods = (*_methods(kept), *((FactorMethod.EMAIL_CODE,) if is_by_email else ()))
        # One-time codes are only for accounts with a password.
        if not (methods and user.password_hash) or not (has_other_factor or is_by_email):
            return by_passkey
        follows = by_passkey or SecondFactor(
            code=self.questions.new_name(),
            user_id=user.user_id,
            lifetime=self.config.asked_lifetime,
            methods=(),
        )
        question = await self.questions.ask(
            follows.code, session.sid, user, request=request, first=first, by_email=is_by_email
        )
        if is_by_email and not has_other_factor:
            # A user who got too many codes finds the button that says so.
            with suppress(ResourceExhausted):
                await self.by_email.send(tenant, user, question)
        return _with_codes(follows, request, methods)

    async def instead_of_password(
        self, tenant: Tenant, session: Session, request: AuthorizationRequest, browser: Browser, *, email: str
    ) -> SecondFactor:
        """Return a challenge for every address; codes are offered only in a remembered browser."""
        follows = await self.passkeys.instead_of_password(tenant, session, request, browser, email=email)
        user = await self.users.find(tenant, follows.user_id) if follows.is_remembered else None
        if user is None or not user.password_hash:
            return follows
        kept = await self.codes.of(tenant, user.user_id)
        if not kept.generators:
            return follows
        if not user.has_passkey:
            follows = replace(follows, methods=(), lifetime=self.config.asked_lifetime)
        await self.questions.ask(follows.code, session.sid, user, request=request, first=None)
        return _with_codes(follows, request, (FactorMethod.ONE_TIME_CODE,))


def _with_codes(
    follows: SecondFactor, request: AuthorizationRequest, methods: tuple[FactorMethod, ...]
) -> SecondFactor:
    return replace(
        follows, methods=(*follows.methods, *methods), redirect_origin=origin_of(request.redirect_uri)
    )


def _methods(kept: CodeFactors) -> tuple[FactorMethod, ...]:
    one_time = (FactorMethod.ONE_TIME_CODE,) if kept.generators else ()
    recovery = (FactorMethod.RECOVERY_CODE,) if kept.recovery_hashes else ()
    return (*one_time, *recovery)
