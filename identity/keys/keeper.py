"""The loop that keeps every tenant's signing keys complete, announced ahead of time and replaced on schedule.

Of several processes one does it. What was due while none ran is done by the first pass.
"""

import asyncio
import logging
from collections.abc import Collection
from datetime import timedelta
from typing import Protocol

from identity.keys.key_ring import KeyRing
from identity.keys.root_secret import RootSecrets
from identity.keys.schedule import Schedule
from identity.leadership import Leadership
from identity.tenants import Tenants
from server.platform.call import TenantId
from server.platform.clock import Clock
from server.platform.errors import Unavailable

logger = logging.getLogger(__name__)

PURPOSE = "signing-keys"
PASS_SECONDS = 20.0
ANNOUNCE_AFTER = timedelta(minutes=1)
"""How long the keys wait that sign next, so that a process which lives for a test only does not make them."""


class Sealing(Protocol):
    """Keeps secrets under master keys."""

    async def reseal(self, tenant_id: TenantId) -> None: ...


class KeyKeeper:
    def __init__(
        self,
        keys: KeyRing,
        root_secrets: RootSecrets,
        *,
        others: Collection[Sealing],
        tenants: Tenants,
        schedule: Schedule,
        leadership: Leadership,
        clock: Clock,
    ) -> None:
        self._keys = keys
        self._root_secrets = root_secrets
        self._others = others
        self._tenants = tenants
        self._schedule = schedule
        self._leadership = leadership
        self._clock = clock
        self._announces_from = clock.now() + ANNOUNCE_AFTER

    async def run(self) -> None:
        """Until it is cancelled; raises LostMasterKey."""
        try:
            while True:
                await self.keep()
                await asyncio.sleep(PASS_SECONDS)
        finally:
            await self._leadership.resign()

    async def keep(self) -> None:
        """One pass over all tenants; what the store's absence prevents is done by a later one."""
        try:
            for tenant_id in self._tenants.ids:
                if not await self._leadership.is_ours():
                    return
                await self._keep(tenant_id)
            await self._root_secrets.reseal()
        except Unavailable:
            logger.warning("the signing keys were left as they are, for now")

    async def _keep(self, tenant_id: TenantId) -> None:
        await self._keys.complete(tenant_id)
        # The event of the keys tells that all is under the active master key, so they are last.
        for other in self._others:
            await other.reseal(tenant_id)
        await self._keys.reseal(tenant_id)
        await self._keys.rotate_if_due(tenant_id, self._schedule)
        await self._keys.drop_ended(tenant_id)
        if self._announces_from <= self._clock.now():
            await self._keys.announce(tenant_id)
