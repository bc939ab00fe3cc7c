"""Sections of the configuration file about sessions."""

from dataclasses import dataclass
from datetime import timedelta

_SECS = range(60, 31_536_001)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionLifetimes:
    """[lifetimes]: the longest life of a session, and the time after which an unused one ends."""

    session_lifetime_secs: int = 14_400
    session_timeout_secs: int = 5_400

    def __post_init__(self) -> None:
        for name, secs in (
            ("session_lifetime_secs", self.session_lifetime_secs),
            ("session_timeout_secs", self.session_timeout_secs),
        ):
            if secs not in _SECS:
                raise ValueError(f"lifetimes.{name}: expected 60 to 31536000, found {secs}")

    @property
    def session_lifetime(self) -> timedelta:
        return timedelta(seconds=self.session_lifetime_secs)

    @property
    def session_timeout(self) -> timedelta:
        return timedelta(seconds=self.session_timeout_secs)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionConfig:
    """[sessions]: whether a session is valid only at the network address at which it began.

    With `check_session_iframe` pages of clients learn from a frame of the provider whether the session has changed.
    """

    validate_address: bool = False
    check_session_iframe: bool = False
