"""The section of the configuration file about accounts."""

from dataclasses import dataclass

from identity.foundation.bounds import expect_within


@dataclass(frozen=True, slots=True, kw_only=True)
class UsersConfig:
    """[users]: self-service of users, and removal of expired accounts.

    With `registration_enabled` users create accounts themselves, which needs mail. They choose a username if
    `preferred_username_required` is set. A network address may register `registration_limit` times in an hour. With
    `self_delete` users can delete their own account. With `preferred_username_immutable` a user cannot change an
    existing username. With `username_sign_in` users sign in with their username, too. Names of
    `preferred_username_blacklist` cannot be chosen. An expired account is removed after `expired_account_days`, never
    when that is 0.
    """

    registration_enabled: bool = False
    registration_limit: int = 30
    preferred_username_required: bool = False
    self_delete: bool = False
    preferred_username_immutable: bool = True
    username_sign_in: bool = False
    preferred_username_blacklist: tuple[str, ...] = ("admin", "administrator", "root")
    expired_account_days: int = 0

    def __post_init__(self) -> None:
        expect_within("users.registration_limit", self.registration_limit, 1, 10_000)
        expect_within("users.expired_account_days", self.expired_account_days, 0, 3650)
