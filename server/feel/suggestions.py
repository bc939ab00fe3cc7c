"""The name that was probably meant by one that is not there: for messages."""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Final

LITERALS_MEANT: Final[Mapping[str, str]] = {
    "true": "true",
    "false": "false",
    "null": "null",
    "nil": "null",
    "none": "null",
    "undefined": "null",
}
"""Literals of FEEL by how other languages write them, in lower case."""

_MIN_LIKENESS: Final = 0.7
_MAX_NAME_LENGTH: Final = 40


def nearest(name: str, candidates: Iterable[str]) -> str | None:
    """The candidate that a misspelt name stands for; upper and lower case are alike."""
    found = get_close_matches(name[:_MAX_NAME_LENGTH].lower(), [*candidates], 1, _MIN_LIKENESS)
    return found[0] if found else None
