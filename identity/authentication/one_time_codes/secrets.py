"""Secrets of generators, encrypted at rest under a master key because codes are computed from them."""

from contextlib import suppress
from dataclasses import replace

from identity.authentication.one_time_codes.factors import CODE_FACTORS, CodeFactors, Generator
from identity.crypto.keys.master_keys import MasterKeys, Place, Sealed
from identity.directory.user import UserId
from server.platform.call import TenantId
from server.platform.records import Changed, RecordStore

_MOST_ROUNDS = 10_000


class GeneratorSecrets:
    def __init__(self, store: RecordStore, master_keys: MasterKeys) -> None:
        self._records = store.of(CODE_FACTORS)
        self._master_keys = master_keys

    def seal(self, secret: str, tenant_id: TenantId, user_id: UserId, generator_id: str) -> Sealed:
        return self._master_keys.seal(secret.encode(), _place(tenant_id, user_id, generator_id))

    def open(self, factors: CodeFactors, generator: Generator) -> str:
        """Return the secret in base32; raises LostMasterKey."""
        place = _place(factors.tenant_id, factors.user_id, generator.id)
        return self._master_keys.open(generator.secret, place).decode()

    async def reseal(self, tenant_id: TenantId) -> None:
        """Encrypt secrets of inactive master keys under the active one; raises LostMasterKey."""
        for key_id in self._master_keys.inactive:
            for _ in range(_MOST_ROUNDS):
                found = await self._records.find(tenant_id, "sealed_under", key_id)
                for factors in found:
                    with suppress(Changed):
                        await self._records.replace(self._resealed(factors))
                if not found:
                    break

    def _resealed(self, factors: CodeFactors) -> CodeFactors:
        waiting = factors.enrolment
        if waiting is not None:
            waiting = replace(waiting, generator=self._of(factors, waiting.generator))
        generators = [self._of(factors, generator) for generator in factors.generators]
        return factors.with_generators(*generators, enrolment=waiting)

    def _of(self, factors: CodeFactors, generator: Generator) -> Generator:
        place = _place(factors.tenant_id, factors.user_id, generator.id)
        return replace(generator, secret=self._master_keys.resealed(generator.secret, place))


def _place(tenant_id: TenantId, user_id: UserId, generator_id: str) -> Place:
    return Place("code_generator", tenant_id, f"{user_id} {generator_id}")
