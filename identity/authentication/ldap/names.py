"""Names that users type, as values of search filters: RFC 4515.

A directory compares names after its own preparation (RFC 4518): spaces, character widths and invisible characters make no
difference to it. Login protection counts failures by the typed name, so a name that is spelled so is no name here.
Otherwise each spelling would have its own number of guesses.
"""

import re
import unicodedata

_MOST_CHARACTERS = 254
_PLAIN = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
_VISIBLE = frozenset("LMNPSZ")
# RFC 4518 §2.2: mapped to nothing, beside format and control characters.
_IGNORED = re.compile("[\u034f\u1806\u180b-\u180d\ufe00-\ufe0f\ufffc]")


def searched_name(typed: str) -> str | None:
    """Return the name to search for, None for a text that is no user's name."""
    name = typed.strip(" ")
    prepared = " ".join(unicodedata.normalize("NFKC", name).split())
    if not name or len(name) > _MOST_CHARACTERS or name != prepared or _IGNORED.search(name):
        return None
    return name if all(unicodedata.category(each)[0] in _VISIBLE for each in name) else None


def filled(filter_text: str, **values: str) -> str:
    """Return a filter with values for its placeholders, of which only letters and digits are not escaped."""
    for name, value in values.items():
        filter_text = filter_text.replace(f"{{{name}}}", _escaped(value))
    return filter_text


def _escaped(value: str) -> str:
    return "".join(chr(octet) if octet in _PLAIN else f"\\{octet:02x}" for octet in value.encode())
