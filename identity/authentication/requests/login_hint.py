"""Validation of `login_hint` as an e-mail address that can be shown in a page."""

import re
import unicodedata

_MAX_LENGTH = 254
_REFUSED = re.compile(r"[\s<>]")


def login_hint(text: str) -> str:
    """Return the hint if it is an e-mail address, else an empty text."""
    local, at, domain = text.partition("@")
    is_address = bool(local and at and domain) and "@" not in domain and len(text) <= _MAX_LENGTH
    is_plain = _REFUSED.search(text) is None and not any(map(_is_control, text))
    return text if is_address and is_plain else ""


def _is_control(character: str) -> bool:
    # Format characters can change the direction of the following text.
    return unicodedata.category(character) in {"Cc", "Cf", "Zl", "Zp"}
