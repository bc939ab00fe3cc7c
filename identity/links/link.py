"""A link in a letter to a person."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from identity.directory.user import UserId
from server.platform.records import Kind, Record


class Usage(StrEnum):
    """What a link is for."""

    CONFIRM_EMAIL = "confirm_email"
    CHANGE_EMAIL = "change_email"
    NEW_ACCOUNT = "new_account"
    RESET_PASSWORD = "reset_password"  # noqa: S105  # what a link is for
    REVOKE = "revoke"


@dataclass(frozen=True, slots=True, kw_only=True)
class Link(Record):
    """`id` is a keyed hash of the code that is in the letter alone; `holder` is whose it is and what for.

    `value` is what the usage needs; `binding` is a keyed hash of what the browser has that opened it first, empty before.
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


LINKS = Kind(Link, "link", indexed=("holder",))
