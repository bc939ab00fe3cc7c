"""The section of the configuration file about logout."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class LogoutConfig:
    """[logout]: whether tokens end with their session, and the retries of logout tokens."""

    token_revoke_on_logout: bool = True
    attempts: int = 100
    timeout_secs: int = 5
    poll_interval_secs: int = 5
    most_at_a_time: int = 50

    def __post_init__(self) -> None:
        for name, value, most in (
            ("attempts", self.attempts, 1000),
            ("timeout_secs", self.timeout_secs, 30),
            ("poll_interval_secs", self.poll_interval_secs, 60),
            ("most_at_a_time", self.most_at_a_time, 500),
        ):
            if not 1 <= value <= most:
                raise ValueError(f"logout.{name}: expected 1 to {most}, found {value}")
