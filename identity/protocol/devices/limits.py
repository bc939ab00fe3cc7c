"""Rate limits of device authorizations and of guesses of user codes: RFC 8628 §5.1, §5.2."""

from dataclasses import dataclass, replace
from datetime import timedelta
from hashlib import sha256

from identity.access.tokens.config import DeviceGrantConfig
from identity.foundation.tenants import Tenant
from server.platform.clock import Clock
from server.platform.errors import ResourceExhausted
from server.platform.records import AlreadyThere, Changed, Kind, Record, RecordStore

_MOST_WRONG = 5
_PAUSE = timedelta(minutes=15)
_ATTEMPTS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceStart(Record):
    """A device authorization from a network address, whose hash is the `id`; it blocks others until it expires."""


DEVICE_STARTS = Kind(DeviceStart, "device_start", owners=())


class DeviceStarts:
    """Allows one device authorization per network address within the configured time."""

    def __init__(self, records: RecordStore, config: DeviceGrantConfig, clock: Clock) -> None:
        self._starts = records.of(DEVICE_STARTS)
        self._pause = config.start_limit_secs
        self._clock = clock

    async def note(self, tenant: Tenant, peer_address: str) -> None:
        """Raises ResourceExhausted when the address began just before."""
        if not self._pause:
            return
        until = self._clock.now() + timedelta(seconds=self._pause)
        start = DeviceStart(tenant_id=tenant.tenant_id, id=_id("address", peer_address), expires_at=until)
        try:
            await self._starts.insert(start)
        except AlreadyThere as error:
            raise _too_often(self._pause) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class UserCodeAttempts(Record):
    """Number of wrong user codes of a user or an address; deleted when it expires."""

    count: int


USER_CODE_ATTEMPTS = Kind(UserCodeAttempts, "user_code_attempts", owners=())


class UserCodeGuesses:
    """After five wrong codes of a user or of a network address, further attempts are refused for a while.

    An attempt counts before the code is compared, so concurrent attempts cannot exceed five. A right code is not
    counted.
    """

    def __init__(self, records: RecordStore, clock: Clock) -> None:
        self._attempts = records.of(USER_CODE_ATTEMPTS)
        self._clock = clock

    async def begin(self, tenant: Tenant, *, user_id: str, peer_address: str) -> None:
        """Count an attempt; raises ResourceExhausted after too many."""
        for attempts_id in _ids(user_id, peer_address):
            if await self._add(tenant, attempts_id, 1) > _MOST_WRONG:
                raise _too_often(int(_PAUSE.total_seconds()))

    async def give_back(self, tenant: Tenant, *, user_id: str, peer_address: str) -> None:
        """Take back the count of an attempt with a right code."""
        for attempts_id in _ids(user_id, peer_address):
            await self._add(tenant, attempts_id, -1)

    async def _add(self, tenant: Tenant, attempts_id: str, more: int) -> int:
        for _ in range(_ATTEMPTS):
            there = await self._attempts.get(tenant.tenant_id, attempts_id)
            try:
                return (await self._changed(tenant, attempts_id, there=there, more=more)).count
            except (AlreadyThere, Changed):
                continue
        raise _too_often(1)

    async def _changed(
        self, tenant: Tenant, attempts_id: str, *, there: UserCodeAttempts | None, more: int
    ) -> UserCodeAttempts:
        if there is not None:
            count = min(max(there.count + more, 0), _MOST_WRONG + 1)
            return await self._attempts.replace(replace(there, count=count))
        attempts = UserCodeAttempts(
            tenant_id=tenant.tenant_id,
            id=attempts_id,
            expires_at=self._clock.now() + _PAUSE,
            count=max(more, 0),
        )
        return await self._attempts.insert(attempts)


def _ids(user_id: str, peer_address: str) -> tuple[str, str]:
    return _id("user", user_id), _id("address", peer_address)


def _id(what: str, text: str) -> str:
    return sha256(f"{what} {text}".encode()).hexdigest()


def _too_often(seconds: int) -> ResourceExhausted:
    return ResourceExhausted("too many requests; try again later", retry_after_secs=str(seconds))
