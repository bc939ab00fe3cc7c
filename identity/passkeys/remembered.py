"""Browsers that showed a passkey: they need no password for a while.

What a browser keeps is signed, so that nothing is kept of it here; who has no passkey any more gains nothing by it.
"""

import hmac
from dataclasses import dataclass

from identity.clients.secrets import SecretHasher
from identity.directory.user import UserId
from identity.passkeys.config import WebauthnConfig
from identity.tenants import Tenant
from server.platform.clock import Clock


@dataclass(frozen=True, slots=True, kw_only=True)
class RememberedFactors:
    hasher: SecretHasher
    clock: Clock
    config: WebauthnConfig

    def issue(self, tenant: Tenant, user_id: UserId) -> str:
        """Return what the browser of the person keeps."""
        until = int((self.clock.now() + self.config.remembered).timestamp())
        return f"{user_id}.{until}.{self._signature(tenant, user_id, until)}"

    def is_of(self, tenant: Tenant, text: str, user_id: UserId) -> bool:
        named, _, rest = text.partition(".")
        until, _, signature = rest.partition(".")
        if named != user_id or not (until.isascii() and until.isdecimal()):
            return False
        expected = self._signature(tenant, user_id, int(until))
        return hmac.compare_digest(expected, signature) and self.clock.now().timestamp() < int(until)

    def _signature(self, tenant: Tenant, user_id: UserId, until: int) -> str:
        return self.hasher.hash(f"remembered {tenant.tenant_id} {user_id} {until}").hex()
