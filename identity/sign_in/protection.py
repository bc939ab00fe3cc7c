"""Holds back addresses that guess: OWASP ASVS 5, 6.3.1.

Failures are counted per address, never per account, so that nobody can lock somebody else out. The more there are, the
later the answer comes, and at some numbers the address is blocked for a while. Many different credentials from one
address are a list that somebody tries out, and block it for long.
"""

from collections.abc import Callable
from dataclasses import replace

from identity.clients.secrets import SecretHasher
from identity.directory.users import email_key
from identity.events.events import Events
from identity.events.kinds import EventType, Level
from identity.sign_in.addresses import Addresses
from identity.sign_in.config import LoginProtectionConfig, Threshold
from identity.sign_in.delays import Delays
from identity.sign_in.failures import AddressFailures, Failure
from identity.tenants import Tenant
from server.platform.clock import Clock
from server.platform.errors import ResourceExhausted
from server.platform.records import AlreadyThere, Changed, Records

_ATTEMPTS = 20

# The first row whose number is reached counts; the numbers alone are those at which an address is blocked for longer.
_LEVELS = ((25, Level.CRITICAL), (15, Level.WARNING), (7, Level.NOTICE))
_HIGHER = {20: Level.CRITICAL, 10: Level.WARNING}


class LoginProtection:
    def __init__(
        self,
        records: Records[AddressFailures],
        hasher: SecretHasher,
        *,
        clock: Clock,
        delays: Delays,
        config: LoginProtectionConfig,
        events: Events,
    ) -> None:
        self._records = records
        self._hasher = hasher
        self._clock = clock
        self._delays = delays
        self._config = config
        self._addresses = Addresses(config)
        self._events = events

    async def admit(self, tenant: Tenant, peer_address: str) -> None:
        """Raise ResourceExhausted while the address is blocked; its metadata `retry_at` is in Unix seconds."""
        if self._addresses.is_allowed(peer_address):
            return
        kept = await self._records.get(tenant.tenant_id, self._addresses.group(peer_address))
        if kept is not None:
            kept.expect_admitted(self._clock.now())

    async def failed(
        self, tenant: Tenant, peer_address: str, *, email: str, password: str, user_id: str | None = None
    ) -> None:
        """Count a failure, and return when it may be answered; `user_id` is whose address it is, if anybody's."""
        if self._addresses.is_allowed(peer_address):
            await self._events.emit(
                tenant.tenant_id, EventType.INVALID_LOGINS, ip=peer_address, user_id=user_id
            )
            return
        failure = Failure(
            account=self._account(email), credentials=self._credentials(email, password), at=self._clock.now()
        )
        kept = await self._change(
            tenant, peer_address, lambda counted: self._judged(counted.with_failure(failure))
        )
        count = len(kept.failures)
        await self._report(tenant, peer_address, kept, user_id=user_id)
        delay = self._threshold(count).delay_secs_per_failure * count
        await self._delays.hold(min(delay, self._config.max_delay_secs))

    async def succeeded(self, tenant: Tenant, peer_address: str, *, email: str) -> None:
        """Forget the failures of the account at the address, and those of no other."""
        account = self._account(email)
        kept = await self._records.get(tenant.tenant_id, self._addresses.group(peer_address))
        if kept is not None and any(failure.account == account for failure in kept.failures):
            await self._change(tenant, peer_address, lambda counted: counted.without_account(account))

    def _judged(self, counted: AddressFailures) -> AddressFailures:
        block_secs = self._threshold(len(counted.failures)).block_secs
        if self._is_stuffing(counted):
            block_secs = max(block_secs, self._config.credential_stuffing.block_secs)
        return counted.blocked(self._clock.now(), block_secs) if block_secs else counted

    def _is_stuffing(self, counted: AddressFailures) -> bool:
        stuffing = self._config.credential_stuffing
        return counted.credentials_since(self._clock.now() - stuffing.window) >= stuffing.threshold

    async def _report(
        self, tenant: Tenant, peer_address: str, kept: AddressFailures, *, user_id: str | None
    ) -> None:
        count = len(kept.failures)
        await self._events.emit(
            tenant.tenant_id,
            EventType.INVALID_LOGINS,
            level=level_of_failures(count),
            ip=peer_address,
            data=count,
            user_id=user_id,
        )
        is_stuffing = self._is_stuffing(kept)
        if kept.blocked_until is None or not (is_stuffing or self._threshold(count).block_secs):
            return
        await self._events.emit(
            tenant.tenant_id,
            EventType.CREDENTIAL_STUFFING if is_stuffing else EventType.IP_BLACKLISTED,
            ip=kept.id,
            data=int(kept.blocked_until.timestamp()),
        )

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


def level_of_failures(count: int) -> Level:
    """How much attention an address with so many failures asks for."""
    reached = (level for least, level in _LEVELS if least <= count)
    return _HIGHER.get(count) or next(reached, Level.INFO)
