"""One of the processes of a deployment does what is enough when one does it.

For thrift, not for safety: a process that was paused may still believe that it leads, so what leaders write is compared
and set. A leader that is gone is followed after a minute.
"""

import asyncio
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta

from identity.randomness import Randomness
from server.platform.call import TenantId
from server.platform.clock import Clock
from server.platform.errors import Unavailable
from server.platform.records import AlreadyThere, Changed, Kind, Record, RecordStore

TERM = timedelta(minutes=1)
_RESIGN_SECONDS = 1.0
_NAME_LENGTH = 16
# Of no tenant.
_DEPLOYMENT = TenantId("")


@dataclass(frozen=True, slots=True, kw_only=True)
class Leader(Record):
    """`id` is what is led, `process` who leads until `expires_at`."""

    process: str


LEADERS = Kind(Leader, "leader")


class Leadership:
    """Of one purpose, sought by this process."""

    def __init__(self, purpose: str, store: RecordStore, clock: Clock, *, randomness: Randomness) -> None:
        self._purpose = purpose
        self._records = store.of(LEADERS)
        self._clock = clock
        self._process = randomness.alphanumeric(_NAME_LENGTH)
        self._held: Leader | None = None

    async def is_ours(self) -> bool:
        """Whether this process leads for half a minute at least; raises Unavailable."""
        rest = self._rest()
        if rest > TERM / 2:
            return True
        held = self._held if rest > timedelta() else None
        self._held = (held and await self._prolonged(held)) or await self._begun()
        return self._held is not None

    async def resign(self) -> None:
        """Make room for another process at once."""
        held, self._held = self._held, None
        if held is None:
            return
        with suppress(Unavailable, Changed, TimeoutError):
            async with asyncio.timeout(_RESIGN_SECONDS):
                await self._records.replace(replace(held, expires_at=self._clock.now()))

    def _rest(self) -> timedelta:
        """What is left of our term."""
        if self._held is None or self._held.expires_at is None:
            return timedelta()
        return self._held.expires_at - self._clock.now()

    async def _prolonged(self, held: Leader) -> Leader | None:
        """None when the term was over."""
        try:
            return await self._records.replace(replace(held, expires_at=self._clock.now() + TERM))
        except Changed:
            return None

    async def _begun(self) -> Leader | None:
        """None when somebody else leads."""
        expires_at = self._clock.now() + TERM
        leader = Leader(tenant_id=_DEPLOYMENT, id=self._purpose, process=self._process, expires_at=expires_at)
        try:
            return await self._records.insert(leader)
        except AlreadyThere:
            return None
