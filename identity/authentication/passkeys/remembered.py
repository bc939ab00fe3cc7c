"""Remembered browsers, which showed a second factor and need no password for a while.

The cookie is signed, so no record is stored. It is useless once the user has no second factor, and becomes invalid with
a new password.
"""

import hmac
from dataclasses import dataclass
from datetime import timedelta

from identity.authentication.passkeys.config import WebauthnConfig
from identity.directory.secrets import SecretHasher
from identity.directory.user import User
from identity.foundation.tenants import Tenant
from server.platform.clock import Clock


@dataclass(frozen=True, slots=True, kw_only=True)
class RememberedFactors:
    hasher: SecretHasher
    clock: Clock
    config: WebauthnConfig

    @property
    def lifetime(self) -> timedelta:
        return self.config.remembered

    def issue(self, tenant: Tenant, user: User) -> str:
        """Return the cookie for the user's browser."""
        until = int((self.clock.now() + self.lifetime).timestamp())
        return f"{user.id}.{until}.{self._signature(tenant, user, until)}"

    def is_of(self, tenant: Tenant, text: str, user: User) -> bool:
        named, _, rest = text.partition(".")
        until, _, signature = rest.partition(".")
        if named != user.id or not (until.isascii() and until.isdecimal()):
            return False
        expected = self._signature(tenant, user, int(until))
        return hmac.compare_digest(expected, signature) and self.clock.now().timestamp() < int(until)

    def _signature(self, tenant: Tenant, user: User, until: int) -> str:
        signed = f"remembered {tenant.tenant_id} {user.id} {until} {user.password_hash}"
        return self.hasher.hash(signed).hex()
