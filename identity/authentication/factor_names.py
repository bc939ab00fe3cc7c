"""Names that users give to their own passkeys and code generators."""

import unicodedata

from server.platform.errors import InvalidArgument

_LONGEST = 32


def own_name(name: str, *, field: str) -> str:
    """Return the name in normalization form NFC; raises InvalidArgument, which names the field."""
    normal = unicodedata.normalize("NFC", name).strip()
    if not 0 < len(normal) <= _LONGEST or not normal.isprintable():
        raise InvalidArgument(f"{field}: expected 1 to {_LONGEST} printable characters")
    return normal
