"""Signing key sets of all tenants: each provider has its own, so that no tenant's key signs for another.

Every process caches a key set for two seconds. A new key is published to all processes before it signs, so that every
process can verify a token that another one signed.
"""

import asyncio
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol
from weakref import WeakValueDictionary

from identity.crypto.jose.algorithms import ALGORITHMS
from identity.crypto.jose.key_set import KeySet
from identity.crypto.keys.safe import KeySafe
from identity.crypto.keys.schedule import Schedule
from identity.crypto.keys.stored import KEY_SETS, SIGNING_KEYS_ID, StoredKeySet
from identity.foundation.events.events import Actor as EventActor
from identity.foundation.events.events import Events
from identity.foundation.events.kinds import EventType
from server.platform.call import TenantId
from server.platform.clock import Clock
from server.platform.document_revision import DocumentRevision
from server.platform.errors import InvalidState, Unavailable
from server.platform.records import AlreadyThere, Changed, RecordStore

FRESH_FOR = timedelta(seconds=2)
LEAST_RETENTION = timedelta(days=90)
MOST_KEYS = 500
"""Keys of a tenant, including keys published for verification only: a hundred rotations in 90 days."""

# Two concurrent callers take turns; more indicate a fault.
_ATTEMPTS = 10


# A lock exists while somebody holds it or waits for it.
_Locks = WeakValueDictionary[TenantId, asyncio.Lock]


class Actor(EventActor, Protocol):
    """An administrator, with a network address that is empty when unknown."""

    @property
    def peer_address(self) -> str: ...


@dataclass(frozen=True, slots=True)
class _Known:
    stored: StoredKeySet
    keys: KeySet
    fresh_until: datetime


class KeyRing:
    def __init__(
        self,
        store: RecordStore,
        safe: KeySafe,
        events: Events,
        *,
        clock: Clock,
        longest_token: timedelta,
        most_keys: int = MOST_KEYS,
        revision: DocumentRevision | None = None,
    ) -> None:
        """Keep retired keys for 90 days, and for the longest life of a token that they may have signed.

        A change of known keys advances `revision`, which counts changes of published documents.
        """
        self._records = store.of(KEY_SETS)
        self._safe = safe
        self._events = events
        self._clock = clock
        self._kept_for = max(LEAST_RETENTION, longest_token)
        self._most_keys = most_keys
        self._revision = revision or DocumentRevision()
        self._known: dict[TenantId, _Known] = {}
        self._changing: _Locks = WeakValueDictionary()
        self._completing: _Locks = WeakValueDictionary()
        self._rotating: _Locks = WeakValueDictionary()

    async def key_set(self, tenant_id: TenantId) -> KeySet:
        """Return all existing keys; if there are none, make those that are quick to make.

        Raises Unavailable, LostMasterKey.
        """
        known = self._known.get(tenant_id)
        if known is None or known.fresh_until <= self._clock.now():
            known = await self._refreshed(tenant_id)
        return known.keys

    async def rotate(self, tenant_id: TenantId, *, actor: Actor | None = None) -> None:
        """Replace the signing keys of all algorithms; `actor` is the administrator who asked for it, if any.

        Raises Unavailable after too many conflicts, InvalidState when the tenant has the maximum of keys.
        """
        await self._rotate_if(tenant_id, self._has_room, actor=actor)

    async def rotate_if_due(self, tenant_id: TenantId, schedule: Schedule) -> None:
        """Rotate once if any scheduled run was due since the last rotation; the first process does it."""
        await self._rotate_if(tenant_id, lambda stored: _is_due(stored, schedule, self._clock.now()))

    async def complete(self, tenant_id: TenantId) -> None:
        """Make active keys for algorithms that lack one; concurrent calls share one run. Raises Unavailable."""
        async with _lock_of(self._completing, tenant_id):
            for _ in range(_ATTEMPTS):
                stored = await self._stored(tenant_id)
                if stored.is_complete:
                    return
                keys = await self._safe.made(tenant_id, stored.lacking_active, now=self._clock.now())
                if await self._put(stored.completed(keys, self._clock.now())):
                    return
        raise Unavailable("other processes keep changing the signing keys")

    async def announce(self, tenant_id: TenantId) -> None:
        """Make and publish the keys that sign after the next rotation."""
        await self._announce(await self._stored(tenant_id))

    async def drop_ended(self, tenant_id: TenantId) -> None:
        """Remove retired keys whose tokens have all expired."""
        stored = await self._stored(tenant_id)
        rest = stored.without_ended(self._clock.now(), self._kept_for)
        if rest is not stored:
            await self._put(rest)

    async def reseal(self, tenant_id: TenantId) -> None:
        """Encrypt private keys of inactive master keys under the active one."""
        stored = await self._stored(tenant_id)
        resealed = self._safe.resealed(stored)
        if resealed is not stored and await self._put(resealed):
            await self._events.emit(tenant_id, EventType.SECRETS_MIGRATED)

    def forget_others(self, tenant_ids: Collection[TenantId]) -> None:
        """Drop the cached keys of all other tenants, which were deleted."""
        self._known = {
            tenant_id: known for tenant_id, known in self._known.items() if tenant_id in tenant_ids
        }

    def close(self) -> None:
        """Stop the worker threads."""
        self._safe.close()

    def _has_room(self, stored: StoredKeySet) -> bool:
        """Raises InvalidState instead of being False."""
        if len(stored.keys) + len(stored.lacking_next) > self._most_keys:
            raise InvalidState(
                f"the tenant publishes {len(stored.keys)} keys; it rotates again once some have ended"
            )
        return True

    async def _rotate_if(
        self, tenant_id: TenantId, is_wanted: Callable[[StoredKeySet], bool], *, actor: Actor | None = None
    ) -> None:
        async with _lock_of(self._rotating, tenant_id):
            for _ in range(_ATTEMPTS):
                stored = await self._stored(tenant_id)
                if not is_wanted(stored):
                    return
                if stored.lacking_next:
                    await self._announce(stored)
                elif await self._rotated(stored):
                    ip = (actor.peer_address or None) if actor else None
                    await self._events.emit(tenant_id, EventType.JWKS_ROTATED, ip=ip, actor=actor)
                    return
        raise Unavailable("other processes keep changing the signing keys")

    async def _rotated(self, stored: StoredKeySet) -> bool:
        # If the clock stands still, there are no other processes to wait for.
        await asyncio.sleep(self._clock.seconds_until(stored.may_rotate_from) or 0)
        now = self._clock.now()
        return await self._put(stored.rotated(now).without_ended(now, self._kept_for))

    async def _announce(self, stored: StoredKeySet) -> None:
        if stored.lacking_next:
            keys = await self._safe.made(stored.tenant_id, stored.lacking_next, now=self._clock.now())
            await self._put(stored.announced(keys, self._clock.now()))

    async def _stored(self, tenant_id: TenantId) -> StoredKeySet:
        return (await self._refreshed(tenant_id)).stored

    async def _refreshed(self, tenant_id: TenantId) -> _Known:
        async with _lock_of(self._changing, tenant_id):
            known = self._known.get(tenant_id)
            if known is not None and self._clock.now() < known.fresh_until:
                return known
            try:
                return self._remember(await self._read(tenant_id))
            except Unavailable:
                if known is None:
                    raise
                # The cached keys are published and valid, and probably include the next signing key.
                return self._remember(known.stored)

    async def _read(self, tenant_id: TenantId) -> StoredKeySet:
        for _ in range(_ATTEMPTS):
            found = await self._records.get(tenant_id, SIGNING_KEYS_ID) or await self._created(tenant_id)
            if found is not None:
                return found
        raise Unavailable("the signing keys were changed too often at the same time")

    async def _created(self, tenant_id: TenantId) -> StoredKeySet | None:
        """Store a key set with the quick keys, so that callers need not wait; None when another process was first."""
        now = self._clock.now()
        quick = [kind for kind in ALGORITHMS if kind.is_quick]
        keys = await self._safe.made(tenant_id, quick, now=now)
        try:
            return await self._records.insert(StoredKeySet.new(tenant_id, keys, now))
        except AlreadyThere:
            return None

    async def _put(self, stored: StoredKeySet) -> bool:
        """Store the key set; False when another process changed it in the meantime."""
        async with _lock_of(self._changing, stored.tenant_id):
            try:
                self._remember(await self._records.replace(stored))
            except Changed:
                self._remember(await self._read(stored.tenant_id))
                return False
        return True

    def _remember(self, stored: StoredKeySet) -> _Known:
        """Cache the key set. An incomplete one is not cached, because other processes may add keys at any time."""
        before = self._known.get(stored.tenant_id)
        known = before or _Known(stored, KeySet(()), self._clock.now())
        keys = (
            known.keys
            if known.keys.keys and known.stored == stored
            else self._safe.opened(stored, known.keys)
        )
        now = self._clock.now()
        remembered = _Known(stored, keys, now + FRESH_FOR if stored.is_complete else now)
        self._known[stored.tenant_id] = remembered
        if before is not None and keys is not before.keys:
            self._revision.advance()
        return remembered


def _lock_of(locks: _Locks, tenant_id: TenantId) -> asyncio.Lock:
    lock = locks.get(tenant_id)
    if lock is None:
        lock = locks[tenant_id] = asyncio.Lock()
    return lock


def _is_due(stored: StoredKeySet, schedule: Schedule, now: datetime) -> bool:
    due_at = schedule.next_after(stored.rotated_at)
    return due_at is not None and due_at <= now
