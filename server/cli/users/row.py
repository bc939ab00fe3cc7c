"""An account in an import file."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import BinaryIO, Literal

from gnomon.identity.v1.user_transfer_service_pb2 import TransferredUser

_LONGEST_NAME = 80


@dataclass(frozen=True, slots=True)
class Row:
    """An account with its position in the file: `place` counts lines or accounts from 1.

    An account that cannot be sent has a `reason` instead of a `user`.
    """

    place: int
    name: str
    user: TransferredUser | None = None
    reason: str = ""

    @classmethod
    def refused(cls, place: int, name: str, reason: str) -> "Row":
        return cls(place, shown(name), reason=reason)

    @classmethod
    def of(cls, place: int, name: str, user: TransferredUser) -> "Row":
        return cls(place, shown(name), user)


Reader = Callable[[BinaryIO], Iterator[Row]]


class UnreadableFile(Exception):
    """The file is not in the expected format; the message says where."""


class Part(StrEnum):
    """Parts of an account that an import can leave out."""

    USERNAMES = "usernames"
    GROUPS = "groups"
    ROLES = "roles"
    ATTRIBUTES = "attributes"
    LINKS = "links"
    GENERATORS = "generators"
    PASSWORDS = "passwords"  # the name of a part


_FIELDS: Mapping[Part, Literal["groups", "roles", "attributes", "links", "generators"]] = {
    Part.GROUPS: "groups",
    Part.ROLES: "roles",
    Part.ATTRIBUTES: "attributes",
    Part.LINKS: "links",
    Part.GENERATORS: "generators",
}


def leave_out(part: Part, user: TransferredUser) -> None:
    """Remove a part of an account; removing the password also removes authenticator apps."""
    if part is Part.USERNAMES:
        user.user_values.ClearField("preferred_username")
    elif part is Part.PASSWORDS:
        user.ClearField("password_hash")
        user.ClearField("generators")
    else:
        user.ClearField(_FIELDS[part])


def shown(name: str) -> str:
    """Return a name without control characters, cut for one line of a report."""
    return "".join(letter for letter in name if letter.isprintable())[:_LONGEST_NAME]
