"""Removes all records of a deleted tenant.

A process that does not know of the deletion yet may still write for a moment. So the removal is repeated before the
tenant's id is available again. If a process dies meanwhile, another one continues.
"""

import asyncio
import logging
from collections.abc import Collection, Sequence
from datetime import timedelta
from typing import Any, Protocol

from identity.directory.tenants.sign_in_domain import SIGN_IN_DOMAINS
from identity.directory.tenants.tenant_record import DEPLOYMENT, TENANTS, TenantRecord
from server.platform.call import TenantId
from server.platform.clock import Clock
from server.platform.errors import Unavailable
from server.platform.records import Kind, RecordStore

logger = logging.getLogger(__name__)

PASS_SECONDS = 5.0
SETTLED_AFTER = timedelta(seconds=30)
"""After this time every process knows of the deletion, and has finished earlier calls."""

# Records that are removed in one step.
_PAGE = 500


class Directory(Protocol):
    @property
    def deleted(self) -> Sequence[TenantRecord]: ...


class TenantRemoval:
    """`kinds` are all kinds of records that belong to tenants."""

    def __init__(
        self, directory: Directory, store: RecordStore, kinds: Collection[Kind[Any]], *, clock: Clock
    ) -> None:
        self._directory = directory
        self._store = store
        self._tenants = store.of(TENANTS)
        self._kinds = kinds
        self._clock = clock

    async def run(self) -> None:
        """Remove deleted tenants until cancelled."""
        while True:
            await asyncio.sleep(PASS_SECONDS)
            try:
                await self.finish()
            except Unavailable:
                logger.warning("the store is not available; records of deleted tenants are removed later")

    async def finish(self) -> None:
        """Remove the remaining records of tenants that were deleted a while ago; raises Unavailable."""
        for known in self._directory.deleted:
            # Another process may have removed the tenant, and an administrator may have created it again.
            record = await self._tenants.get(DEPLOYMENT, known.id)
            deleted_at = record.deleted_at if record is not None else None
            if deleted_at is not None and deleted_at + SETTLED_AFTER <= self._clock.now():
                await self.remove_all_of(known.own_id)
                await self._tenants.take(DEPLOYMENT, known.id)

    async def remove_all_of(self, tenant_id: TenantId) -> None:
        """Raises Unavailable."""
        for kind in self._kinds:
            records = self._store.of(kind)
            is_full = True
            while is_full:
                is_full = await records.remove_some(tenant_id, most=_PAGE) == _PAGE
                # In memory no other work waits: other callers take their turn between two steps.
                await asyncio.sleep(0)
        await self._store.of(SIGN_IN_DOMAINS).remove(DEPLOYMENT, "owner", tenant_id)
