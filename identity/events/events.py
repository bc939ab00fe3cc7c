"""Tell administrators what happened."""

import logging
from collections.abc import Mapping

from identity.events.event import EVENTS, ID_LENGTH, KEPT_FOR, Event
from identity.events.kinds import EventType, Level
from identity.randomness import Randomness
from server.platform.call import TenantId
from server.platform.clock import Clock
from server.platform.errors import Unavailable
from server.platform.records import RecordStore

logger = logging.getLogger(__name__)

_MILLISECOND_DIGITS = 13


class Events:
    def __init__(
        self, store: RecordStore, levels: Mapping[EventType, Level], *, clock: Clock, randomness: Randomness
    ) -> None:
        self._records = store.of(EVENTS)
        self._levels = levels
        self._clock = clock
        self._randomness = randomness

    async def emit(
        self,
        tenant_id: TenantId,
        event_type: EventType,
        *,
        ip: str | None = None,
        data: int | None = None,
        text: str | None = None,
    ) -> None:
        """Keep an event. What it tells of has happened, so one that cannot be kept is logged and nothing else."""
        now = self._clock.now()
        milliseconds = int(now.timestamp() * 1000)
        event = Event(
            tenant_id=tenant_id,
            id=f"{milliseconds:0{_MILLISECOND_DIGITS}}{self._randomness.alphanumeric(ID_LENGTH)}",
            expires_at=now + KEPT_FOR,
            at=now,
            type=event_type,
            level=self._levels[event_type],
            ip=ip,
            data=data,
            text=text,
        )
        try:
            await self._records.insert(event)
        except Unavailable:
            logger.warning("an event was lost", extra={"event_type": event_type, "tenant_id": tenant_id})
