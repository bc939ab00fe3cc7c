"""Tenants with new events, for readers that follow the stored events from a position.

Events are ordered by time and written by several processes. A reader therefore waits until an event has settled: by then
every earlier event is stored. The process that stored an event remembers its tenant, so that no process has to ask for
the events of tenants without any.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from identity.foundation.events.event import Event, milliseconds_of, position_at
from server.platform.call import TenantId

SETTLES_IN = timedelta(seconds=40)
"""After this time every earlier event is stored: a statement and the wait for a connection take up to 35 s."""

LOOKS_AGAIN_IN = timedelta(seconds=10)
"""For a tenant with one event after another."""


def settled_position(now: datetime) -> str:
    """Return the position before the events that have not settled."""
    return position_at(milliseconds_of(now - SETTLES_IN))


@dataclass(frozen=True, slots=True)
class _Heard:
    """Times of events of a tenant: no unread one is earlier than `next_at`, and none is later than `last_at`."""

    next_at: datetime
    last_at: datetime


class News:
    """The tenants whose events this process has stored and one reader has not read."""

    def __init__(self) -> None:
        self._heard: dict[TenantId, _Heard] = {}

    async def hear(self, event: Event) -> None:
        """Record an event that this process has stored."""
        heard = self._heard.get(event.tenant_id)
        self._heard[event.tenant_id] = _Heard(event.at if heard is None else heard.next_at, event.at)

    def has(self, tenant_id: TenantId, now: datetime) -> bool:
        """Whether an event has settled."""
        heard = self._heard.get(tenant_id)
        return heard is not None and heard.next_at + SETTLES_IN < now

    def take(self, tenant_id: TenantId, now: datetime) -> None:
        """Wait for the events that are not settled yet, and handle several of them at once."""
        last_at = self._heard[tenant_id].last_at
        if last_at + SETTLES_IN < now:
            del self._heard[tenant_id]
        else:
            self._heard[tenant_id] = _Heard(min(last_at, now - SETTLES_IN + LOOKS_AGAIN_IN), last_at)
