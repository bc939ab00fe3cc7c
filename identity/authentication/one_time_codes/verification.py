"""Verification of one-time codes and recovery codes: single use, in their time, in constant time.

Wrong codes count for the network address like wrong passwords. They also count in a row for the account, whose one-time
codes then pause, because six digits are soon guessed from many addresses. A pause needs the password or a session, so
strangers cannot cause a pause. Passkeys and recovery codes are accepted during a pause.
"""

from collections.abc import Collection
from dataclasses import dataclass

from identity.access.login_protection.protection import LoginProtection
from identity.authentication.one_time_codes.code_factor_records import CodeFactorRecords
from identity.authentication.one_time_codes.config import OneTimeCodeConfig
from identity.authentication.one_time_codes.factors import CodeFactors
from identity.authentication.one_time_codes.recovery import RecoveryCodeGenerator
from identity.authentication.one_time_codes.secrets import GeneratorSecrets
from identity.authentication.one_time_codes.totp import step_of
from identity.authentication.one_time_codes.typed import CodeKind, kind_of, plain
from identity.directory.user import UserId
from identity.foundation.events.events import Events
from identity.foundation.events.kinds import EventType
from identity.foundation.tenants import Tenant
from server.platform.clock import Clock
from server.platform.errors import Unauthenticated

ANY_CODE = frozenset(CodeKind)


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeVerification:
    factor_records: CodeFactorRecords
    secrets: GeneratorSecrets
    recovery: RecoveryCodeGenerator
    protection: LoginProtection
    events: Events
    clock: Clock
    config: OneTimeCodeConfig

    async def verify(
        self,
        tenant: Tenant,
        user_id: UserId,
        code: str,
        *,
        peer_address: str,
        kinds: Collection[CodeKind] = ANY_CODE,
        is_mailed: bool = False,
    ) -> CodeKind:
        """Use up a code of the user, with `is_mailed` one that was mailed for this request.

        Raises Unauthenticated for a wrong one, ResourceExhausted after too many.
        """
        # A code follows a right password, or is asked for in a session.
        await self.protection.admit(tenant, peer_address, account=user_id, may_be_listed=False)
        kind = kind_of(code)
        kept = await self.factor_records.change(
            tenant,
            user_id,
            lambda factors: self._judged(tenant, factors, code, kind=kind, kinds=kinds, is_mailed=is_mailed),
        )
        if kind is None or kept.wrong_in_a_row:
            await self._refused(tenant, kept, code, peer_address=peer_address)
            raise Unauthenticated("the code is wrong, was used before or has expired")
        await self.protection.succeeded(tenant, peer_address, account=user_id)
        if kind is CodeKind.RECOVERY:
            await self.events.emit(
                tenant.tenant_id,
                EventType.RECOVERY_CODE_USED,
                ip=peer_address,
                data=len(kept.recovery_hashes),
                user_id=user_id,
            )
        return kind

    def _judged(
        self,
        tenant: Tenant,
        factors: CodeFactors,
        code: str,
        *,
        kind: CodeKind | None,
        kinds: Collection[CodeKind],
        is_mailed: bool,
    ) -> CodeFactors:
        if kind is CodeKind.RECOVERY:
            used = self.recovery.without(factors, tenant, code) if kind in kinds else None
        else:
            factors.expect_admitted(self.clock.now())
            if is_mailed:
                return factors.with_right()
            used = self._used(factors, code) if kind in kinds else None
        return used or factors.with_wrong(self.clock.now(), self.config)

    def _used(self, factors: CodeFactors, code: str) -> CodeFactors | None:
        now = self.clock.now()
        steps = {
            generator.id: step_of(
                self.secrets.open(factors, generator), plain(code), now=now, after=generator.last_step
            )
            for generator in factors.generators
        }
        found = next(((each, step) for each, step in steps.items() if step is not None), None)
        return factors.with_used(*found, now) if found is not None else None

    async def _refused(self, tenant: Tenant, kept: CodeFactors, code: str, *, peer_address: str) -> None:
        if kept.paused_until is not None and self.clock.now() < kept.paused_until:
            await self.events.emit(
                tenant.tenant_id,
                EventType.ONE_TIME_CODES_PAUSED,
                ip=peer_address,
                data=int(kept.paused_until.timestamp()),
                user_id=kept.user_id,
            )
        # Counted for the user id: a sign-in with the right password does not clear wrong codes.
        await self.protection.failed(
            tenant, peer_address, account=kept.user_id, secret=plain(code), user_id=kept.user_id
        )
