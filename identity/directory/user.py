"""A user account."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import NewType

from identity.directory.pending_registration import PendingRegistration
from identity.foundation.searches import ascii_lower, words_of
from identity.foundation.vocabulary import LATER_PERMISSIONS, Permission
from server.platform.call import TenantId
from server.platform.records import Kind, Record

UserId = NewType("UserId", str)

# The database derives the same text: migration 0054.
_NAME_CHARACTERS = 256

# Clients of the process API accept only such usernames in responses.
_USERNAME = re.compile(r"[A-Za-z0-9_@.+-]{1,256}")


class AccountType(StrEnum):
    """How the user authenticates."""

    NEW = "new"
    PASSWORD = "password"  # noqa: S105  # a kind of account
    PASSKEY = "passkey"
    FEDERATED = "federated"
    FEDERATED_PASSKEY = "federated_passkey"
    FEDERATED_PASSWORD = "federated_password"  # noqa: S105  # a kind of account


@dataclass(frozen=True, slots=True, kw_only=True)
class Provisioned:
    """Values of an account that come from a provisioning client; texts are empty without a value.

    `user_name` is spelled as the client spells it. `document` has the attributes that the provider does not use and
    returns to the client: JSON of a SCIM resource.
    """

    user_name: str = ""
    external_id: str = ""
    display_name: str = ""
    document: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class User(Record):
    """`id` is the subject of the user's tokens, unique over all tenants and never reused.

    `email` is in lower case. `values` are the standard claims without a member of their own: `birthdate`,
    `phone_number`, `street_address`, `postal_code`, `locality`, `country`, `zoneinfo`. `attributes` are the tenant's
    custom attributes, each as JSON. `picture_id` is the id of the picture, empty without one. The account is valid
    until `valid_until`, the password until `password_until`. `previous_password_hashes` are the hashes that must not be
    reused, newest first. `registration` is the unconfirmed registration. `unconfirmed_login_at` is
    the last sign-in with the address unconfirmed, since an administrator last changed the address or its confirmation.
    `provisioned` are the values that a provisioning client gave the account. Sessions and grants of the user that began
    before `not_before` are refused.
    """

    email: str
    is_email_verified: bool = False
    is_self_registered: bool = False
    preferred_username: str = ""
    given_name: str = ""
    family_name: str = ""
    language: str = "en"
    values: Mapping[str, str] = field(default_factory=dict)
    attributes: Mapping[str, str] = field(default_factory=dict)
    account_type: AccountType = AccountType.NEW
    password_hash: str = field(default="", repr=False)
    password_until: datetime | None = None
    previous_password_hashes: tuple[str, ...] = field(default=(), repr=False)
    has_passkey: bool = False
    has_one_time_codes: bool = False
    roles: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    tenant_ids: tuple[TenantId, ...] = ()
    permissions: tuple[Permission, ...] = ()
    is_enabled: bool = True
    created_at: datetime | None = None
    changed_at: datetime | None = None
    confirmed_at: datetime | None = None
    last_login_at: datetime | None = None
    unconfirmed_login_at: datetime | None = None
    valid_until: datetime | None = None
    picture_id: str = ""
    registration: PendingRegistration | None = None
    provisioned: Provisioned | None = None
    not_before: datetime | None = None

    @property
    def username(self) -> str:
        """The user's name in the process API, unique in the tenant, of letters, digits and `_@.+-`."""
        if self.preferred_username:
            return self.preferred_username
        return self.email if _USERNAME.fullmatch(self.email) else self.id

    @property
    def name(self) -> str | None:
        """First and last name, None without either."""
        return f"{self.given_name} {self.family_name}".strip(" ") or None

    @property
    def names(self) -> tuple[str, ...]:
        """The texts by which records of processes and events name the user, each once; the id is the first."""
        return tuple(
            dict.fromkeys(filter(None, (self.id, self.username, self.preferred_username, self.email)))
        )

    @property
    def words(self) -> frozenset[str]:
        """Texts by whose beginnings an administrator finds the user: address, username and names, whole and in parts."""
        return words_of(self.email, self.preferred_username, self.given_name, self.family_name)

    @property
    def provisioned_name(self) -> str:
        """The name that a provisioning client gave the account, in ASCII lower case, unique in the tenant; else empty."""
        return "" if self.provisioned is None else ascii_lower(self.provisioned.user_name)

    @property
    def account_name(self) -> str:
        """The name by which provisioning clients find the account, in ASCII lower case."""
        return self.provisioned_name or self.preferred_username or self.email

    @property
    def external_id(self) -> str | None:
        """The account's id at the provisioning client, None without one."""
        return (self.provisioned.external_id or None) if self.provisioned else None

    @property
    def display_name(self) -> str | None:
        """The display name from a provisioning client, else first and last name."""
        return (self.provisioned.display_name if self.provisioned else "") or self.name

    @property
    def display_name_key(self) -> str | None:
        """Its first 256 characters in ASCII lower case, by which provisioning clients find the account."""
        return None if self.display_name is None else ascii_lower(self.display_name)[:_NAME_CHARACTERS]

    @property
    def last_modified_at(self) -> datetime | None:
        return self.changed_at or self.created_at

    @property
    def user_id(self) -> UserId:
        return UserId(self.id)

    @property
    def has_second_factor(self) -> bool:
        return self.has_passkey or self.has_one_time_codes

    @property
    def must_confirm_email(self) -> bool:
        # Addresses of other accounts are confirmed by an administrator or an upstream provider.
        return self.is_self_registered and not self.is_email_verified

    @property
    def has_signed_in_unconfirmed(self) -> bool:
        """Whether a user with an unconfirmed address signed in with it, when the tenant required no confirmation."""
        if not self.must_confirm_email or self.last_login_at is None:
            return False
        if self.unconfirmed_login_at is not None:
            return True
        # Records of earlier versions do not show whether the address was confirmed at the last sign-in. It was not if no
        # administrator can have changed that since.
        return self.changed_at is None or self.changed_at < self.last_login_at

    def signed_in(self, at: datetime) -> "User":
        """Return the user with a sign-in at this time."""
        unconfirmed_login_at = at if self.must_confirm_email else None
        return replace(self, last_login_at=at, unconfirmed_login_at=unconfirmed_login_at)

    @property
    def has_no_way_in(self) -> bool:
        """Whether the account has neither password nor passkey nor upstream provider yet."""
        return self.account_type is AccountType.NEW and not self.password_hash

    @property
    def is_contested(self) -> bool:
        """Whether several forms registered the address, and none is confirmed."""
        return self.registration is not None and self.registration.is_contested

    def without_password(self) -> "User":
        """Return the user as a new account, without a password."""
        return replace(
            self,
            account_type=AccountType.NEW,
            password_hash="",
            password_until=None,
            previous_password_hashes=(),
        )

    @property
    def picture_path(self) -> str:
        """Path of the picture below the issuer; empty without a picture."""
        return f"users/{self.id}/picture/{self.picture_id}" if self.picture_id else ""

    def may_use(self, group_prefix: str) -> bool:
        """Whether the user may use clients with this prefix of groups, which is empty for all users."""
        return not group_prefix or any(group.startswith(group_prefix) for group in self.groups)

    def is_active(self, now: datetime) -> bool:
        return self.is_enabled and (self.valid_until is None or now < self.valid_until)


USERS = Kind(
    User,
    "user",
    unique=("email", "preferred_username", "provisioned_name"),
    indexed=("groups", "roles"),
    derived=(
        *("username", "name", "tenant_ids"),
        *("account_name", "external_id", "display_name_key", "is_enabled", "last_modified_at"),
    ),
    ordered=("name", "email"),
    words=("words",),
    later={"permissions": LATER_PERMISSIONS},
    owners=(),
)
