"""The section of the configuration file about events."""

from collections.abc import Mapping
from dataclasses import dataclass

from identity.events.kinds import EVENT_KINDS, EventType, Level


@dataclass(frozen=True, slots=True, kw_only=True)
class EventsConfig:
    """[events]: the level of each type of event: info, notice, warning or critical."""

    level_jwks_rotate: Level = EVENT_KINDS[EventType.JWKS_ROTATED].level
    level_secrets_migrated: Level = EVENT_KINDS[EventType.SECRETS_MIGRATED].level
    level_refresh_token_reuse: Level = EVENT_KINDS[EventType.REFRESH_TOKEN_REUSE].level

    @property
    def levels(self) -> Mapping[EventType, Level]:
        return {
            EventType.JWKS_ROTATED: self.level_jwks_rotate,
            EventType.SECRETS_MIGRATED: self.level_secrets_migrated,
            EventType.REFRESH_TOKEN_REUSE: self.level_refresh_token_reuse,
        }
