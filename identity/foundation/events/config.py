"""The section of the configuration file about events."""

from collections.abc import Mapping
from dataclasses import dataclass

from identity.foundation.events.kinds import EVENT_KINDS, EventType, Level


@dataclass(frozen=True, slots=True, kw_only=True)
class EventsConfig:
    """[events]: the level of each type of event: info, notice, warning or critical.

    The issuance of a token is an event only with `generate_token_issued`.
    """

    level_jwks_rotate: Level = EVENT_KINDS[EventType.JWKS_ROTATED].level
    level_secrets_migrated: Level = EVENT_KINDS[EventType.SECRETS_MIGRATED].level
    level_refresh_token_reuse: Level = EVENT_KINDS[EventType.REFRESH_TOKEN_REUSE].level
    level_ip_blacklisted: Level = EVENT_KINDS[EventType.IP_BLACKLISTED].level
    level_cred_stuff: Level = EVENT_KINDS[EventType.CREDENTIAL_STUFFING].level
    level_backchannel_logout_failed: Level = EVENT_KINDS[EventType.BACK_CHANNEL_LOGOUT_FAILED].level
    level_force_logout: Level = EVENT_KINDS[EventType.FORCED_LOGOUT].level
    level_new_user: Level = EVENT_KINDS[EventType.NEW_USER_REGISTERED].level
    level_user_email_change: Level = EVENT_KINDS[EventType.USER_EMAIL_CHANGE].level
    level_user_password_reset: Level = EVENT_KINDS[EventType.USER_PASSWORD_RESET].level
    level_email_send_error: Level = EVENT_KINDS[EventType.EMAIL_SEND_ERROR].level
    level_user_login_revoke: Level = EVENT_KINDS[EventType.USER_LOGIN_REVOKE].level
    level_new_login_location: Level = EVENT_KINDS[EventType.LOGIN_NEW_LOCATION].level
    level_token_issued: Level = EVENT_KINDS[EventType.TOKEN_ISSUED].level
    generate_token_issued: bool = False

    @property
    def levels(self) -> Mapping[EventType, Level]:
        """Return the level of every type; a type without a key has the default level of its kind."""
        return {kind.type: kind.level for kind in EVENT_KINDS.values()} | {
            EventType.JWKS_ROTATED: self.level_jwks_rotate,
            EventType.SECRETS_MIGRATED: self.level_secrets_migrated,
            EventType.REFRESH_TOKEN_REUSE: self.level_refresh_token_reuse,
            EventType.IP_BLACKLISTED: self.level_ip_blacklisted,
            EventType.CREDENTIAL_STUFFING: self.level_cred_stuff,
            EventType.BACK_CHANNEL_LOGOUT_FAILED: self.level_backchannel_logout_failed,
            EventType.FORCED_LOGOUT: self.level_force_logout,
            EventType.NEW_USER_REGISTERED: self.level_new_user,
            EventType.USER_EMAIL_CHANGE: self.level_user_email_change,
            EventType.USER_PASSWORD_RESET: self.level_user_password_reset,
            EventType.EMAIL_SEND_ERROR: self.level_email_send_error,
            EventType.USER_LOGIN_REVOKE: self.level_user_login_revoke,
            EventType.LOGIN_NEW_LOCATION: self.level_new_login_location,
            EventType.TOKEN_ISSUED: self.level_token_issued,
        }
