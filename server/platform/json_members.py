"""Members that an object of a JSON text has twice: RFC 8259 §4 leaves open which of them counts.

Parsers take the first or the last one, so what one program checked is not what another one does.
"""

import json
from typing import Any

import orjson

_QUOTE, _ESCAPED_QUOTE = b'"', b"\\u0022"


class RepeatedMember(ValueError):  # the name says what is wrong
    """`name` is the member that an object has twice."""

    def __init__(self, name: str) -> None:
        super().__init__("expected each member of an object once")
        self.name = name


def expect_unique_members(text: bytes) -> None:
    """Expect valid JSON in UTF-8 whose objects, at any depth, have each member once; raises RepeatedMember.

    Raises RecursionError if it is nested too deeply.
    """
    if not _is_known_unique(text):
        _DECODER.decode(text.decode())


def _is_known_unique(text: bytes) -> bool:
    """Whether the text has as many quotation marks as without repeated members; False if that cannot be said."""
    if _ESCAPED_QUOTE in text:
        return False
    try:
        written = orjson.dumps(orjson.loads(text))
    except (orjson.JSONDecodeError, orjson.JSONEncodeError):
        return False
    return written.count(_QUOTE) == text.count(_QUOTE)


def _checked(members: list[tuple[str, Any]]) -> None:
    names = set()
    for name, _ in members:
        if name in names:
            raise RepeatedMember(name)
        names.add(name)


# Numbers stay texts: their conversion has bounds, and is not needed.
_DECODER = json.JSONDecoder(object_pairs_hook=_checked, parse_int=str, parse_float=str, strict=False)
