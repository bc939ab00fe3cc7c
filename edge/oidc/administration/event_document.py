"""A security event as JSON."""

from typing import Literal

from edge.oidc.openapi.schemas import INTEGER, STRING, an_object, choice, message, nullable, titled
from gnomon.identity.v1 import event_service_pb2 as pb

LEVELS = {
    "info": pb.EVENT_LEVEL_INFO,
    "notice": pb.EVENT_LEVEL_NOTICE,
    "warning": pb.EVENT_LEVEL_WARNING,
    "critical": pb.EVENT_LEVEL_CRITICAL,
}
_NAMES = {level: name for name, level in LEVELS.items()}
_OPTIONAL: tuple[Literal["ip", "data", "text", "user_id", "client_id", "session"], ...] = (
    "ip",
    "data",
    "text",
    "user_id",
    "client_id",
    "session",
)

EVENT = titled(
    "SecurityEvent",
    an_object(
        id=STRING,
        timestamp=INTEGER,
        level=choice(*LEVELS),
        typ=STRING,
        **dict.fromkeys(_OPTIONAL, nullable(STRING)) | {"data": nullable(INTEGER)},
        actor=nullable(message(pb.EventActor)),
    ),
)


def members(event: pb.SecurityEvent) -> dict[str, object]:
    """Return every member; those without a value are null."""
    actor = event.actor
    return {
        "id": event.id,
        "timestamp": event.timestamp,
        "level": _NAMES[event.level],
        "typ": event.typ,
        **{name: getattr(event, name) if event.HasField(name) else None for name in _OPTIONAL},
        "actor": {"kind": actor.kind, "id": actor.id, "name": actor.name}
        if event.HasField("actor")
        else None,
    }
