"""Enrolment of a generator: a secret is generated, and becomes valid with the first right code."""

from dataclasses import dataclass, field, replace
from datetime import datetime

from identity.access.person import Person
from identity.authentication.factor_names import own_name
from identity.authentication.one_time_codes.accounts import CodeAccounts
from identity.authentication.one_time_codes.code_factor_records import CodeFactorRecords
from identity.authentication.one_time_codes.config import OneTimeCodeConfig
from identity.authentication.one_time_codes.factors import CodeFactors, Enrolment, Generator
from identity.authentication.one_time_codes.secrets import GeneratorSecrets
from identity.authentication.one_time_codes.totp import new_secret, otpauth_uri, step_of
from identity.authentication.one_time_codes.typed import plain
from identity.authentication.passkeys.account import ModificationTokens
from identity.authentication.reauthentication.shown_factors import ShownFactors
from identity.foundation.events.events import Events
from identity.foundation.events.kinds import EventType
from identity.foundation.randomness import Randomness
from server.platform.clock import Clock
from server.platform.errors import AlreadyExists, InvalidArgument, InvalidState, NotFound

MOST_OF_A_USER = 5

_ID_LENGTH = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class NewGenerator:
    """The new secret, which is shown once."""

    id: str
    secret: str = field(repr=False)
    otpauth_uri: str = field(repr=False)
    expires_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratorEnrolment:
    factor_records: CodeFactorRecords
    secrets: GeneratorSecrets
    accounts: CodeAccounts
    modification_tokens: ModificationTokens
    shown_factors: ShownFactors
    events: Events
    clock: Clock
    randomness: Randomness
    config: OneTimeCodeConfig

    async def begin(self, person: Person, name: str, *, modification_token: str) -> NewGenerator:
        """Generate a secret, replacing a pending one; raises InvalidArgument, AlreadyExists, InvalidState."""
        tenant, user_id, name = person.tenant, person.user_id, own_name(name, field="name")
        user = await self.accounts.user(tenant, user_id)
        if not user.password_hash:
            raise InvalidState("one-time codes need an account with a password")
        _expect_room(await self.factor_records.of(tenant, user_id), name)
        await self.modification_tokens.spend(person, modification_token)
        generator_id, secret = self.randomness.alphanumeric(_ID_LENGTH), new_secret(self.randomness)
        generator = Generator(
            id=generator_id,
            name=name,
            secret=self.secrets.seal(secret, tenant.tenant_id, user_id, generator_id),
            added_at=self.clock.now(),
        )
        waiting = Enrolment(
            generator=generator,
            sid=person.actor.session,
            until=self.clock.now() + self.config.pending_lifetime,
        )
        await self.factor_records.change(
            tenant, user_id, lambda factors: factors.with_generators(*factors.generators, enrolment=waiting)
        )
        uri = otpauth_uri(secret, account=user.email, issuer=self.config.issuer_name)
        return NewGenerator(id=generator_id, secret=secret, otpauth_uri=uri, expires_at=waiting.until)

    async def confirm(self, person: Person, generator_id: str, *, code: str) -> None:
        """Add the pending generator.

        Raises NotFound, InvalidArgument, AlreadyExists, InvalidState, PermissionDenied.
        """
        tenant, user_id = person.tenant, person.user_id
        # The user may have added another factor elsewhere in the meantime.
        await self.shown_factors.expect(person)
        kept = await self.factor_records.change(
            tenant, user_id, lambda factors: self._confirmed(person, factors, generator_id, code=code)
        )
        await self.accounts.keep_up(tenant, user_id)
        await self.shown_factors.note(person)
        await self.events.emit(
            tenant.tenant_id,
            EventType.ONE_TIME_CODES_ADDED,
            text=kept.generators[-1].name,
            ip=person.actor.peer_address,
            user_id=user_id,
            session=person.actor.session,
        )

    def _confirmed(
        self, person: Person, factors: CodeFactors, generator_id: str, *, code: str
    ) -> CodeFactors:
        waiting, now = factors.enrolment, self.clock.now()
        if waiting is None or waiting.sid != person.actor.session or waiting.until <= now:
            raise NotFound("no generator waits for its first code in this session")
        generator = waiting.generator
        if generator.id != generator_id:
            raise NotFound("another generator waits for its first code")
        _expect_room(factors, generator.name)
        step = _first_step(self.secrets.open(factors, generator), code, now)
        added = replace(generator, added_at=now, last_step=step)
        return factors.with_generators(*factors.generators, added)


def _expect_room(factors: CodeFactors, name: str) -> None:
    if len(factors.generators) >= MOST_OF_A_USER:
        raise InvalidState(f"expected at most {MOST_OF_A_USER} generators of one-time codes")
    if factors.named(name) is not None:
        raise AlreadyExists("there is a generator of this name")


def _first_step(secret: str, code: str, now: datetime) -> int:
    text = plain(code)
    step = step_of(secret, text, now=now, after=0) if text.isascii() else None
    if step is None:
        raise InvalidArgument("the code is not the current one of the secret")
    return step
