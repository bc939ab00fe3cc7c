"""What has to be done at somebody else's server, until it is done: a queue that outlives the process.

An errand is a record; whoever raises its number of attempts runs it, so that of several processes one does. One that dies
before it has an answer is succeeded by the next attempt.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Generic, Protocol, TypeVar

from identity.randomness import Randomness
from identity.tenants import Tenant
from server.platform.clock import Clock
from server.platform.errors import Unavailable
from server.platform.records import Changed, Record, Records

logger = logging.getLogger(__name__)

_LEAST_BACK_OFF_SECS = 60
_BACK_OFF_SPREAD_SECS = 31
_MOST_QUEUED = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Errand(Record):
    """`due` is always `due`, so that those to be run can be found."""

    attempts: int
    next_at: datetime
    due: str = "due"


E = TypeVar("E", bound=Errand)
E_contra = TypeVar("E_contra", bound=Errand, contravariant=True)


class Carrier(Protocol[E_contra]):
    """Does what errands of one kind are about."""

    async def carry(self, tenant: Tenant, errand: E_contra, /) -> bool:
        """Whether it is done, or nobody wants it any more."""
        ...

    async def give_up(self, errand: E_contra, /) -> None:
        """Tell somebody that it will not be done."""
        ...


class Patience(Protocol):
    """How often an errand is tried, and how many are run at once."""

    @property
    def attempts(self) -> int: ...

    @property
    def poll_interval_secs(self) -> int: ...

    @property
    def most_at_a_time(self) -> int: ...


class Errands(Generic[E]):
    """`name` is what the log calls them."""

    def __init__(
        self,
        name: str,
        queue: Records[E],
        carrier: Carrier[E],
        *,
        clock: Clock,
        randomness: Randomness,
        patience: Patience,
    ) -> None:
        self._name = name
        self._queue = queue
        self._carrier = carrier
        self._clock = clock
        self._randomness = randomness
        self._patience = patience

    async def run(
        self,
        tenants: Callable[[], Iterable[Tenant]],
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """Run what is due, for as long as the caller lets it."""
        while True:
            try:
                waited_for = frozenset(await self._queue.tenants("due", "due"))
            except Unavailable:
                logger.warning("errands wait", extra={"errand": self._name})
                waited_for = frozenset()
            for tenant in tenants():
                if tenant.tenant_id in waited_for:
                    await self._run_due_of(tenant)
            await pause(self._patience.poll_interval_secs)

    async def _run_due_of(self, tenant: Tenant) -> None:
        try:
            await self.run_due(tenant)
        except Unavailable:
            self._waits(tenant)

    async def run_due(self, tenant: Tenant) -> None:
        """Try once what is due now; returns when every answer is there or late."""
        now = self._clock.now()
        queued = await self._queue.find(tenant.tenant_id, "due", "due", most=_MOST_QUEUED)
        due = sorted(
            (errand for errand in queued if errand.next_at <= now), key=lambda errand: errand.next_at
        )
        async with asyncio.TaskGroup() as attempts:
            for errand in due[: self._patience.most_at_a_time]:
                attempts.create_task(self._attempt(tenant, errand))

    async def _attempt(self, tenant: Tenant, errand: E) -> None:
        back_off = timedelta(seconds=self._back_off_secs())
        claimed = replace(errand, attempts=errand.attempts + 1, next_at=self._clock.now() + back_off)
        try:
            await self._run(tenant, await self._queue.replace(claimed))
        except Changed:
            # Another process runs it.
            return
        except Unavailable:
            # Its next attempt is noted, so it is only late.
            self._waits(tenant)

    async def _run(self, tenant: Tenant, errand: E) -> None:
        if await self._is_carried(tenant, errand):
            await self._queue.take(tenant.tenant_id, errand.id)
        elif errand.attempts >= self._patience.attempts:
            await self._queue.take(tenant.tenant_id, errand.id)
            await self._carrier.give_up(errand)

    async def _is_carried(self, tenant: Tenant, errand: E) -> bool:
        try:
            return await self._carrier.carry(tenant, errand)
        except Unavailable:
            raise
        except Exception:
            # It ends no other errand, and nothing else of the provider.
            logger.exception("an errand failed", extra={"errand": self._name, "tenant_id": tenant.tenant_id})
            return False

    def _waits(self, tenant: Tenant) -> None:
        logger.warning("an errand waits", extra={"errand": self._name, "tenant_id": tenant.tenant_id})

    def _back_off_secs(self) -> int:
        # Spread, so that those who failed together do not come back together.
        return _LEAST_BACK_OFF_SECS + self._randomness.octets(1)[0] % _BACK_OFF_SPREAD_SECS
