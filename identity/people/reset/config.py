"""[password_reset]: links by which users set a password."""

from dataclasses import dataclass
from datetime import timedelta

from identity.foundation.bounds import expect_within

_LINK_MINUTES = (5, 1440)
_FIRST_LINK_MINUTES = (60, 43_200)
_LETTER_MINUTES = (0, 1440)
_ATTEMPTS = (1, 100)
_POLL_SECS = (1, 60)
_AT_A_TIME = (1, 500)


@dataclass(frozen=True, slots=True, kw_only=True)
class PasswordResetConfig:
    """Lifetimes of links: `link_minutes` to reset a password, `first_link_minutes` to set a first one.

    An address gets one mail in `letter_interval_minutes`. A link belongs to the browser that opens it first. Where a
    program opens links before users do, such as a mail scanner, set `binds_first_browser = false`: the link then
    belongs to the browser that opened it last. Requests are handled every `poll_interval_secs`.
    """

    link_minutes: int = 30
    first_link_minutes: int = 4320
    letter_interval_minutes: int = 5
    binds_first_browser: bool = True
    attempts: int = 10
    poll_interval_secs: int = 1
    most_at_a_time: int = 50

    def __post_init__(self) -> None:
        expect_within("password_reset.link_minutes", self.link_minutes, *_LINK_MINUTES)
        expect_within("password_reset.first_link_minutes", self.first_link_minutes, *_FIRST_LINK_MINUTES)
        expect_within(
            "password_reset.letter_interval_minutes", self.letter_interval_minutes, *_LETTER_MINUTES
        )
        expect_within("password_reset.attempts", self.attempts, *_ATTEMPTS)
        expect_within("password_reset.poll_interval_secs", self.poll_interval_secs, *_POLL_SECS)
        expect_within("password_reset.most_at_a_time", self.most_at_a_time, *_AT_A_TIME)

    @property
    def link_lifetime(self) -> timedelta:
        return timedelta(minutes=self.link_minutes)

    @property
    def first_link_lifetime(self) -> timedelta:
        return timedelta(minutes=self.first_link_minutes)

    @property
    def letter_interval(self) -> timedelta:
        return timedelta(minutes=self.letter_interval_minutes)
