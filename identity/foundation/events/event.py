"""A security event."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from identity.foundation.events.kinds import EventType, Level
from server.platform.records import Kind, Record

ID_LENGTH = 8
KEPT_FOR = timedelta(days=30)

_MILLISECOND_DIGITS = 13
_MILLISECONDS = 1000


@dataclass(frozen=True, slots=True)
class EventActor:
    """The caller that caused the event by an explicit action: `kind` is user, api_key or client."""

    kind: str
    id: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Event(Record):
    """`id` begins with the time, so that ids order events; its last eight letters are the public id.

    `ip` is the network address of the cause. `data` is a number and `text` a text, if the type has one. `user_id`,
    `client_id` and `session` name the subject of the event, and `actor` the caller that caused it.
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

    @property
    def milliseconds(self) -> int:
        return milliseconds_of(self.at)


def milliseconds_of(at: datetime) -> int:
    return int(at.timestamp() * _MILLISECONDS)


def position_at(milliseconds: int) -> str:
    """Return a position before the ids of all events from that time on."""
    return f"{milliseconds:0{_MILLISECOND_DIGITS}}"


EVENTS = Kind(
    Event,
    "event",
    owners=(),
    outlives=(
        "user_id",
        "client_id",
    ),
)
