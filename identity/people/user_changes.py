"""A change of a user's account by an administrator, and its validation.

None leaves a member unchanged; an empty text removes it.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial

from identity.directory.user import Provisioned, User
from identity.people import names

VALUES: Mapping[str, Callable[[str], str]] = {
    "birthdate": names.birthdate,
    "phone_number": names.phone,
    "street_address": names.value,
    "postal_code": names.value,
    "locality": names.value,
    "country": names.value,
    "zoneinfo": names.value,
}


@dataclass(frozen=True, slots=True)
class NeverExpires:
    """The account has no expiry."""


NEVER_EXPIRES = NeverExpires()


@dataclass(frozen=True, slots=True, kw_only=True)
class UserChange:
    """The user joins and leaves groups in addition to the present ones, or to those in `groups`."""

    email: str | None = None
    preferred_username: str | None = None
    given_name: str | None = None
    family_name: str | None = None
    language: str | None = None
    values: Mapping[str, str] = field(default_factory=dict)
    password: str | None = field(default=None, repr=False)
    roles: tuple[str, ...] | None = None
    groups: tuple[str, ...] | None = None
    joins: tuple[str, ...] = ()
    leaves: tuple[str, ...] = ()
    is_enabled: bool | None = None
    is_email_verified: bool | None = None
    valid_until: datetime | NeverExpires | None = None
    provisioned: Provisioned | None = None


@dataclass(frozen=True, slots=True)
class Labelled:
    """Existing roles and groups, and usernames that cannot be chosen."""

    roles: Collection[str]
    groups: Collection[str]
    reserved_usernames: Collection[str] = ()


def applied(change: UserChange, user: User, *, labelled: Labelled, now: datetime) -> User:
    """Return the changed user, with the password unchanged; raises InvalidArgument."""
    changed = replace(
        user,
        email=_email(change.email, user.email),
        preferred_username=_text(
            change.preferred_username,
            user.preferred_username,
            partial(names.username, reserved=labelled.reserved_usernames),
        ),
        given_name=_text(change.given_name, user.given_name, names.person),
        family_name=_text(change.family_name, user.family_name, names.person),
        language=_text(change.language, user.language, names.language) or "en",
        values=_values(change.values, user.values),
        is_enabled=user.is_enabled if change.is_enabled is None else change.is_enabled,
        valid_until=_end(change.valid_until, user.valid_until),
        changed_at=now,
        provisioned=user.provisioned if change.provisioned is None else change.provisioned,
    )
    return _without_links(user, _confirmed(_with_labels(changed, change, labelled), change, now))


def _with_labels(user: User, change: UserChange, labelled: Labelled) -> User:
    """Replace roles and groups; a name that the user already has may stay even if the label is gone."""
    roles, groups = user.roles, user.groups
    if change.roles is not None:
        roles = names.among(change.roles, {*labelled.roles, *roles}, what="roles")
    if change.groups is not None:
        groups = names.among(change.groups, {*labelled.groups, *groups}, what="groups")
    if change.joins or change.leaves:
        joined = names.among(change.joins, labelled.groups, what="groups")
        left = frozenset(change.leaves)
        groups = tuple(dict.fromkeys(name for name in (*groups, *joined) if name not in left))
    return replace(user, roles=roles, groups=groups)


def _confirmed(user: User, change: UserChange, now: datetime) -> User:
    match change.is_email_verified:
        case None:
            return user
        case False:
            return replace(user, is_email_verified=False, confirmed_at=None)
        case True:
            confirmed_at = user.confirmed_at if user.is_email_verified else now
            return replace(user, is_email_verified=True, confirmed_at=confirmed_at)


def _without_links(before: User, after: User) -> User:
    """Invalidate links to the address when an administrator changes the address or its confirmation.

    A contested account loses its password, because it is unknown which of the registered passwords is the owner's.
    """
    if (after.email, after.is_email_verified) == (before.email, before.is_email_verified):
        return after
    decided = replace(after, registration=None, unconfirmed_login_at=None)
    return decided.without_password() if before.is_contested else decided


def _values(changes: Mapping[str, str], values: Mapping[str, str]) -> Mapping[str, str]:
    checked = {name: _text(text, values.get(name, ""), VALUES[name]) for name, text in changes.items()}
    return {name: text for name, text in {**values, **checked}.items() if text}


def _end(change: datetime | NeverExpires | None, before: datetime | None) -> datetime | None:
    match change:
        case None:
            return before
        case NeverExpires():
            return None
        case datetime():
            return change


def _email(change: str | None, before: str) -> str:
    """Return the address; one that is stored already is not checked again."""
    return before if change is None or change.strip(" ").lower() == before else names.email(change)


def _text(change: str | None, before: str, checked: Callable[[str], str]) -> str:
    """Return the value; one that is stored already is not checked again, because rules were different before."""
    if change is None or change == before:
        return before
    return checked(change) if change else ""
