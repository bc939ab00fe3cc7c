"""Leader election among the processes of a deployment, for work that one process does.

It saves work but guarantees nothing: a paused process may still believe that it leads. Leaders therefore write with
compare-and-set. When a leader is gone, another process takes over after a minute.
"""

import asyncio
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta

from identity.foundation.randomness import Randomness
from server.platform.call import TenantId
from server.platform.clock import Clock
from server.platform.errors import Unavailable
from server.platform.records import AlreadyThere, Changed, Kind, Record, RecordStore

TERM = timedelta(minutes=1)
_RESIGN_SECONDS = 1.0
_NAME_LENGTH = 16
# The record belongs to no tenant.
_DEPLOYMENT = TenantId("")


@dataclass(frozen=True, slots=True, kw_only=True)
class Leader(Record):
    """`id` is the purpose, `process` the leader until `expires_at`."""

    process: str


LEADERS = Kind(Leader, "leader", owners=())


class Leadership:
    """A candidacy of this process for one purpose."""

    def __init__(self, purpose: str, store: RecordStore, clock: Clock, *, randomness: Randomness) -> None:
        self._purpose = purpose
        self._records = store.of(LEADERS)
        self._clock = clock
        self._process = randomness.alphanumeric(_NAME_LENGTH)
        self._held: Leader | None = None

    async def is_ours(self) -> bool:
        """Whether this process leads for at least half a minute from now; raises Unavailable."""
        rest = self._rest()
        if rest > TERM / 2:
            return True
        held = self._held if rest > timedelta() else None
        self._held = (held and await self._prolonged(held)) or await self._begun()
        return self._held is not None

    async def resign(self) -> None:
        """Give up the term, so that another process can take over at once."""
        held, self._held = self._held, None
        if held is None:
            return
        with suppress(Unavailable, Changed, TimeoutError):
            async with asyncio.timeout(_RESIGN_SECONDS):
                await self._records.take(held.tenant_id, held.id, revision=held.revision)

    def _rest(self) -> timedelta:
        """Return the remaining time of the term."""
        if self._held is None or self._held.expires_at is None:
            return timedelta()
        return self._held.expires_at - self._clock.now()

    async def _prolonged(self, held: Leader) -> Leader | None:
        """Extend the term; None when it was over."""
        try:
            return await self._records.replace(replace(held, expires_at=self._clock.now() + TERM))
        except Changed:
            return None

    async def _begun(self) -> Leader | None:
        """Begin a term; None when another process leads."""
        expires_at = self._clock.now() + TERM
        leader = Leader(tenant_id=_DEPLOYMENT, id=self._purpose, process=self._process, expires_at=expires_at)
        try:
            return await self._records.insert(leader)
        except AlreadyThere:
            return None
