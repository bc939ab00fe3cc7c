"""Holds back addresses that guess: OWASP ASVS 5, 6.3.1.

Failures are counted per address, never per account, so that nobody can lock somebody else out. The more there are, the
later the answer comes, and at some numbers the address is blocked for a while. Many different credentials from one
address are a list that somebody tries out, and block it for long.
"""

import logging
from collections.abc import Callable
from dataclasses import replace

from identity.clients.secrets import SecretHasher
from identity.directory.users import email_key
from identity.sign_in.addresses import Addresses
from identity.sign_in.config import LoginProtectionConfig, Threshold
from identity.sign_in.delays import Delays
from identity.sign_in.failures import AddressFailures, Failure
from identity.tenants import Tenant
from server.platform.clock import Clock
from server.platform.errors import ResourceExhausted
from server.platform.records import AlreadyThere, Changed, Records

logger = logging.getLogger(__name__)

_ATTEMPTS = 20


class LoginProtection:
    def __init__(
        self,
        records: Records[AddressFailures],
        hasher: SecretHasher,
        *,
        clock: Clock,
        delays: Delays,
        config: LoginProtectionConfig,
    ) -> None:
        self._records = records
        self._hasher = hasher
        self._clock = clock
        self._delays = delays
        self._config = config
        self._addresses = Addresses(config)

    async def admit(self, tenant: Tenant, peer_address: str) -> None:
        """Raise ResourceExhausted while the address is blocked; its metadata `retry_at` is in Unix seconds."""
        if self._addresses.is_allowed(peer_address):
            return
        kept = await self._records.get(tenant.tenant_id, self._addresses.group(peer_address))
        if kept is not None and kept.blocked_until is not None and self._clock.now() < kept.blocked_until:
            raise ResourceExhausted(
                "too many sign-ins from this address have failed",
                retry_at=str(int(kept.blocked_until.timestamp())),
            )

    async def failed(self, tenant: Tenant, peer_address: str, *, email: str, password: str) -> None:
        """Count a failure, and return when it may be answered."""
        if self._addresses.is_allowed(peer_address):
            return
        failure = Failure(
            account=self._account(email), credentials=self._credentials(email, password), at=self._clock.now()
        )
        kept = await self._change(
            tenant, peer_address, lambda counted: self._judged(counted.with_failure(failure))
        )
        count = len(kept.failures)
        delay = self._threshold(count).delay_secs_per_failure * count
        await self._delays.hold(min(delay, self._config.max_delay_secs))

    async def succeeded(self, tenant: Tenant, peer_address: str, *, email: str) -> None:
        """Forget the failures of the account at the address, and those of no other."""
        account = self._account(email)
        kept = await self._records.get(tenant.tenant_id, self._addresses.group(peer_address))
        if kept is not None and any(failure.account == account for failure in kept.failures):
            await self._change(tenant, peer_address, lambda counted: counted.without_account(account))

    def _judged(self, counted: AddressFailures) -> AddressFailures:
        now, stuffing = self._clock.now(), self._config.credential_stuffing
        block_secs = self._threshold(len(counted.failures)).block_secs
        if counted.credentials_since(now - stuffing.window) >= stuffing.threshold:
            block_secs = max(block_secs, stuffing.block_secs)
        if not block_secs:
            return counted
        logger.warning(
            "address blocked",
            extra={"tenant_id": counted.tenant_id, "address": counted.id, "block_secs": block_secs},
        )
        return counted.blocked(now, block_secs)

    def _threshold(self, failures: int) -> Threshold:
        reached = (row for row in reversed(self._config.thresholds) if row.failures <= failures)
        return next(reached, Threshold(failures=1))

    async def _change(
        self, tenant: Tenant, peer_address: str, change: Callable[[AddressFailures], AddressFailures]
    ) -> AddressFailures:
        address = self._addresses.group(peer_address)
        for _ in range(_ATTEMPTS):
            kept = await self._records.get(tenant.tenant_id, address)
            changed = self._expiring(change(kept or AddressFailures(tenant_id=tenant.tenant_id, id=address)))
            try:
                return await (self._records.insert if kept is None else self._records.replace)(changed)
            except (AlreadyThere, Changed):
                continue
        # So many at a time come from no person.
        raise ResourceExhausted("too many sign-ins from this address at a time")

    def _expiring(self, changed: AddressFailures) -> AddressFailures:
        forgotten_at = self._clock.now() + self._config.forget_after
        return replace(changed, expires_at=max(forgotten_at, changed.blocked_until or forgotten_at))

    def _account(self, email: str) -> str:
        return self._hasher.hash(email_key(email)).hex()

    def _credentials(self, email: str, password: str) -> str:
        return self._hasher.hash(f"{email_key(email)}\0{password}").hex()
