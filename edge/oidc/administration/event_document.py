"""A security event as JSON."""

from typing import Literal

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
