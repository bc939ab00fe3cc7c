"""Key sets for publication: complete from the first response on, as discovery describes them.

Slow keys of new tenants are made one tenant after the other, first for tenants whose key sets callers wait for. A
caller waits for a limited time; the keys are made in any case. The numbers of waiting callers and tenants are bounded.
"""

import asyncio
import logging
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Protocol

from identity.crypto.jose.algorithms import SigningAlgorithm
from identity.crypto.jose.key_set import KeySet
from server.platform.call import TenantId
from server.platform.errors import Unavailable

logger = logging.getLogger(__name__)

PATIENCE_SECONDS = 50.0
MOST_TENANTS = 1000
MOST_CALLERS = 1000


class KeyRing(Protocol):
    async def key_set(self, tenant_id: TenantId) -> KeySet: ...

    async def complete(self, tenant_id: TenantId) -> None: ...


@dataclass(slots=True)
class _Wanted:
    """A tenant whose keys are to be made, and the number of callers that wait for them."""

    made: asyncio.Event = field(default_factory=asyncio.Event)
    callers: int = 0


class KeyPublication:
    """`callers` is the number of callers that wait now."""

    def __init__(
        self,
        keys: KeyRing,
        *,
        patience_seconds: float = PATIENCE_SECONDS,
        most_tenants: int = MOST_TENANTS,
        most_callers: int = MOST_CALLERS,
    ) -> None:
        self._keys = keys
        self._patience_seconds = patience_seconds
        self._most_tenants = most_tenants
        self._most_callers = most_callers
        self.callers = 0
        self._wanted: dict[TenantId, _Wanted] = {}
        self._is_wanted = asyncio.Event()

    async def key_set(self, tenant_id: TenantId, algorithms: Collection[str] = ()) -> KeySet:
        """Return all keys once each of the algorithms has one; all supported algorithms when none is named.

        Raises Unavailable, LostMasterKey.
        """
        found = await self._keys.key_set(tenant_id)
        if found.lacks(algorithms):
            await self._completed(tenant_id)
            found = await self._keys.key_set(tenant_id)
        if found.lacks(algorithms):
            raise _being_made()
        return found

    def prepare(self, tenant_id: TenantId) -> None:
        """Queue the tenant's keys to be made in advance, unless the queue is full."""
        if tenant_id not in self._wanted and len(self._wanted) < self._most_tenants:
            self._wanted[tenant_id] = _Wanted()
            self._is_wanted.set()

    async def run(self) -> None:
        """Make queued keys until cancelled; raises LostMasterKey."""
        while True:
            await self._is_wanted.wait()
            await self._make(self._next())

    async def _make(self, tenant_id: TenantId) -> None:
        try:
            await self._keys.complete(tenant_id)
        except Unavailable:
            logger.warning("signing keys were not created", extra={"tenant_id": tenant_id})
        finally:
            self._wanted.pop(tenant_id).made.set()
            if not self._wanted:
                self._is_wanted.clear()

    def _next(self) -> TenantId:
        """Return the tenant whose callers have waited longest, else the first one of the queue."""
        asked = (tenant_id for tenant_id, wanted in self._wanted.items() if wanted.callers)
        return next(asked, next(iter(self._wanted)))

    async def _completed(self, tenant_id: TenantId) -> None:
        self.prepare(tenant_id)
        wanted = self._wanted.get(tenant_id)
        if wanted is None or self.callers >= self._most_callers:
            raise _being_made()
        self.callers += 1
        wanted.callers += 1
        try:
            async with asyncio.timeout(self._patience_seconds):
                await wanted.made.wait()
        except TimeoutError as error:
            raise _being_made() from error
        finally:
            wanted.callers -= 1
            self.callers -= 1


def _being_made() -> Unavailable:
    return Unavailable.untouched(f"some of {', '.join(SigningAlgorithm)} keys are being made; try again")
