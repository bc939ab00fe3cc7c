"""Codes by e-mail: a second factor that is as strong as the user's mailbox.

A code belongs to one request in one session, counts once, and is replaced by the next one. Wrong codes count like those of
generators. A person who reads the user's mail can also reset the password, so such a code is weaker than other factors.
"""

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Protocol

from identity.access.callers import Actor
from identity.access.person import Person
from identity.access.sessions.browser import Browser
from identity.access.sessions.sessions import Sessions, proved
from identity.authentication.one_time_codes.accounts import CodeAccounts
from identity.authentication.one_time_codes.code_factor_records import (
    CodeFactorRecords,
    without_idle_recovery,
)
from identity.authentication.one_time_codes.config import OneTimeCodeConfig
from identity.authentication.one_time_codes.factors import CodeFactors
from identity.authentication.one_time_codes.letters import sign_in_code
from identity.authentication.one_time_codes.question import CodeQuestion, CodeQuestions
from identity.authentication.one_time_codes.totp import DIGITS
from identity.authentication.passkeys.account import ModificationTokens
from identity.authentication.passkeys.passkeys import Passkeys
from identity.authentication.requests.redirect_uris import origin_of
from identity.delivery.mail.letter import Letter
from identity.directory.tenants.settings import EmailCodes, TenantSettings
from identity.directory.user import User, UserId
from identity.directory.users import Users
from identity.foundation.events.events import Events
from identity.foundation.events.kinds import EventType
from identity.foundation.randomness import Randomness
from identity.foundation.tenants import Tenant
from server.platform.clock import Clock
from server.platform.errors import InvalidState, NotFound, ResourceExhausted, Unauthenticated
from server.platform.languages import languages

# Name of the factor in events.
_NAME = "email"
_COUNTED_FOR = timedelta(minutes=15)
_OCTETS = 8


class Settings(Protocol):
    async def of(self, tenant: Tenant) -> TenantSettings: ...


class MailQueue(Protocol):
    @property
    def is_open(self) -> bool: ...

    async def post_seldom(
        self, tenant: Tenant, letter: Letter, *, subject_matter: str, every: timedelta
    ) -> bool: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class CodesByEmail:
    """Sends codes, and tells whether a user is asked for one."""

    sessions: Sessions
    users: Users
    questions: CodeQuestions
    settings: Settings
    mail: MailQueue
    clock: Clock
    randomness: Randomness
    config: OneTimeCodeConfig

    async def may_turn_on(self, tenant: Tenant, user: User) -> bool:
        is_allowed = (await self.settings.of(tenant)).email_codes is not EmailCodes.OFF
        return is_allowed and self._has_mailbox(user)

    async def asks(self, tenant: Tenant, user: User, kept: CodeFactors, *, has_other_factor: bool) -> bool:
        """Whether codes by mail are a factor of the user: turned on, or required for lack of another one."""
        if kept.by_email or has_other_factor or not self._has_mailbox(user):
            return kept.by_email
        return (await self.settings.of(tenant)).email_codes is EmailCodes.REQUIRED

    async def send_again(self, tenant: Tenant, browser: Browser, name: str) -> str:
        """Mail a new code for the request of this browser, and return the origin to which its form leads.

        Raises Unauthenticated, ResourceExhausted.
        """
        session = await proved(self.sessions, tenant, browser)
        question = await self.questions.find(tenant, name, session.sid)
        user = await self.users.find(tenant, question.user_id)
        is_asked = question.by_email and bool(question.amr)
        if not is_asked or user is None or not self.questions.is_about(question, user):
            raise Unauthenticated("no code by mail is requested in this browser")
        await self.send(tenant, user, question)
        return origin_of(question.request.redirect_uri)

    async def send(self, tenant: Tenant, user: User, question: CodeQuestion) -> None:
        """Raises ResourceExhausted when the user got too many already."""
        code = f"{int.from_bytes(self.randomness.octets(_OCTETS)) % 10**DIGITS:0{DIGITS}}"
        until = self.clock.now() + self.config.mailed_lifetime
        letter = sign_in_code(user.email, code, until, languages().of(user.language))
        if not await self._is_posted(tenant, letter):
            wait = int(_COUNTED_FOR.total_seconds())
            raise ResourceExhausted("too many codes were sent", retry_after_secs=str(wait))
        await self.questions.note_mailed(question, code, until)

    async def _is_posted(self, tenant: Tenant, letter: Letter) -> bool:
        for number in range(self.config.most_mailed):
            matter = f"sign-in code {number}"
            if await self.mail.post_seldom(tenant, letter, subject_matter=matter, every=_COUNTED_FOR):
                return True
        return False

    def _has_mailbox(self, user: User) -> bool:
        return self.mail.is_open and user.is_email_verified and bool(user.password_hash)


@dataclass(frozen=True, slots=True, kw_only=True)
class EmailCodeAdministration:
    """A user turns codes by mail on and off; administrators turn them off."""

    codes: CodesByEmail
    factor_records: CodeFactorRecords
    accounts: CodeAccounts
    passkeys: Passkeys
    modification_tokens: ModificationTokens
    events: Events

    async def state(self, tenant: Tenant, user_id: UserId) -> tuple[bool, bool]:
        """Return whether they are on, and whether the user may turn them on; raises NotFound."""
        user = await self.accounts.user(tenant, user_id)
        is_on = (await self.factor_records.of(tenant, user_id)).by_email
        return is_on, await self.codes.may_turn_on(tenant, user)

    async def turn_on(self, person: Person, *, modification_token: str) -> None:
        """Raises InvalidArgument, InvalidState, PermissionDenied."""
        tenant, user_id = person.tenant, person.user_id
        if not await self.codes.may_turn_on(tenant, await self.accounts.user(tenant, user_id)):
            raise InvalidState(
                "codes by e-mail need a password, a verified address, mail, and the permission of the tenant"
            )
        await self.modification_tokens.spend(person, modification_token)
        await self._change(tenant, user_id, on=True, actor=person.actor)

    async def turn_off(
        self, tenant: Tenant, user_id: UserId, *, modification_token: str, actor: Actor
    ) -> None:
        """The user needs a modification token. Raises NotFound, InvalidArgument, PermissionDenied."""
        await self._expect_on(tenant, user_id)
        await self.modification_tokens.spend_own(tenant, user_id, modification_token, actor=actor)
        await self._change(tenant, user_id, on=False, actor=actor)

    async def _expect_on(self, tenant: Tenant, user_id: UserId) -> None:
        if not (await self.factor_records.of(tenant, user_id)).by_email:
            raise NotFound("codes by e-mail are not on")

    async def _change(self, tenant: Tenant, user_id: UserId, *, on: bool, actor: Actor) -> None:
        has_passkeys = bool(await self.passkeys.of(tenant, user_id))

        def changed(factors: CodeFactors) -> CodeFactors:
            after = replace(factors, by_email=on)
            return after if on or has_passkeys else without_idle_recovery(after)

        await self.factor_records.change(tenant, user_id, changed)
        await self.accounts.keep_up(tenant, user_id)
        is_own = actor.id == user_id
        await self.events.emit(
            tenant.tenant_id,
            EventType.ONE_TIME_CODES_ADDED if on else EventType.ONE_TIME_CODES_REMOVED,
            ip=actor.peer_address or None,
            text=_NAME,
            user_id=user_id,
            session=actor.session if is_own and actor.session else None,
            actor=actor,
        )
