"""Browsers that proved a second factor: they need no password for a while.

What a browser keeps is signed, so that nothing is kept of it here; who has no second factor any more gains nothing by it.
With a new password every browser is forgotten.
"""

import hmac
from dataclasses import dataclass
from datetime import timedelta

from identity.clients.secrets import SecretHasher
from identity.directory.user import User
from identity.passkeys.config import WebauthnConfig
from identity.tenants import Tenant
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
        """Return what the browser of the person keeps."""
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
