"""Account types before and after a link to an upstream provider."""

from collections.abc import Mapping

from identity.directory.user import AccountType, User

_LINKED: Mapping[AccountType, AccountType] = {
    AccountType.NEW: AccountType.FEDERATED,
    AccountType.PASSWORD: AccountType.FEDERATED_PASSWORD,
    AccountType.PASSKEY: AccountType.FEDERATED_PASSKEY,
}


def linked(user: User) -> AccountType:
    """Return the type of the account with a link."""
    return _LINKED.get(user.account_type, user.account_type)


def unlinked(user: User) -> AccountType:
    """Return the type of the account without any link."""
    if user.password_hash:
        return AccountType.PASSWORD
    return AccountType.PASSKEY if user.has_passkey else AccountType.NEW
