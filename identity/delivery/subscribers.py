"""Subscribers of the security events of a tenant: servers to which the provider sends what happened, each independently.

A subscriber is a record with its position among the stored events, so no event is lost while its server or the provider
is down. The process that stored an event visits the subscribers of the tenant; other processes check every few minutes
for events of a process that has ended. A process claims a subscriber by its record, so only one process visits it. Slow
and failing subscribers share places for which no other subscriber waits.

Of a tenant with many subscribers a pass takes the next ones only, so that a pass costs the same whatever their number. New
events send the passes round all of them, page by page.
"""

import asyncio
import logging
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Generic, TypeVar

from identity.foundation.events.event import EVENTS, Event
from identity.foundation.events.events import Events
from identity.foundation.events.kinds import EventType, Level
from identity.foundation.events.news import News, settled_position
from identity.foundation.randomness import Randomness
from identity.foundation.tenants import Tenant
from server.platform.back_off import BackOff
from server.platform.call import TenantId
from server.platform.clock import Clock
from server.platform.errors import Unavailable
from server.platform.records import Changed, Kind, Record, RecordStore

logger = logging.getLogger(__name__)

LOOKED_AT_EVERY = timedelta(minutes=5)
"""For a subscriber without events that this process knows."""

DISABLED_AFTER = timedelta(days=5)
VISIT = timedelta(seconds=20)
"""After this time a visit begins no further request, so that other subscribers get the place."""

NEVER = datetime(9999, 1, 1, tzinfo=UTC)

_POLL_SECONDS = 2.0
_BACK_OFF = BackOff(5, 3600, spread=0.5)
# Longer than a visit with the requests of its last resource.
_CLAIM = timedelta(seconds=120)
# Of a tenant, in one pass.
_AT_ONCE = 100
# Visits of a tenant that have not ended. Slow and failing subscribers wait for their own places, so there are more.
_MOST_VISITS = 1000
# A visit reads this number of pages in search of an event that the subscriber wants.
_MOST_PAGES = 20
_OCTET = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscriber(Record):
    """Events after `position`, the id of an event, wait for a visit.

    The next visit is at `next_at`, with `attempts` failures in a row since `failing_since`. A process visits until
    `claimed_until`.
    """

    is_enabled: bool = True
    position: str
    next_at: datetime
    claimed_until: datetime | None = None
    attempts: int = 0
    failing_since: datetime | None = None

    def is_free(self, now: datetime) -> bool:
        """Whether new events can be handled: no process visits the subscriber, and no attempt is due later."""
        is_claimed = self.claimed_until is not None and self.claimed_until > now
        return self.is_enabled and not self.attempts and not is_claimed


S = TypeVar("S", bound=Subscriber)


@dataclass(frozen=True, slots=True)
class WaitingEvents:
    """Events for a subscriber, in their order; `position` is that of the last event that was read."""

    events: Sequence[Event]
    position: str
    has_more: bool = False


@dataclass(frozen=True, slots=True)
class Places:
    """Numbers of subscribers that one process visits at the same time."""

    ordinary: int
    slow: int
    """For subscribers whose last visit was slow or failed."""


class Subscribers(ABC, Generic[S]):
    """Visits subscribers of one kind."""

    def __init__(
        self,
        kind: Kind[S],
        store: RecordStore,
        *,
        places: Places,
        events: Events,
        clock: Clock,
        randomness: Randomness,
    ) -> None:
        self._name = kind.name
        self._records = store.of(kind)
        self._stored_events = store.of(EVENTS)
        self._places = asyncio.Semaphore(places.ordinary)
        self._slow_places = asyncio.Semaphore(places.slow)
        self._events = events
        self._clock = clock
        self._randomness = randomness
        self._slow: set[tuple[str, str]] = set()
        self._visited: set[tuple[str, str]] = set()
        self._visits: Counter[str] = Counter()
        # The last subscriber of a round that has not ended, by tenant.
        self._rounds: dict[str, str] = {}
        self.news = News()

    @abstractmethod
    async def _visit(self, tenant: Tenant, subscriber: S, /) -> None:
        """Handle waiting events, until a request fails or the time is over; raises Changed, Unavailable."""

    async def _interrupted(self, subscriber: S, /) -> None:
        """Clean up after a visit during which the record changed."""

    @abstractmethod
    def _title(self, subscriber: S, /) -> str:
        """Name the subscriber in an event."""

    async def run(
        self,
        tenants: Callable[[], Iterable[Tenant]],
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """Visit subscribers until cancelled."""
        async with asyncio.TaskGroup() as visits:
            while True:
                for tenant, subscriber in await self.due(tenants):
                    if _key(subscriber) not in self._visited:
                        self._visited.add(_key(subscriber))
                        self._visits[subscriber.tenant_id] += 1
                        visits.create_task(self._visited_safely(tenant, subscriber))
                await pause(_POLL_SECONDS)

    async def due(self, tenants: Callable[[], Iterable[Tenant]]) -> Sequence[tuple[Tenant, S]]:
        """Return the subscribers to visit: those due for an attempt or a check, and those with new events."""
        now = self._clock.now()
        found: dict[tuple[str, str], tuple[Tenant, S]] = {}
        try:
            due = frozenset(await self._records.due_tenants(now))
            for tenant in tenants():
                tenant_id = tenant.tenant_id
                visits = self._visits[tenant_id]
                if visits >= _MOST_VISITS:
                    continue
                if tenant_id in due:
                    # Those that wait for a place are still due.
                    waiting = await self._records.due(tenant_id, now, most=visits + _AT_ONCE)
                    found |= {_key(each): (tenant, each) for each in waiting}
                if tenant_id in self._rounds or self.news.has(tenant_id, now):
                    found |= {_key(each): (tenant, each) for each in await self._next(tenant_id, now)}
        except Unavailable:
            logger.warning(
                "subscribers are visited later: the store is not available", extra={"kind": self._name}
            )
            return ()
        return list(found.values())

    async def _next(self, tenant_id: TenantId, now: datetime) -> Sequence[S]:
        """Return the free subscribers on the next page of a round, which begins with new events."""
        after = self._rounds.get(tenant_id, "")
        page = await self._records.page(tenant_id, after=after, most=_AT_ONCE)
        if not after:
            # Events that come during the round begin another one.
            self.news.take(tenant_id, now)
        if len(page) == _AT_ONCE:
            self._rounds[tenant_id] = page[-1].id
        else:
            self._rounds.pop(tenant_id, None)
        return [each for each in page if each.is_free(now)]

    async def visit(self, tenant: Tenant, subscriber: S) -> None:
        """Handle waiting events, until a request fails or the time is over; raises Unavailable."""
        is_slow = subscriber.attempts > 0 or self._is_slow(subscriber)
        async with self._slow_places if is_slow else self._places:
            try:
                await self._visit(tenant, subscriber)
            except Changed:
                # An administrator changed or removed the subscriber, or another process visits it.
                await self._interrupted(subscriber)

    async def _visited_safely(self, tenant: Tenant, subscriber: S) -> None:
        facts = {"kind": self._name, "tenant_id": subscriber.tenant_id, "id": subscriber.id}
        try:
            await self.visit(tenant, subscriber)
        except Unavailable:
            logger.warning("a subscriber is visited later: the store is not available", extra=facts)
        except Exception:
            logger.exception("a subscriber was not visited", extra=facts)
        finally:
            self._visited.remove(_key(subscriber))
            self._visits[subscriber.tenant_id] -= 1
            # A Counter keeps zeros.
            if not self._visits[subscriber.tenant_id]:
                del self._visits[subscriber.tenant_id]

    async def _waiting(self, subscriber: S, wants: Callable[[Event], bool], *, most: int) -> WaitingEvents:
        """Read at most a number of events at a time, until there are some that the subscriber wants."""
        end, position = settled_position(self._clock.now()), subscriber.position
        found: list[Event] = []
        for _ in range(_MOST_PAGES):
            page = await self._stored_events.page(subscriber.tenant_id, after=position, most=most)
            settled = [event for event in page if event.id < end]
            found += filter(wants, settled)
            position = settled[-1].id if settled else position
            if len(settled) < most:
                return WaitingEvents(found, position)
            if found:
                break
        return WaitingEvents(found, position, has_more=True)

    async def _claimed(self, subscriber: S) -> S:
        """Raises Changed when another process has the subscriber."""
        until = self._clock.now() + _CLAIM
        return await self._records.replace(replace(subscriber, next_at=until, claimed_until=until))

    async def _released(self, subscriber: S, *, has_more: bool = False) -> None:
        """Raises Changed."""
        now = self._clock.now()
        next_at = now if has_more else now + LOOKED_AT_EVERY
        await self._records.replace(replace(subscriber, next_at=next_at, claimed_until=None))

    async def _failed(
        self, subscriber: S, *, retry_after: timedelta = timedelta(), is_gone: bool = False
    ) -> S:
        """Return the subscriber after a failure, disabled if it fails for too long; raises Changed."""
        now, attempts = self._clock.now(), subscriber.attempts + 1
        since = subscriber.failing_since or now
        failed = replace(subscriber, attempts=attempts, failing_since=since, claimed_until=None)
        if is_gone or now - since >= DISABLED_AFTER:
            kept = await self._records.replace(replace(failed, is_enabled=False, next_at=NEVER))
            await self._events.emit(
                subscriber.tenant_id,
                EventType.CHANGED,
                level=Level.CRITICAL,
                text=f"{self._title(subscriber)} disabled after {attempts} failed attempts",
                data=attempts,
            )
            return kept
        pause = timedelta(seconds=_BACK_OFF.seconds(attempts, self._chance))
        return await self._records.replace(replace(failed, next_at=now + max(pause, retry_after)))

    def _is_slow(self, subscriber: S) -> bool:
        return _key(subscriber) in self._slow

    def _note_speed(self, subscriber: S, *, is_slow: bool) -> None:
        if is_slow:
            self._slow.add(_key(subscriber))
        else:
            self._slow.discard(_key(subscriber))

    def _chance(self) -> float:
        return self._randomness.octets(1)[0] / _OCTET


def _key(subscriber: Subscriber) -> tuple[str, str]:
    return subscriber.tenant_id, subscriber.id
