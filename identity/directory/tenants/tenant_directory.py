"""Keeps this process's list of tenants in step with the store.

A process that changes tenants reads them at once, other processes when the directory version has grown. Every process
also reads them periodically, in case the version could not be stored: a thousand of them in five seconds, so that idle
tenants cost little. While the store is unavailable, the list does not change.
"""

import asyncio
import logging
from collections.abc import Iterable, Sequence

from identity.directory.tenants.tenant_record import DEPLOYMENT, TENANTS, TenantRecord
from identity.foundation.tenants import Tenants
from server.platform.call import TenantId
from server.platform.clock import Clock
from server.platform.errors import Unavailable
from server.platform.records import AlreadyThere, RecordStore, every

logger = logging.getLogger(__name__)

PASS_SECONDS = 5.0
LONGEST_PASS_SECONDS = 25.0
_PAGE = 1000


class TenantDirectory:
    """`deleted` are the tenants that were deleted at the last refresh, with records that may remain."""

    def __init__(self, tenants: Tenants, store: RecordStore, clock: Clock) -> None:
        self._tenants = tenants
        self._records = store.of(TENANTS)
        self._clock = clock
        self._refreshing = asyncio.Lock()
        self.deleted: Sequence[TenantRecord] = ()

    async def open(self, configured: Iterable[TenantId]) -> bool:
        """Store configured tenants that have no record yet, and load all tenants; raises Unavailable.

        Returns whether there were any.
        """
        known = {record.id for record in await self.all()}
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
        """Raises Unavailable."""
        # One refresh at a time, so that an older result cannot replace a newer one.
        async with self._refreshing:
            records = await self.all()
            self.deleted = [record for record in records if record.deleted_at is not None]
            self._tenants.know([record for record in records if record.deleted_at is None])

    async def all(self) -> Sequence[TenantRecord]:
        """Return every record by id, also those of deleted tenants; raises Unavailable."""
        return [record async for record in every(self._records, DEPLOYMENT)]

    async def _add(self, tenant_id: TenantId) -> None:
        now = self._clock.now()
        record = TenantRecord(tenant_id=DEPLOYMENT, id=tenant_id, name=tenant_id, created_at=now)
        try:
            await self._records.insert(record)
        except AlreadyThere:
            return  # another process was faster
