"""Bounds of the requests that wait for one user, so that no client floods a user: CIBA Core 1.0 §14.

A declined request counts until it would have expired, and each request counts at least for the default lifetime.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import sha256
from math import ceil

from identity.directory.client import ClientId
from identity.foundation.tenants import Tenant
from identity.protocol.backchannel.config import BackchannelConfig
from server.platform.clock import Clock
from server.platform.errors import ResourceExhausted, Unavailable
from server.platform.records import AlreadyThere, Changed, Kind, Record, RecordStore

_ATTEMPTS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenRequests(Record):
    """Times until which requests to a user count, of one client or of all; the `id` is a hash of both."""

    ends: tuple[datetime, ...]


OPEN_REQUESTS = Kind(OpenRequests, "open_request", owners=())

_Ends = tuple[datetime, ...]


class RequestLimits:
    """A user is an id, or the hash of an unknown hint: both have the same limits."""

    def __init__(self, records: RecordStore, config: BackchannelConfig, clock: Clock) -> None:
        self._records = records.of(OPEN_REQUESTS)
        self._config = config
        self._clock = clock

    async def add(self, tenant: Tenant, client_id: ClientId, user: str, *, until: datetime) -> None:
        """Count a request; raises ResourceExhausted when too many wait for the user."""
        own, all_own = _ids(client_id, user)
        await self._add(tenant, own, until, most=self._config.open_requests)
        try:
            await self._add(tenant, all_own, until, most=self._config.open_requests_of_user)
        except ResourceExhausted:
            await self._change(tenant, own, _without(until))
            raise

    async def remove(self, tenant: Tenant, client_id: ClientId, user: str, *, until: datetime) -> None:
        """Stop counting a request that was counted until this time."""
        for record_id in _ids(client_id, user):
            # After too many conflicts the request counts until it expires.
            with suppress(Unavailable):
                await self._change(tenant, record_id, _without(until))

    async def _add(self, tenant: Tenant, record_id: str, until: datetime, *, most: int) -> None:
        def added(ends: _Ends) -> _Ends:
            if len(ends) >= most:
                seconds = ceil((min(ends) - self._clock.now()).total_seconds())
                raise ResourceExhausted(
                    "too many requests wait for this user; try again later", retry_after_secs=str(seconds)
                )
            return (*ends, until)

        await self._change(tenant, record_id, added)

    async def _change(self, tenant: Tenant, record_id: str, change: Callable[[_Ends], _Ends]) -> None:
        for _ in range(_ATTEMPTS):
            there, now = await self._records.get(tenant.tenant_id, record_id), self._clock.now()
            ends = change(tuple(end for end in (there.ends if there else ()) if now < end))
            expires_at = max(ends, default=now)
            try:
                if there is not None:
                    await self._records.replace(replace(there, ends=ends, expires_at=expires_at))
                elif ends:
                    await self._records.insert(
                        OpenRequests(
                            tenant_id=tenant.tenant_id, id=record_id, expires_at=expires_at, ends=ends
                        )
                    )
            except (AlreadyThere, Changed):
                continue
            return
        raise Unavailable.untouched("too many requests for this user arrive at the moment")


def _without(until: datetime) -> Callable[[_Ends], _Ends]:
    def removed(ends: _Ends) -> _Ends:
        kept = list(ends)
        if until in kept:
            kept.remove(until)
        return tuple(kept)

    return removed


def _ids(client_id: ClientId, user: str) -> tuple[str, str]:
    # Ids contain no space.
    return _hashed(f"client {client_id} {user}"), _hashed(f"user {user}")


def _hashed(text: str) -> str:
    return sha256(text.encode()).hexdigest()
