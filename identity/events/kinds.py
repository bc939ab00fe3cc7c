"""Kinds of events, one row each."""

from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """How much attention an event asks for, least first."""

    INFO = "info"
    NOTICE = "notice"
    WARNING = "warning"
    CRITICAL = "critical"

    @property
    def severity(self) -> int:
        return list(Level).index(self)


class EventType(StrEnum):
    JWKS_ROTATED = "JwksRotated"
    SECRETS_MIGRATED = "SecretsMigrated"
    REFRESH_TOKEN_REUSE = "RefreshTokenReuse"  # noqa: S105  # a kind of event


@dataclass(frozen=True, slots=True)
class EventKind:
    """`number` is what stands for the type in lists; `level` is the one it has unless it is configured."""

    number: int
    type: EventType
    level: Level


EVENT_KINDS = {
    kind.type: kind
    for kind in (
        EventKind(3, EventType.JWKS_ROTATED, Level.NOTICE),
        EventKind(11, EventType.SECRETS_MIGRATED, Level.NOTICE),
        EventKind(30, EventType.REFRESH_TOKEN_REUSE, Level.WARNING),
    )
}
