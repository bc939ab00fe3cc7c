"""Converts `$like` patterns to SQL LIKE patterns."""

import re
from collections.abc import Sequence
from itertools import takewhile

# An escaped character or any character; see server.platform.query.like.
_PART = re.compile(r"\\[*?\\]|.", re.DOTALL)
_WILDCARDS = {"*": "%", "?": "_"}
_SPECIAL = re.compile(r"[%_\\]")


def like_pattern(pattern: str) -> str:
    """Return the equivalent LIKE pattern."""
    parts: list[str] = _PART.findall(pattern)
    return "".join(_WILDCARDS.get(part) or _literal(part[-1]) for part in parts)


def start_pattern(pattern: str, length: int) -> str | None:
    """Return the LIKE pattern of the first `length` characters of every match; None if they can be any."""
    parts: list[str] = _PART.findall(pattern)
    start = _literals(parts)[:length]
    return "".join(map(_literal, start)) + "%" if start else None


def _literals(parts: Sequence[str]) -> Sequence[str]:
    """Return the characters before the first wildcard."""
    return [part[-1] for part in takewhile(lambda part: part not in _WILDCARDS, parts)]


def _literal(character: str) -> str:
    return _SPECIAL.sub(r"\\\g<0>", character)
