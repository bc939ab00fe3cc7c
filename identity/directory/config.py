"""The section of the configuration file about accounts."""

from dataclasses import dataclass

from identity.config import expect_within


@dataclass(frozen=True, slots=True, kw_only=True)
class UsersConfig:
    """[users]: what people may do with their account, and when one goes.

    With `registration_enabled` they make one themselves, which needs mail, and choose a username then where
    `preferred_username_required` says so; a network address does so `registration_limit` times in an hour. With
    `self_delete` they delete it themselves. Who has a preferred username keeps it while `preferred_username_immutable`,
    and nobody takes one of `preferred_username_blacklist`. An account that has ended is removed after
    `expired_account_days`, never when that is 0.
    """

    registration_enabled: bool = False
    registration_limit: int = 30
    preferred_username_required: bool = False
    self_delete: bool = False
    preferred_username_immutable: bool = True
    preferred_username_blacklist: tuple[str, ...] = ("admin", "administrator", "root")
    expired_account_days: int = 0

    def __post_init__(self) -> None:
        expect_within("users.registration_limit", self.registration_limit, 1, 10_000)
        expect_within("users.expired_account_days", self.expired_account_days, 0, 3650)
