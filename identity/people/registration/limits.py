"""Rate limit of registrations and link requests per network address."""

import math
from dataclasses import dataclass, replace
from datetime import timedelta
from hashlib import sha256

from identity.access.login_protection.addresses import Addresses
from identity.foundation.tenants import Tenant
from server.platform.clock import Clock
from server.platform.errors import ResourceExhausted
from server.platform.records import AlreadyThere, Changed, Kind, Record, Records

_PERIOD = timedelta(hours=1)
_ATTEMPTS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistrationAttempts(Record):
    """Number of requests from a network address, whose hash is the `id`; deleted when it expires."""

    count: int


REGISTRATION_ATTEMPTS = Kind(RegistrationAttempts, "registration_attempts", owners=())


class RegistrationLimits:
    """Counts before the work begins, so that concurrent requests cannot exceed `most` an hour."""

    def __init__(
        self, records: Records[RegistrationAttempts], addresses: Addresses, *, most: int, clock: Clock
    ) -> None:
        self._records = records
        self._addresses = addresses
        self._most = most
        self._clock = clock

    async def count(self, tenant: Tenant, peer_address: str) -> None:
        """Raise ResourceExhausted, which says how long to wait, when the address asks too often."""
        if self._addresses.is_allowed(peer_address):
            return
        attempts_id = sha256(self._addresses.group(peer_address).encode()).hexdigest()
        for _ in range(_ATTEMPTS):
            there = await self._records.get(tenant.tenant_id, attempts_id)
            if there is not None and there.count >= self._most:
                raise _too_often(self._left_of(there))
            try:
                await self._counted(tenant, attempts_id, there=there)
            except (AlreadyThere, Changed):
                continue
            return
        # A human does not send this many concurrent requests.
        raise _too_often(timedelta(seconds=1))

    async def _counted(self, tenant: Tenant, attempts_id: str, *, there: RegistrationAttempts | None) -> None:
        if there is not None:
            await self._records.replace(replace(there, count=there.count + 1))
            return
        until = self._clock.now() + _PERIOD
        first = RegistrationAttempts(tenant_id=tenant.tenant_id, id=attempts_id, expires_at=until, count=1)
        await self._records.insert(first)

    def _left_of(self, attempts: RegistrationAttempts) -> timedelta:
        return _PERIOD if attempts.expires_at is None else attempts.expires_at - self._clock.now()


def _too_often(wait: timedelta) -> ResourceExhausted:
    seconds = max(math.ceil(wait.total_seconds()), 1)
    return ResourceExhausted("too many requests; try again later", retry_after_secs=str(seconds))
