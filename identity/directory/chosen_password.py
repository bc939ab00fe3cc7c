"""A new password of a user, validated and hashed."""

from dataclasses import dataclass, field, replace
from datetime import datetime

from identity.directory.user import AccountType, User

_WITH_PASSWORD = {
    AccountType.NEW: AccountType.PASSWORD,
    AccountType.PASSKEY: AccountType.PASSWORD,
    AccountType.FEDERATED: AccountType.FEDERATED_PASSWORD,
    AccountType.FEDERATED_PASSKEY: AccountType.FEDERATED_PASSWORD,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenPassword:
    """`until` is its expiry; `remembered` is the number of earlier hashes to keep."""

    password_hash: str = field(repr=False)
    until: datetime | None
    remembered: int

    def of(self, user: User) -> User:
        """Return the user with this password."""
        before = tuple(filter(None, (user.password_hash, *user.previous_password_hashes)))
        return replace(
            user,
            password_hash=self.password_hash,
            password_until=self.until,
            previous_password_hashes=before[: self.remembered],
            account_type=_WITH_PASSWORD.get(user.account_type, user.account_type),
        )
