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

FUNCTIONS_MEANT: Final[Mapping[str, str]] = {
    "length": "count",
    "len": "count",
    "size": "count",
    "strlen": "string length",
    "average": "mean",
    "avg": "mean",
    "push": "append",
    "lower": "lower case",
    "tolower": "lower case",
    "upper": "upper case",
    "toupper": "upper case",
    "int": "number",
    "float": "number",
    "str": "string",
    "coalesce": "get or else",
    "nvl": "get or else",
}
"""Builtins of FEEL by what other languages call them, in lower case."""

_MIN_LIKENESS: Final = 0.7
_MAX_NAME_LENGTH: Final = 40


def nearest(name: str, candidates: Iterable[str]) -> str | None:
    """The candidate that a misspelt name stands for; upper and lower case are alike."""
    found = get_close_matches(name[:_MAX_NAME_LENGTH].lower(), [*candidates], 1, _MIN_LIKENESS)
    return found[0] if found else None
