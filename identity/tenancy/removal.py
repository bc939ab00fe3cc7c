"""Removes everything that is kept of a deleted tenant.

A process that has not heard of the deletion may still write for a moment, so it is done a second time before the
tenant's id is free again. One that dies on the way is followed by any other.
"""

import asyncio
import logging
from collections.abc import Collection, Sequence
from datetime import timedelta
from typing import Any, Protocol

from identity.tenancy.sign_in_domain import SIGN_IN_DOMAINS
from identity.tenancy.tenant_record import DEPLOYMENT, TENANTS, TenantRecord
from server.platform.call import TenantId
from server.platform.clock import Clock
from server.platform.errors import Unavailable
from server.platform.records import Kind, RecordStore

logger = logging.getLogger(__name__)

PASS_SECONDS = 5.0
SETTLED_AFTER = timedelta(seconds=30)
"""When every process has long heard of it, and has finished what it was about."""

_PAGE = 500


class Directory(Protocol):
    async def all(self) -> Sequence[TenantRecord]: ...


class TenantRemoval:
    """`kinds` are those of all records that tenants have."""

    def __init__(
        self, directory: Directory, store: RecordStore, kinds: Collection[Kind[Any]], *, clock: Clock
    ) -> None:
        self._directory = directory
        self._store = store
        self._kinds = kinds
        self._clock = clock

    async def run(self) -> None:
        """Until it is cancelled."""
        while True:
            await asyncio.sleep(PASS_SECONDS)
            try:
                await self.finish()
            except Unavailable:
                logger.warning("what is left of deleted tenants stays for now")

    async def finish(self) -> None:
        """Remove what is left of tenants that were deleted a while ago; raises Unavailable."""
        for record in await self._directory.all():
            if record.deleted_at is not None and record.deleted_at + SETTLED_AFTER <= self._clock.now():
                await self.remove_all_of(record.own_id)
                await self._store.of(TENANTS).take(DEPLOYMENT, record.id)

    async def remove_all_of(self, tenant_id: TenantId) -> None:
        """Raises Unavailable."""
        for kind in self._kinds:
            records = self._store.of(kind)
            while page := await records.page(tenant_id, most=_PAGE):
                for record in page:
                    await records.take(tenant_id, record.id)
        await self._store.of(SIGN_IN_DOMAINS).remove(DEPLOYMENT, "owner", tenant_id)
