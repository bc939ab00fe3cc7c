"""Server nonces for DPoP proofs: RFC 9449 §8.

A nonce is the time window in which it was made, with a MAC. Every process therefore accepts nonces of all others, and
none is stored.
"""

import hmac

from identity.access.dpop.config import DpopConfig
from identity.directory.secrets import SecretHasher
from identity.foundation.tenants import Tenant
from server.platform.clock import Clock

_LENGTH = 32


class DpopNonces:
    def __init__(self, secrets: SecretHasher, clock: Clock, config: DpopConfig) -> None:
        self._secrets = secrets
        self._clock = clock
        self._lifetime = config.nonce_lifetime_secs

    @property
    def are_required(self) -> bool:
        return self._lifetime > 0

    def current(self, tenant: Tenant) -> str:
        """Return the current nonce; empty when none is required."""
        return self._of(tenant, self._window()) if self.are_required else ""

    def is_fresh(self, tenant: Tenant, nonce: str) -> bool:
        """Whether the nonce is of this time window or of the previous one."""
        window = self._window()
        expected = (self._of(tenant, window), self._of(tenant, window - 1))
        return any(hmac.compare_digest(one.encode(), nonce.encode()) for one in expected)

    def _window(self) -> int:
        return int(self._clock.now().timestamp()) // self._lifetime

    def _of(self, tenant: Tenant, window: int) -> str:
        return self._secrets.hash(f"DPoP nonce {tenant.tenant_id} {window}").hex()[:_LENGTH]
