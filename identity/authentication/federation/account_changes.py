"""Changes of an account for whose user an upstream provider or a directory vouches."""

from collections.abc import Collection, Iterable
from dataclasses import replace
from datetime import datetime
from typing import Protocol

from identity.authentication.federation.account_types import linked
from identity.directory.user import AccountType, User


class LabelMapping(Protocol):
    """A mapping that gives roles and groups."""

    @property
    def roles(self) -> tuple[str, ...]: ...

    @property
    def groups(self) -> tuple[str, ...]: ...


def vouched_for(user: User, now: datetime) -> User:
    """Return the account with a link. Without a verified address it loses its credentials, which may be a stranger's."""
    if user.is_email_verified:
        return replace(user, account_type=linked(user))
    return replace(
        user,
        is_email_verified=True,
        confirmed_at=now,
        password_hash="",
        registration=None,
        has_passkey=False,
        account_type=AccountType.FEDERATED,
    )


def with_labels(
    user: User, mappings: Iterable[LabelMapping], *, roles: Collection[str], groups: Collection[str]
) -> User:
    """Return the user with these roles and groups in place of all that the mappings may give; other labels stay."""
    managed = tuple(mappings)
    return replace(
        user,
        roles=_with(user.roles, managed={role for each in managed for role in each.roles}, given=roles),
        groups=_with(user.groups, managed={name for each in managed for name in each.groups}, given=groups),
    )


def _with(names: Iterable[str], *, managed: Collection[str], given: Collection[str]) -> tuple[str, ...]:
    return (*(name for name in names if name not in managed), *sorted(given))
