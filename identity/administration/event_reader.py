"""Reads events: a range of time, or the next ones after a position.

Events are ordered by time and written by several processes. A reader that continues from a position therefore stays a
second behind: by then all earlier events are stored.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import takewhile

from identity.foundation.events.event import EVENTS, KEPT_FOR, Event, milliseconds_of, position_at
from identity.foundation.events.kinds import Level
from identity.foundation.tenants import Tenant
from server.platform.clock import Clock
from server.platform.errors import InvalidArgument
from server.platform.records import RecordStore

MOST_LISTED = 1000
MOST_AWAITED = 100

_PAGE = 1000
_MOST_READ = 50_000
_SETTLES_IN = timedelta(seconds=1)
_POLL_SECONDS = 1.0

# Periods in which the newest events are searched, in this order.
_NEAR = (timedelta(hours=1), timedelta(days=1), KEPT_FOR)


# Checks again that the caller may read events; raises ServiceError if not.
Readmit = Callable[[], Awaitable[object]]


async def _anybody() -> None:
    """Admit a caller that is no other party."""


@dataclass(frozen=True, slots=True)
class EventFilter:
    """A filter by least level, and by type unless that is empty."""

    level: Level = Level.INFO
    type: str = ""

    def admits(self, event: Event) -> bool:
        return event.level.severity >= self.level.severity and self.type in ("", event.type)


@dataclass(frozen=True, slots=True)
class EventPage:
    """Events in the order of time, and the position after which the next ones follow."""

    events: Sequence[Event]
    position: str


class EventReader:
    def __init__(
        self,
        store: RecordStore,
        clock: Clock,
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._records = store.of(EVENTS)
        self._clock = clock
        self._pause = pause

    async def between(
        self, tenant: Tenant, since: int, until: int, *, wanted: EventFilter, most: int = MOST_LISTED
    ) -> Sequence[Event]:
        """Return the newest events of a range in Unix milliseconds, oldest first; raises InvalidArgument."""
        newest: deque[Event] = deque(maxlen=most)
        after, end = position_at(since), position_at(until)
        for _ in range(_MOST_READ // _PAGE):
            page = await self._records.page(tenant.tenant_id, after=after, most=_PAGE)
            within = [event for event in page if event.id < end]
            newest.extend(filter(wanted.admits, within))
            if len(within) < _PAGE:
                return list(newest)
            after = page[-1].id
        raise InvalidArgument(f"the range holds more than {_MOST_READ} events: expected a shorter one")

    async def latest(self, tenant: Tenant, most: int, *, wanted: EventFilter) -> EventPage:
        """Return the newest events, and the position after them."""
        until = milliseconds_of(self._settled())
        found: Sequence[Event] = ()
        for near in _NEAR if most else ():
            since = milliseconds_of(self._clock.now() - near)
            found = await self.between(tenant, since, until, wanted=wanted, most=most)
            if len(found) == most:
                break
        return EventPage(found, position_at(until))

    async def following(
        self,
        tenant: Tenant,
        position: str,
        *,
        wanted: EventFilter,
        wait: timedelta = timedelta(),
        readmit: Readmit = _anybody,
    ) -> EventPage:
        """Return events after a position; waits for the first one at most as long as `wait`.

        Raises the error of `readmit`, which is called after each pause.
        """
        for _ in range(int(wait.total_seconds() / _POLL_SECONDS)):
            event_page = await self._read(tenant, position, wanted)
            if event_page.events:
                return event_page
            if event_page.position == position:
                await self._pause(_POLL_SECONDS)
                await readmit()
            position = event_page.position
        return await self._read(tenant, position, wanted)

    async def _read(self, tenant: Tenant, position: str, wanted: EventFilter) -> EventPage:
        end = position_at(milliseconds_of(self._settled()))
        page = await self._records.page(tenant.tenant_id, after=position, most=MOST_AWAITED)
        settled = list(takewhile(lambda event: event.id < end, page))
        events = list(filter(wanted.admits, settled))
        return EventPage(events, settled[-1].id if settled else position)

    def _settled(self) -> datetime:
        return self._clock.now() - _SETTLES_IN
