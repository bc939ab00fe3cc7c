"""Constants as most cells of decision tables write them, recognized without FEEL's parser.

The parser reads each of these texts as the same value; it takes fifty times as long.
"""

import re
from typing import Final

from server.feel import MISSING, Missing, Value, decimals

BLANK: Final = r"[ \t\r\n]*"
NUMBER: Final = rf"-?{BLANK}[0-9]{{1,30}}(?:\.[0-9]{{1,30}})?"
STRING: Final = r'"[^"\\]*"'
MAX_LENGTH: Final = 1_000
"""Characters of a text that is looked at."""

_CONSTANT = re.compile(rf"{BLANK}({NUMBER}|{STRING}|true|false|null){BLANK}")
_WORDS: Final = {"true": True, "false": False, "null": None}


def constant_of(text: str) -> Value | Missing:
    """The value of a number, a string without escapes, a boolean or null; MISSING for any other text."""
    match = _CONSTANT.fullmatch(text) if len(text) <= MAX_LENGTH else None
    return MISSING if match is None else value_of(match[1])


def value_of(written: str) -> Value:
    """Read what the patterns match."""
    if written[0] == '"':
        return written[1:-1]
    if written in _WORDS:
        return _WORDS[written]
    if written.isdecimal():
        return int(written)  # of few digits
    if written[0] == "-":
        return decimals.subtract(0, decimals.parse_number(written[1:].lstrip()))
    return decimals.parse_number(written)
