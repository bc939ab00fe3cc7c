"""Login protection: delays and blocks after wrong passwords, codes and passkeys (OWASP ASVS 5, 6.3.1).

Failures count for a pair of a network address and an account, so nobody can lock the owner out from another address. Two
bounds catch attacks that spread over pairs. Many different wrong credentials from one address are a list that somebody
tries: they block passwords from it, but not those in a browser or session that the user used before, nor codes and
passkeys. An account that fails from many addresses gets delayed answers from all of them, and is never blocked.

Only attempts to prove an identity are refused. Clients, published documents and the administration stay reachable.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from identity.access.login_protection.account_failures import ACCOUNT_FAILURES, AccountFailures, LastFailure
from identity.access.login_protection.addresses import Addresses
from identity.access.login_protection.config import LoginProtectionConfig, Threshold
from identity.access.login_protection.delays import Delays
from identity.access.login_protection.failures import ADDRESS_FAILURES, AddressFailures, Failure
from identity.directory.secrets import SecretHasher
from identity.foundation.events.events import Events
from identity.foundation.events.kinds import EventType, Level
from identity.foundation.mail_address import email_key
from identity.foundation.tenants import Tenant
from server.platform.call import TenantId
from server.platform.clock import Clock
from server.platform.errors import ResourceExhausted
from server.platform.records import AlreadyThere, Changed, Records, RecordStore
from server.platform.records.port import R

_ATTEMPTS = 20
# The smallest number of different credentials that are stored per address, for the counts of accounts.
_LEAST_KEPT = 100

# The first row whose number is reached applies; the single numbers are those at which a block becomes longer.
_LEVELS = ((25, Level.CRITICAL), (15, Level.WARNING), (7, Level.NOTICE))
_HIGHER = {20: Level.CRITICAL, 10: Level.WARNING}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Attempt:
    """A failed or admitted sign-in; `account` is a keyed hash, or empty where the sign-in names no account."""

    tenant_id: TenantId
    address: str
    account: str
    at: datetime


class LoginProtection:
    """`account` is an e-mail address or a user id, and empty when a sign-in names no user, as with some passkeys."""

    def __init__(
        self,
        store: RecordStore,
        hasher: SecretHasher,
        *,
        clock: Clock,
        delays: Delays,
        config: LoginProtectionConfig,
        events: Events,
    ) -> None:
        self._of_addresses = store.of(ADDRESS_FAILURES)
        self._of_accounts = store.of(ACCOUNT_FAILURES)
        self._hasher = hasher
        self._clock = clock
        self._delays = delays
        self._config = config
        self._addresses = Addresses(config)
        self._events = events

    async def admit(
        self, tenant: Tenant, peer_address: str, *, account: str, may_be_listed: bool = True
    ) -> None:
        """Raise ResourceExhausted while the sign-in is blocked; its metadata `retry_at` is in Unix seconds.

        `may_be_listed` is whether somebody who tries a list of credentials could send this attempt.
        """
        if self._addresses.is_allowed(peer_address):
            return
        attempt = self._attempt(tenant, peer_address, account)
        kept = await self._of_addresses.get(attempt.tenant_id, attempt.address)
        if kept is not None:
            kept.expect_admitted(attempt.at, attempt.account, may_be_listed=may_be_listed)

    async def failed(
        self, tenant: Tenant, peer_address: str, *, account: str, secret: str, user_id: str | None = None
    ) -> None:
        """Count a failure and return when the response may be sent; `user_id` is the owner of the account, if any."""
        if self._addresses.is_allowed(peer_address):
            await self._events.emit(
                tenant.tenant_id, EventType.INVALID_LOGINS, ip=peer_address, user_id=user_id
            )
            return
        attempt = self._attempt(tenant, peer_address, account)
        kept = await self._counted(attempt, self._hasher.hash(f"{email_key(account)}\0{secret}").hex())
        await self._report(attempt, kept, peer_address=peer_address, user_id=user_id)
        addresses = await self._addresses_of_account(attempt, user_id=user_id) if attempt.account else 0
        await self._delays.hold(self._delay(attempt, kept, addresses=addresses))

    async def succeeded(self, tenant: Tenant, peer_address: str, *, account: str) -> None:
        """Drop the failures of the account at the address, and its block there; all others stay."""
        attempt = self._attempt(tenant, peer_address, account)
        kept = await self._of_addresses.get(attempt.tenant_id, attempt.address)
        if kept is None or kept.without_account(attempt.account) == kept:
            return
        # Concurrent failures of an attacker may win every write; the user is signed in nevertheless.
        await _changed(
            self._of_addresses,
            (attempt.tenant_id, attempt.address),
            lambda known: self._kept(_failures_at(known, attempt).without_account(attempt.account), attempt),
        )
        if await self._of_accounts.get(attempt.tenant_id, attempt.account) is not None:
            await _changed(
                self._of_accounts,
                (attempt.tenant_id, attempt.account),
                lambda known: _failures_of(known, attempt).without_address(attempt.address),
            )

    async def _counted(self, attempt: _Attempt, credentials: str) -> AddressFailures:
        failure = Failure(account=attempt.account, credentials=credentials, at=attempt.at)
        since = attempt.at - self._config.forget_after
        most = max(self._config.credential_stuffing.threshold, _LEAST_KEPT)
        kept = await _changed(
            self._of_addresses,
            (attempt.tenant_id, attempt.address),
            lambda known: self._kept(
                self._judged(
                    _failures_at(known, attempt).with_failure(failure, since=since, most=most), attempt
                ),
                attempt,
            ),
        )
        if kept is None:
            # No human fails that often concurrently.
            raise ResourceExhausted("too many sign-ins from this network address fail", retry_after_secs="1")
        return kept

    def _judged(self, counted: AddressFailures, attempt: _Attempt) -> AddressFailures:
        block_secs = self._threshold(attempt, counted).block_secs
        if block_secs:
            until = attempt.at + timedelta(seconds=block_secs)
            counted = counted.with_account_blocked(attempt.account, until, now=attempt.at)
        if self._is_stuffing(attempt, counted):
            until = attempt.at + timedelta(seconds=self._config.credential_stuffing.block_secs)
            counted = counted.with_sign_in_blocked(until)
        return counted

    def _is_stuffing(self, attempt: _Attempt, counted: AddressFailures) -> bool:
        stuffing = self._config.credential_stuffing
        return counted.credentials_since(attempt.at - stuffing.window) >= stuffing.threshold

    async def _addresses_of_account(self, attempt: _Attempt, *, user_id: str | None) -> int:
        """Add the address to the account's failures, and return the number of addresses."""
        most = self._config.account_addresses
        kept = await self._of_accounts.get(attempt.tenant_id, attempt.account)
        if kept is not None and len(kept.addresses) >= most:
            # At the bound nothing is written, so that concurrent failures do not wait for each other.
            return len(kept.addresses)
        latest = LastFailure(address=attempt.address, at=attempt.at)
        since, until = attempt.at - self._config.forget_after, attempt.at + self._config.forget_after
        counted = await _changed(
            self._of_accounts,
            (attempt.tenant_id, attempt.account),
            lambda known: replace(
                _failures_of(known, attempt).with_failure(latest, since=since), expires_at=until
            ),
        )
        addresses = len(counted.addresses) if counted is not None else 0
        if addresses == most:
            await self._events.emit(
                attempt.tenant_id,
                EventType.POSSIBLE_BRUTE_FORCE,
                ip=attempt.address,
                data=addresses,
                user_id=user_id,
            )
        return addresses

    async def _report(
        self, attempt: _Attempt, kept: AddressFailures, *, peer_address: str, user_id: str | None
    ) -> None:
        count = kept.all_failures()
        await self._events.emit(
            attempt.tenant_id,
            EventType.INVALID_LOGINS,
            level=level_of_failures(count),
            ip=peer_address,
            data=count,
            user_id=user_id,
        )
        if self._is_stuffing(attempt, kept):
            event_type, until = EventType.CREDENTIAL_STUFFING, kept.sign_in_blocked_until
        elif self._threshold(attempt, kept).block_secs:
            event_type, until = EventType.IP_BLACKLISTED, kept.end_of(attempt.account)
        else:
            return
        await self._events.emit(
            attempt.tenant_id,
            event_type,
            ip=attempt.address,
            data=None if until is None else int(until.timestamp()),
            user_id=user_id,
        )

    def _delay(self, attempt: _Attempt, kept: AddressFailures, *, addresses: int) -> int:
        longest = self._config.max_delay_secs
        if addresses >= self._config.account_addresses:
            return longest
        delay = self._threshold(attempt, kept).delay_secs_per_failure * kept.failures_of(attempt.account)
        return min(delay, longest)

    def _threshold(self, attempt: _Attempt, counted: AddressFailures) -> Threshold:
        failures = counted.failures_of(attempt.account) if attempt.account else 0
        reached = (row for row in reversed(self._config.thresholds) if row.failures <= failures)
        return next(reached, Threshold(failures=1))

    def _kept(self, changed: AddressFailures, attempt: _Attempt) -> AddressFailures:
        forgotten_at = attempt.at + self._config.forget_after
        return replace(changed, expires_at=max(forgotten_at, changed.last_end(attempt.at)))

    def _attempt(self, tenant: Tenant, peer_address: str, account: str) -> _Attempt:
        return _Attempt(
            tenant_id=tenant.tenant_id,
            address=self._addresses.group(peer_address),
            account=self._hasher.hash(email_key(account)).hex() if account else "",
            at=self._clock.now(),
        )


def level_of_failures(count: int) -> Level:
    """Return the event level for a network address with this number of failures."""
    reached = (level for least, level in _LEVELS if least <= count)
    return _HIGHER.get(count) or next(reached, Level.INFO)


async def _changed(
    records: Records[R], key: tuple[TenantId, str], change: Callable[[R | None], R]
) -> R | None:
    """Return the stored record, None after too many conflicts."""
    for _ in range(_ATTEMPTS):
        known = await records.get(*key)
        changed = change(known)
        try:
            return await (records.insert if known is None else records.replace)(changed)
        except (AlreadyThere, Changed):
            continue
    return None


def _failures_at(known: AddressFailures | None, attempt: _Attempt) -> AddressFailures:
    return known or AddressFailures(tenant_id=attempt.tenant_id, id=attempt.address)


def _failures_of(known: AccountFailures | None, attempt: _Attempt) -> AccountFailures:
    return known or AccountFailures(tenant_id=attempt.tenant_id, id=attempt.account, expires_at=attempt.at)
