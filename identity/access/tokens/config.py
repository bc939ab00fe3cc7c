"""Lifetimes of tokens, also of those that a device gets."""

from dataclasses import dataclass
from datetime import timedelta

from identity.foundation.bounds import expect_within

_ACCESS_TOKEN_LIFETIME_SECS = range(10, 86_401)
LONGEST_ACCESS_TOKEN = timedelta(seconds=_ACCESS_TOKEN_LIFETIME_SECS[-1])


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenConfig:
    """[token]: default lifetimes of tokens.

    A refresh token is valid for `refresh_token_lifetime_hours` after it was issued. All tokens of one grant end after
    `refresh_family_lifetime_days`. A replaced refresh token stays valid for `refresh_grace_secs`, for clients that did
    not get the response. Within that time every use returns the same successor, so the reuse of a stolen token is
    detected that much later.
    """

    access_token_lifetime_secs: int = 1800
    refresh_token_lifetime_hours: int = 48
    refresh_family_lifetime_days: int = 30
    refresh_grace_secs: int = 5

    def __post_init__(self) -> None:
        if self.access_token_lifetime_secs not in _ACCESS_TOKEN_LIFETIME_SECS:
            raise ValueError(
                f"token.access_token_lifetime_secs: expected 10 to 86400, found {self.access_token_lifetime_secs}"
            )
        expect_within("token.refresh_token_lifetime_hours", self.refresh_token_lifetime_hours, 1, 8760)
        expect_within("token.refresh_family_lifetime_days", self.refresh_family_lifetime_days, 1, 365)
        expect_within("token.refresh_grace_secs", self.refresh_grace_secs, 0, 60)

    @property
    def access_token_lifetime(self) -> timedelta:
        return timedelta(seconds=self.access_token_lifetime_secs)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceGrantConfig:
    """[device_grant]: RFC 8628.

    `start_limit_secs` is the least time between two device authorizations from one network address, 0 for no limit.
    Refresh tokens of devices have their own lifetimes.
    """

    lifetime_secs: int = 300
    user_code_length: int = 8
    poll_interval_secs: int = 5
    start_limit_secs: int = 0
    refresh_lifetime_hours: int = 72
    refresh_family_lifetime_days: int = 90

    def __post_init__(self) -> None:
        expect_within("device_grant.lifetime_secs", self.lifetime_secs, 30, 3600)
        expect_within("device_grant.user_code_length", self.user_code_length, 8, 16)
        expect_within("device_grant.poll_interval_secs", self.poll_interval_secs, 1, 60)
        expect_within("device_grant.start_limit_secs", self.start_limit_secs, 0, 3600)
        expect_within("device_grant.refresh_lifetime_hours", self.refresh_lifetime_hours, 1, 8760)
        expect_within("device_grant.refresh_family_lifetime_days", self.refresh_family_lifetime_days, 1, 365)
