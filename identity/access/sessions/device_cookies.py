"""Cookies by which a browser is recognized after its session has ended.

The signed value names the browser and no account, so its length does not depend on the number of accounts. It proves
nothing about a user: a sign-in needs what it needs without the cookie, which only lifts the block for a list of
credentials.
"""

import hmac
from dataclasses import dataclass
from datetime import timedelta

from identity.directory.secrets import SecretHasher
from identity.directory.user import UserId
from identity.foundation.randomness import Randomness
from identity.foundation.tenants import Tenant

# Browsers keep no cookie longer: RFC 6265bis §5.5.
DEVICE_COOKIE_LIFETIME = timedelta(days=400)

_ID_LENGTH = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceCookies:
    hasher: SecretHasher
    randomness: Randomness

    def is_genuine(self, tenant: Tenant, cookie: str) -> bool:
        device_id, _, signature = cookie.partition(".")
        return hmac.compare_digest(self._signature(tenant, device_id).encode(), signature.encode())

    def genuine(self, tenant: Tenant, cookie: str) -> str:
        """Return the cookie, or a new one in place of a missing or forged one."""
        if self.is_genuine(tenant, cookie):
            return cookie
        device_id = self.randomness.alphanumeric(_ID_LENGTH)
        return f"{device_id}.{self._signature(tenant, device_id)}"

    def device_of(self, user_id: UserId, cookie: str) -> str:
        """Return the browser's id in the records of a user; records of two users have no common id."""
        return self.hasher.hash(f"device of {user_id} {cookie}").hex()

    def _signature(self, tenant: Tenant, device_id: str) -> str:
        return self.hasher.hash(f"device {tenant.tenant_id} {device_id}").hex()
