"""Generators and recovery codes of a user: list, rename, regenerate and remove."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from identity.access.callers import Actor
from identity.access.person import Person
from identity.authentication.factor_names import own_name
from identity.authentication.one_time_codes.accounts import CodeAccounts
from identity.authentication.one_time_codes.code_factor_records import (
    CodeFactorRecords,
    without_idle_recovery,
)
from identity.authentication.one_time_codes.factors import CodeFactors
from identity.authentication.one_time_codes.recovery import RecoveryCodeGenerator
from identity.authentication.passkeys.account import ModificationTokens
from identity.authentication.passkeys.passkeys import Passkeys
from identity.directory.user import UserId
from identity.foundation.events.events import Events
from identity.foundation.events.kinds import EventType
from identity.foundation.tenants import Tenant
from server.platform.clock import Clock
from server.platform.errors import AlreadyExists, InvalidState, NotFound


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeAdministration:
    factor_records: CodeFactorRecords
    recovery: RecoveryCodeGenerator
    passkeys: Passkeys
    accounts: CodeAccounts
    modification_tokens: ModificationTokens
    events: Events
    clock: Clock

    async def of_user(self, tenant: Tenant, user_id: UserId) -> CodeFactors:
        return await self.factor_records.of(tenant, user_id)

    async def rename_own(
        self, person: Person, generator_id: str, *, name: str, modification_token: str
    ) -> None:
        """Raises InvalidArgument, NotFound, AlreadyExists."""
        tenant, user_id, name = person.tenant, person.user_id, own_name(name, field="name")
        _renamed(await self.factor_records.of(tenant, user_id), generator_id, name)
        await self.modification_tokens.spend(person, modification_token)
        await self.factor_records.change(
            tenant, user_id, lambda factors: _renamed(factors, generator_id, name)
        )
        await self._tell(tenant, user_id, EventType.CHANGED, f"one-time codes {name}", actor=person.actor)

    async def remove(
        self, tenant: Tenant, user_id: UserId, generator_id: str, *, modification_token: str, actor: Actor
    ) -> None:
        """Remove a generator; its user needs a modification token. Raises NotFound, InvalidArgument."""
        has_passkeys = bool(await self.passkeys.of(tenant, user_id))
        name = _name(await self.factor_records.of(tenant, user_id), generator_id)
        await self.modification_tokens.spend_own(tenant, user_id, modification_token, actor=actor)

        def changed(factors: CodeFactors) -> CodeFactors:
            rest = _without(factors, generator_id)
            return rest if has_passkeys else without_idle_recovery(rest)

        await self.factor_records.change(tenant, user_id, changed)
        await self.accounts.keep_up(tenant, user_id)
        await self._tell(tenant, user_id, EventType.ONE_TIME_CODES_REMOVED, name, actor=actor)

    async def make_recovery_codes(self, person: Person, *, modification_token: str) -> Sequence[str]:
        """Return new codes, which replace all earlier ones; raises InvalidArgument, InvalidState."""
        tenant, user_id = person.tenant, person.user_id
        await self._expect_factor(tenant, user_id)
        await self.modification_tokens.spend(person, modification_token)
        codes, now = self.recovery.made(), self.clock.now()
        hashes = tuple(self.recovery.hash(tenant, user_id, code) for code in codes)
        await self.factor_records.change(tenant, user_id, lambda factors: factors.with_recovery(hashes, now))
        await self._tell(tenant, user_id, EventType.RECOVERY_CODES_MADE, None, actor=person.actor)
        return codes

    async def remove_recovery_codes(
        self, tenant: Tenant, user_id: UserId, *, modification_token: str, actor: Actor
    ) -> None:
        """Remove all codes; their user needs a modification token. Raises NotFound, InvalidArgument."""
        _expect_recovery(await self.factor_records.of(tenant, user_id))
        await self.modification_tokens.spend_own(tenant, user_id, modification_token, actor=actor)
        await self.factor_records.change(tenant, user_id, lambda factors: factors.with_recovery((), None))
        await self._tell(tenant, user_id, EventType.RECOVERY_CODES_REMOVED, None, actor=actor)

    async def _expect_factor(self, tenant: Tenant, user_id: UserId) -> None:
        user, factors = (
            await self.accounts.user(tenant, user_id),
            await self.factor_records.of(tenant, user_id),
        )
        has_factor = bool(factors.generators or factors.by_email or await self.passkeys.of(tenant, user_id))
        if not (user.password_hash and has_factor):
            raise InvalidState("recovery codes need an account with a password and a second factor")

    async def _tell(
        self, tenant: Tenant, user_id: UserId, event_type: EventType, text: str | None, *, actor: Actor
    ) -> None:
        is_own = actor.id == user_id
        await self.events.emit(
            tenant.tenant_id,
            event_type,
            ip=actor.peer_address or None,
            text=text,
            user_id=user_id,
            session=actor.session if is_own and actor.session else None,
            actor=actor,
        )


def _name(factors: CodeFactors, generator_id: str) -> str:
    found = next((each.name for each in factors.generators if each.id == generator_id), None)
    if found is None:
        raise NotFound("there is no such generator")
    return found


def _without(factors: CodeFactors, generator_id: str) -> CodeFactors:
    _name(factors, generator_id)
    rest = (each for each in factors.generators if each.id != generator_id)
    return factors.with_generators(*rest, enrolment=factors.enrolment)


def _renamed(factors: CodeFactors, generator_id: str, name: str) -> CodeFactors:
    _name(factors, generator_id)
    other = factors.named(name)
    if other is not None and other.id != generator_id:
        raise AlreadyExists("there is a generator of this name")
    renamed = (replace(each, name=name) if each.id == generator_id else each for each in factors.generators)
    return replace(factors, generators=tuple(renamed))


def _expect_recovery(factors: CodeFactors) -> None:
    if not factors.recovery_hashes:
        raise NotFound("there are no recovery codes")
