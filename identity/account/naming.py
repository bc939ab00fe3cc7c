"""What people call what is their own."""

import unicodedata

from server.platform.errors import InvalidArgument

_LONGEST = 32


def own_name(name: str, *, field: str) -> str:
    """Return a name in the form that equal names share, NFC; raises InvalidArgument, which tells the field."""
    normal = unicodedata.normalize("NFC", name).strip()
    if not 0 < len(normal) <= _LONGEST or not normal.isprintable():
        raise InvalidArgument(f"{field}: expected 1 to {_LONGEST} printable characters")
    return normal
