"""The section of the configuration file about backchannel authentication."""

from dataclasses import dataclass

from identity.foundation.bounds import expect_within


@dataclass(frozen=True, slots=True, kw_only=True)
class BackchannelConfig:
    """[backchannel_authentication]: CIBA Core 1.0.

    A request waits for its user for `lifetime_secs`, unless the client asks for another time, `longest_lifetime_secs` at
    most. A client has `open_requests` to one user at most, and all clients together `open_requests_of_user`.
    """

    lifetime_secs: int = 300
    longest_lifetime_secs: int = 900
    poll_interval_secs: int = 5
    open_requests: int = 3
    open_requests_of_user: int = 10

    def __post_init__(self) -> None:
        expect_within("backchannel_authentication.lifetime_secs", self.lifetime_secs, 30, 3600)
        expect_within(
            "backchannel_authentication.longest_lifetime_secs",
            self.longest_lifetime_secs,
            self.lifetime_secs,
            3600,
        )
        expect_within("backchannel_authentication.poll_interval_secs", self.poll_interval_secs, 1, 60)
        expect_within("backchannel_authentication.open_requests", self.open_requests, 1, 20)
        expect_within("backchannel_authentication.open_requests_of_user", self.open_requests_of_user, 1, 50)
