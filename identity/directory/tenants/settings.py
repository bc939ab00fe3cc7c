"""Settings of a tenant for sign-in and registration."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Self

from identity.foundation.vocabulary import SecurityProfile

_MOST_LINK_HOURS = 168
_MOST_UNCONFIRMED_DAYS = 3650
_MOST_GROUPS = 100
_MOST_GROUP_NAME = 64
_MOST_SUPPORT_MINUTES = 60


class EmailFirst(StrEnum):
    """Whether the sign-in page asks for the e-mail address first; `AUTO` does while a domain is verified."""

    AUTO = "auto"
    OFF = "off"


class EmailCodes(StrEnum):
    """Whether codes by e-mail are a second factor: for nobody new, for users who turn them on, or for all users.

    `REQUIRED` asks users with a password, a verified address and no other second factor.
    """

    OFF = "off"
    OPTIONAL = "optional"
    REQUIRED = "required"


class SignInNotice(StrEnum):
    """Sign-ins of which users are notified by mail: none, those with a new browser, or also those from a new address."""

    OFF = "off"
    NEW_DEVICE = "new_device"
    NEW_ADDRESS = "new_address"


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantSettings:
    """`profile` holds for all clients of the tenant. It is two fields, of which the version before knows the first.

    An unconfirmed account is removed after `unconfirmed_account_days`, never when that is 0. Administrators with the role
    `support_role` may act for `support_minutes` as users who allow it; nobody may when it is empty.
    Raises ValueError for a value out of bounds.
    """

    email_first: EmailFirst = EmailFirst.AUTO
    requires_email_confirmation: bool = True
    confirmation_link_hours: int = 24
    unconfirmed_account_days: int = 30
    default_groups: tuple[str, ...] = ()
    security_profile: SecurityProfile = SecurityProfile.NONE
    signs_messages: bool = False
    email_codes: EmailCodes = EmailCodes.OFF
    sign_in_notice: SignInNotice = SignInNotice.NEW_DEVICE
    support_role: str = ""
    support_minutes: int = 30

    @property
    def profile(self) -> SecurityProfile:
        return SecurityProfile.FAPI_2_MESSAGE_SIGNING if self.signs_messages else self.security_profile

    def with_profile(self, profile: SecurityProfile) -> Self:
        signs_messages = profile is SecurityProfile.FAPI_2_MESSAGE_SIGNING
        known = SecurityProfile.FAPI_2 if signs_messages else profile
        return replace(self, security_profile=known, signs_messages=signs_messages)

    def with_present(self, present: Self, names: Collection[str]) -> Self:
        """Return these settings with those of the names as they are at present."""
        kept = {name: getattr(present, name) for name in names}
        if "security_profile" in kept:
            kept["signs_messages"] = present.signs_messages
        return replace(self, **kept)

    def __post_init__(self) -> None:
        if not 1 <= self.confirmation_link_hours <= _MOST_LINK_HOURS:
            raise ValueError(f"confirmation_link_hours: expected 1 to {_MOST_LINK_HOURS}")
        if not 0 <= self.unconfirmed_account_days <= _MOST_UNCONFIRMED_DAYS:
            raise ValueError(f"unconfirmed_account_days: expected 0 to {_MOST_UNCONFIRMED_DAYS}")
        if not 1 <= self.support_minutes <= _MOST_SUPPORT_MINUTES:
            raise ValueError(f"sign_in.support_minutes: expected 1 to {_MOST_SUPPORT_MINUTES}")
        if len(self.default_groups) > _MOST_GROUPS:
            raise ValueError(f"registration.default_groups: expected {_MOST_GROUPS} at most")
        if not all(0 < len(group) <= _MOST_GROUP_NAME for group in self.default_groups):
            raise ValueError(
                f"registration.default_groups: expected names of 1 to {_MOST_GROUP_NAME} characters"
            )
