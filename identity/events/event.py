"""One security event."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from identity.events.kinds import EventType, Level
from server.platform.records import Kind, Record

ID_LENGTH = 8
KEPT_FOR = timedelta(days=30)

_MILLISECOND_DIGITS = 13
_MILLISECONDS = 1000


@dataclass(frozen=True, slots=True)
class EventActor:
    """Who made it happen on purpose: `kind` is user, api_key or client."""

    kind: str
    id: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Event(Record):
    """`id` begins with the time, so that events come in their order; its last eight letters are what the world sees.

    `ip` is whose doing it was, `data` a number and `text` words, where the type has any; `user_id`, `client_id`
    and `session` say whom and what it is about, and `actor` is who did it on purpose.
    """

    at: datetime
    type: EventType
    level: Level
    ip: str | None = None
    data: int | None = None
    text: str | None = None
    user_id: str | None = None
    client_id: str | None = None
    session: str | None = None
    actor: EventActor | None = None

    @property
    def event_id(self) -> str:
        return self.id[-ID_LENGTH:]


def milliseconds_of(at: datetime) -> int:
    return int(at.timestamp() * _MILLISECONDS)


def position_at(milliseconds: int) -> str:
    """What the ids of all events since then come behind."""
    return f"{milliseconds:0{_MILLISECOND_DIGITS}}"


EVENTS = Kind(Event, "event")
