"""Keeps what this process knows of the tenants the same as what is kept of them.

Every process reads them once a second, and one that changes them knows at once. While the store is away they stay as
they were known last.
"""

import asyncio
import logging
from collections.abc import Iterable, Sequence

from identity.tenancy.tenant_record import DEPLOYMENT, TENANTS, TenantRecord
from identity.tenants import Tenants
from server.platform.call import TenantId
from server.platform.clock import Clock
from server.platform.errors import Unavailable
from server.platform.records import AlreadyThere, RecordStore, every

logger = logging.getLogger(__name__)

PASS_SECONDS = 1.0


class TenantDirectory:
    def __init__(self, tenants: Tenants, store: RecordStore, clock: Clock) -> None:
        self._tenants = tenants
        self._records = store.of(TENANTS)
        self._clock = clock
        self._refreshing = asyncio.Lock()

    async def open(self, configured: Iterable[TenantId]) -> None:
        """Keep the tenants of the configuration, where nothing is kept of them, and know all; raises Unavailable."""
        for tenant_id in configured:
            if await self._records.get(DEPLOYMENT, tenant_id) is None:
                await self._add(tenant_id)
        await self.refresh()

    async def run(self) -> None:
        """Until it is cancelled."""
        while True:
            await asyncio.sleep(PASS_SECONDS)
            try:
                await self.refresh()
            except Unavailable:
                logger.warning("the tenants stay as they were known last")

    async def refresh(self) -> None:
        """Raises Unavailable."""
        # What was read earlier must not go before what was read later.
        async with self._refreshing:
            self._tenants.know([record for record in await self.all() if record.deleted_at is None])

    async def all(self) -> Sequence[TenantRecord]:
        """Every record by id, those of deleted tenants too; raises Unavailable."""
        return [record async for record in every(self._records, DEPLOYMENT)]

    async def _add(self, tenant_id: TenantId) -> None:
        now = self._clock.now()
        record = TenantRecord(tenant_id=DEPLOYMENT, id=tenant_id, name=tenant_id, created_at=now)
        try:
            await self._records.insert(record)
        except AlreadyThere:
            return  # another process was faster
