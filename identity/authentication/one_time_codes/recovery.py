"""Recovery codes: ten single-use codes for users who lost their other factors."""

import base64
import hmac
from collections.abc import Sequence

from identity.authentication.one_time_codes.factors import CodeFactors
from identity.authentication.one_time_codes.typed import RECOVERY_LENGTH, plain
from identity.directory.secrets import SecretHasher
from identity.directory.user import UserId
from identity.foundation.randomness import Randomness
from identity.foundation.tenants import Tenant

_COUNT = 10
_GROUP = 6
_BITS_A_SIGN = 5


class RecoveryCodeGenerator:
    def __init__(self, hasher: SecretHasher, randomness: Randomness) -> None:
        self._hasher = hasher
        self._randomness = randomness

    def made(self) -> Sequence[str]:
        """Return new codes, in groups of characters."""
        return [self._made() for _ in range(_COUNT)]

    def hash(self, tenant: Tenant, user_id: UserId, code: str) -> str:
        return self._hasher.hash(f"recovery {tenant.tenant_id} {user_id} {plain(code)}").hex()

    def without(self, factors: CodeFactors, tenant: Tenant, code: str) -> CodeFactors | None:
        """Return the record without this code, or None when it has no such code."""
        presented = self.hash(tenant, factors.user_id, code)
        others = tuple(kept for kept in factors.recovery_hashes if not hmac.compare_digest(kept, presented))
        return factors.with_recovery_left(others) if len(others) < len(factors.recovery_hashes) else None

    def _made(self) -> str:
        octets = self._randomness.octets(RECOVERY_LENGTH * _BITS_A_SIGN // 8)
        signs = base64.b32encode(octets).decode()
        return "-".join(signs[start : start + _GROUP] for start in range(0, RECOVERY_LENGTH, _GROUP))
