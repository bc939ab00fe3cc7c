"""Loop that maintains the signing keys of all tenants: completes, announces, rotates and removes them.

One process of the deployment does this. The first pass does what was due while no process ran.
"""

import asyncio
import logging
from collections.abc import Collection
from datetime import timedelta
from typing import Protocol

from identity.crypto.keys.key_ring import KeyRing
from identity.crypto.keys.master_keys import MasterKeys
from identity.crypto.keys.root_secret import RootSecrets
from identity.crypto.keys.schedule import Schedule
from identity.foundation.leadership import Leadership
from identity.foundation.tenants import Tenants
from server.platform.call import TenantId
from server.platform.clock import Clock
from server.platform.errors import Unavailable

logger = logging.getLogger(__name__)

PURPOSE = "signing-keys"
PASS_SECONDS = 20.0
MOST_OF_A_PERIOD = 200
"""Tenants that are maintained within `PASS_SECONDS`, so that idle tenants by the thousand cost little."""
ANNOUNCE_AFTER = timedelta(minutes=1)
"""Delay before the next signing keys are made, so that a process which lives only for a test does not make them."""


class SealedStore(Protocol):
    """Stores secrets that are encrypted under master keys."""

    async def reseal(self, tenant_id: TenantId) -> None: ...


class KeyMaintenance:
    def __init__(
        self,
        keys: KeyRing,
        root_secrets: RootSecrets,
        *,
        others: Collection[SealedStore],
        master_keys: MasterKeys,
        tenants: Tenants,
        schedule: Schedule,
        leadership: Leadership,
        clock: Clock,
    ) -> None:
        self._keys = keys
        self._root_secrets = root_secrets
        self._others = others
        self._master_keys = master_keys
        self._was_everything_resealed = False
        self._tenants = tenants
        self._schedule = schedule
        self._leadership = leadership
        self._clock = clock
        self._announces_from = clock.now() + ANNOUNCE_AFTER

    async def run(self) -> None:
        """Run passes until cancelled; raises LostMasterKey."""
        try:
            while True:
                await self.keep()
                await asyncio.sleep(PASS_SECONDS)
        finally:
            await self._leadership.resign()

    async def keep(self) -> None:
        """One pass over all tenants; a later pass continues after a failure of the store.

        Processes encrypt under the active master key, so with one key there is nothing to encrypt anew after the
        first pass.
        """
        self._keys.forget_others(frozenset(self._tenants.ids))
        try:
            for number, tenant_id in enumerate(self._tenants.ids, start=1):
                if not await self._leadership.is_ours():
                    return
                await self._keep(tenant_id)
                if number % MOST_OF_A_PERIOD == 0:
                    await asyncio.sleep(PASS_SECONDS)
            await self._root_secrets.reseal()
            self._was_everything_resealed = True
        except Unavailable:
            logger.warning("the store is not available; signing keys are maintained later")

    async def _keep(self, tenant_id: TenantId) -> None:
        await self._keys.complete(tenant_id)
        if self._master_keys.inactive or not self._was_everything_resealed:
            # Signing keys come last: their event reports that all secrets are under the active master key.
            for other in self._others:
                await other.reseal(tenant_id)
            await self._keys.reseal(tenant_id)
        await self._keys.rotate_if_due(tenant_id, self._schedule)
        await self._keys.drop_ended(tenant_id)
        if self._announces_from <= self._clock.now():
            await self._keys.announce(tenant_id)
