"""Validation of names and values that administrators submit, for every script.

Each function raises InvalidArgument with a message that does not repeat the input.
"""

import re
from collections.abc import Collection
from datetime import date

from identity.foundation.mail_address import mail_address
from identity.foundation.visible_text import visible_name
from server.platform.errors import InvalidArgument

# Two dots cannot be a segment of a path.
_LABEL = re.compile(r"(?!\.\.$)[A-Za-z0-9\-_/,:*.~@+]{2,64}")
_GROUP = re.compile(r"(?!\.\.$)[A-Za-z0-9\-_/,:*.~@+ ]{2,64}")
_ATTRIBUTE = re.compile(r"[A-Za-z0-9\-_/]{2,32}")
_USERNAME = re.compile(r"[a-z0-9][a-z0-9._-]{1,62}")
_LANGUAGE = re.compile(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})?")
_PHONE = re.compile(r"\+[0-9]{1,32}")

_MOST_CHARACTERS = 64


def label(text: str) -> str:
    return _expect(_LABEL, text, "a name: 2 to 64 letters, digits and -_/,:*.~@+, and not two dots")


def group(text: str) -> str:
    return _expect(_GROUP, text, "a group: 2 to 64 letters, digits, spaces and -_/,:*.~@+, and not two dots")


def attribute(text: str) -> str:
    return _expect(_ATTRIBUTE, text, "an attribute: 2 to 32 letters, digits and -_/")


def email(text: str) -> str:
    """Return an e-mail address in its stored form."""
    address = mail_address(text)
    if not address:
        raise InvalidArgument("email: expected an address of at most 254 visible characters")
    return address


def person(text: str) -> str:
    """Return a name as people have it, in Unicode normalization form NFC and with single spaces."""
    return _visible(text, "a name")


def username(text: str, reserved: Collection[str]) -> str:
    name = _expect(_USERNAME, text, "preferred_username: 2 to 63 of a-z, 0-9, dots, hyphens and underscores")
    if name in reserved:
        raise InvalidArgument("preferred_username: the name is reserved")
    return name


def language(text: str) -> str:
    return _expect(_LANGUAGE, text, "language: a tag like en or pt-BR")


def phone(text: str) -> str:
    return _expect(_PHONE, text, "phone: a plus sign and up to 32 digits")


def birthdate(text: str) -> str:
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError as error:
        raise InvalidArgument("birthdate: expected year-month-day") from error


def value(text: str) -> str:
    return _visible(text, "a text")


def among(names: Collection[str], known: Collection[str], *, what: str) -> tuple[str, ...]:
    """Return the names without repetitions; raises InvalidArgument for a name that is not in `known`."""
    if not set(names) <= set(known):
        raise InvalidArgument(f"{what}: expected existing ones, found an unknown one")
    return tuple(dict.fromkeys(names))


def _visible(text: str, what: str) -> str:
    found = visible_name(text)
    if found is None or len(found) > _MOST_CHARACTERS:
        raise InvalidArgument(f"expected {what} of at most {_MOST_CHARACTERS} visible characters")
    return found


def _expect(pattern: re.Pattern[str], text: str, what: str) -> str:
    if pattern.fullmatch(text) is None:
        raise InvalidArgument(f"expected {what}")
    return text
