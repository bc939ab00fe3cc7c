"""Validation of names and values that administrators submit, for every script.

Each function raises InvalidArgument with a message that does not repeat the input.
"""

import re
import unicodedata
from collections.abc import Collection
from datetime import date

from identity.directory.users import email_key
from server.platform.errors import InvalidArgument

# Two dots cannot be a segment of a path.
_LABEL = re.compile(r"(?!\.\.$)[A-Za-z0-9\-_/,:*.~@+]{2,64}")
_GROUP = re.compile(r"(?!\.\.$)[A-Za-z0-9\-_/,:*.~@+ ]{2,64}")
_ATTRIBUTE = re.compile(r"[A-Za-z0-9\-_/]{2,32}")
_EMAIL = re.compile(r"[^\s@\x00-\x1f\x7f<>()\[\],;:\\\"]{1,64}@[A-Za-z0-9.-]{1,253}")
_USERNAME = re.compile(r"[a-z0-9][a-z0-9._-]{1,62}")
_LANGUAGE = re.compile(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})?")
_PHONE = re.compile(r"\+[0-9]{1,32}")
_PRINTABLE = re.compile(r"[^\x00-\x1f\x7f]{1,64}")

_MOST_LETTERS = 64
_MOST_OF_ADDRESS = 254

# General categories of letters, marks and the space. Bidirectional controls belong to another category.
_OF_NAMES = frozenset({"Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Zs"})
# The typographic apostrophe is allowed as well.
_ALSO_OF_NAMES = frozenset("-'\N{RIGHT SINGLE QUOTATION MARK}.")


def label(text: str) -> str:
    return _expect(_LABEL, text, "a name: 2 to 64 letters, digits and -_/,:*.~@+, and not two dots")


def group(text: str) -> str:
    return _expect(_GROUP, text, "a group: 2 to 64 letters, digits, spaces and -_/,:*.~@+, and not two dots")


def attribute(text: str) -> str:
    return _expect(_ATTRIBUTE, text, "an attribute: 2 to 32 letters, digits and -_/")


def email(text: str) -> str:
    """Return an e-mail address in its stored form."""
    if len(text) > _MOST_OF_ADDRESS:
        raise InvalidArgument(f"email: expected at most {_MOST_OF_ADDRESS} characters")
    return _expect(_EMAIL, email_key(text), "email: an address")


def person(text: str) -> str:
    """Return a name in Unicode normalization form NFC."""
    name = unicodedata.normalize("NFC", text.strip())
    if len(name) > _MOST_LETTERS or not all(map(_is_of_names, name)):
        raise InvalidArgument("expected a name: at most 64 letters, spaces, hyphens and apostrophes")
    return name


def person_like(text: str) -> str:
    """Return the letters of a text that names may contain, truncated to the length of a name; empty without any."""
    letters = (letter for letter in unicodedata.normalize("NFC", text) if _is_of_names(letter))
    return "".join(letters).strip()[:_MOST_LETTERS].strip()


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
    return _expect(_PRINTABLE, text, "at most 64 printable characters")


def among(names: Collection[str], known: Collection[str], *, what: str) -> tuple[str, ...]:
    """Return the names without repetitions; raises InvalidArgument for a name that is not in `known`."""
    if not set(names) <= set(known):
        raise InvalidArgument(f"{what}: expected existing ones, found an unknown one")
    return tuple(dict.fromkeys(names))


def _is_of_names(letter: str) -> bool:
    return unicodedata.category(letter) in _OF_NAMES or letter in _ALSO_OF_NAMES


def _expect(pattern: re.Pattern[str], text: str, what: str) -> str:
    if pattern.fullmatch(text) is None:
        raise InvalidArgument(f"expected {what}")
    return text
