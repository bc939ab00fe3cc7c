"""A link in a mail to a user."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from identity.directory.user import UserId
from server.platform.records import Kind, Owner, Record


class Usage(StrEnum):
    """Purpose of a link."""

    CONFIRM_EMAIL = "confirm_email"
    CHANGE_EMAIL = "change_email"
    NEW_ACCOUNT = "new_account"
    RESET_PASSWORD = "reset_password"  # noqa: S105  # what a link is for
    REVOKE = "revoke"


@dataclass(frozen=True, slots=True, kw_only=True)
class Link(Record):
    """`id` is a keyed hash of the code, which only the mail has; `holder` combines user and usage.

    `value` depends on the usage. `binding` is a keyed hash of the cookie of the browser that opened the link first,
    empty before that.
    """

    user_id: UserId
    usage: Usage
    holder: str
    good_until: datetime
    value: str = ""
    binding: str = ""
    is_used: bool = False

    def is_good(self, now: datetime) -> bool:
        return not self.is_used and now < self.good_until


LINKS = Kind(Link, "link", indexed=("holder",), owners=(Owner("user", "user_id"),))
