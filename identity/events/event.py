"""One security event."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from identity.events.kinds import EventType, Level
from server.platform.records import Kind, Record

ID_LENGTH = 8
KEPT_FOR = timedelta(days=30)


@dataclass(frozen=True, slots=True, kw_only=True)
class Event(Record):
    """`id` begins with the time, so that events come in their order; its last eight letters are what the world sees.

    `ip` is whose doing it was, `data` a number and `text` words, where the type has any.
    """

    at: datetime
    type: EventType
    level: Level
    ip: str | None = None
    data: int | None = None
    text: str | None = None

    @property
    def event_id(self) -> str:
        return self.id[-ID_LENGTH:]


EVENTS = Kind(Event, "event")
