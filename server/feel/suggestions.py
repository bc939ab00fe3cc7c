"""Suggestions of correct names for unknown ones, for messages."""

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
"""FEEL's literals by their spelling in other languages, in lower case."""

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
"""FEEL's builtins by their names in other languages, in lower case."""

_MIN_LIKENESS: Final = 0.7
_MAX_NAME_LENGTH: Final = 40


def nearest(name: str, candidates: Iterable[str]) -> str | None:
    """Return the candidate that is most similar to a misspelt name, ignoring case."""
    found = get_close_matches(name[:_MAX_NAME_LENGTH].lower(), [*candidates], 1, _MIN_LIKENESS)
    return found[0] if found else None
