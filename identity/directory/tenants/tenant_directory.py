"""Keeps this process's list of tenants in step with the store.

A process that changes a tenant reads it at once, and adds its id to a shared record. Other processes read that record
when the directory version has grown, and those tenants alone. Every process also reads all tenants periodically, because
the id may be missing there, as after a change by the previous version of the program: a thousand of them in five
seconds, so that idle tenants cost little. While the store is unavailable, the list does not change.
"""

import asyncio
import logging
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from identity.directory.tenants.tenant_record import DEPLOYMENT, TENANTS, TenantRecord
from identity.directory.version import DIRECTORY_VERSIONS, DirectoryVersionRecord
from identity.foundation.tenants import Tenants
from server.platform.call import TenantId
from server.platform.clock import Clock
from server.platform.errors import Unavailable
from server.platform.records import AlreadyThere, Changed, RecordStore, every

logger = logging.getLogger(__name__)

PASS_SECONDS = 5.0
LONGEST_PASS_SECONDS = 25.0
_PAGE = 1000
_CHANGES = "tenants"
# Changes for which another process reads single tenants; after more it reads all.
_MOST_CHANGES = 100


class TenantDirectory:
    """`deleted` are the known tenants that were deleted, with records that may remain."""

    def __init__(self, tenants: Tenants, store: RecordStore, clock: Clock) -> None:
        self._tenants = tenants
        self._records = store.of(TENANTS)
        self._changes = store.of(DIRECTORY_VERSIONS)
        self._heeded = 0
        self._clock = clock
        self._refreshing = asyncio.Lock()
        self.deleted: Sequence[TenantRecord] = ()

    async def open(self, configured: Iterable[TenantId]) -> bool:
        """Store configured tenants that have no record yet, and load all tenants; raises Unavailable.

        Returns whether there were any.
        """
        known = {record.id async for record in every(self._records, DEPLOYMENT)}
        new = [each for each in configured if each not in known]
        for tenant_id in new:
            await self._add(tenant_id)
        await self.refresh()
        return bool(new)

    async def run(self) -> None:
        """Refresh the list periodically until cancelled."""
        while True:
            pages = 1 + (len(self._tenants.ids) + len(self.deleted)) // _PAGE
            await asyncio.sleep(min(PASS_SECONDS * pages, LONGEST_PASS_SECONDS))
            try:
                await self.refresh()
            except Unavailable:
                logger.warning("the store is not available; the list of tenants is not refreshed")

    async def refresh(self) -> None:
        """Read all tenants; raises Unavailable."""
        # One refresh at a time, so that an older result cannot replace a newer one.
        async with self._refreshing:
            await self._read_all(await self._latest())

    async def heed(self, tenant_id: TenantId) -> None:
        """Read one tenant that this process changed, and name it to the others; raises Unavailable."""
        async with self._refreshing:
            await self._read((tenant_id,))
        while not await self._named(tenant_id):
            pass

    async def catch_up(self) -> None:
        """Read the tenants that other processes changed; raises Unavailable."""
        async with self._refreshing:
            latest = await self._latest()
            missed = latest.revision - self._heeded
            if 0 <= missed <= len(latest.tenant_ids):
                await self._read(frozenset(latest.tenant_ids[len(latest.tenant_ids) - missed :]))
                self._heeded = latest.revision
            else:
                await self._read_all(latest)

    async def _read_all(self, latest: DirectoryVersionRecord) -> None:
        records = [record async for record in every(self._records, DEPLOYMENT)]
        self.deleted = [record for record in records if record.deleted_at is not None]
        self._tenants.know([record for record in records if record.deleted_at is None])
        self._heeded = latest.revision

    async def _read(self, tenant_ids: Collection[TenantId]) -> None:
        found = {
            record.own_id: record for record in await self._records.find_any(DEPLOYMENT, "id", tenant_ids)
        }
        deleted = {record.own_id: record for record in self.deleted if record.own_id not in tenant_ids}
        for tenant_id in tenant_ids:
            record = found.get(tenant_id)
            if record is not None and record.deleted_at is not None:
                deleted[tenant_id] = record
                record = None
            self._tenants.know_one(tenant_id, record)
        self.deleted = list(deleted.values())

    async def _latest(self) -> DirectoryVersionRecord:
        """Return the record of the latest changes, of revision 0 before the first one."""
        kept = await self._changes.get(DEPLOYMENT, _CHANGES)
        return kept or DirectoryVersionRecord(tenant_id=DEPLOYMENT, id=_CHANGES)

    async def _named(self, tenant_id: TenantId) -> bool:
        """Add an id to the latest changes; returns False when another process was faster."""
        latest = await self._latest()
        after = replace(latest, tenant_ids=(*latest.tenant_ids, tenant_id)[-_MOST_CHANGES:])
        try:
            await (self._changes.replace(after) if latest.revision else self._changes.insert(after))
        except (AlreadyThere, Changed):
            return False
        return True

    async def _add(self, tenant_id: TenantId) -> None:
        now = self._clock.now()
        record = TenantRecord(tenant_id=DEPLOYMENT, id=tenant_id, name=tenant_id, created_at=now)
        try:
            await self._records.insert(record)
        except AlreadyThere:
            return  # another process was faster
