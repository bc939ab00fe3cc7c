r"""Regular expressions, written as Java's, which FEEL takes from its first implementation.

This is the one place that knows an engine. Python's may backtrack for ever, so pattern and string are
bounded here, and an engine without backtracking can replace it here.
"""

import re
from functools import lru_cache

from server.feel.errors import InvocationError
from server.feel.limits import MAX_MATCHED_LENGTH, MAX_PATTERN_LENGTH
from server.feel.values import Value

_FLAGS = {"s": re.DOTALL, "m": re.MULTILINE, "i": re.IGNORECASE, "x": re.VERBOSE}
_REFERENCE = re.compile(r"\\(.)|\$(\d)", re.DOTALL)
_CACHED_PATTERNS = 512


def is_found(text: str, pattern: str, flags: str = "") -> bool:
    return _compiled(pattern, flags).search(_bounded(text)) is not None


def find_all(text: str, pattern: str) -> list[Value]:
    return [match[0] for match in _compiled(pattern, "").finditer(_bounded(text))]


def replace(text: str, pattern: str, replacement: str, flags: str = "") -> str:
    r"""In the replacement `$1` is a group and a backslash takes the next character as it is."""
    compiled = _compiled(pattern, flags)

    def written(match: re.Match[str]) -> str:
        return _REFERENCE.sub(lambda each: each[1] or match[int(each[2])] or "", replacement)

    try:
        return compiled.sub(written, _bounded(text))
    except IndexError as error:
        raise InvocationError(f"Invalid replacement '{replacement}'") from error


def split(text: str, delimiter: str) -> list[Value]:
    """Trailing empty strings stay."""
    pattern = _compiled(delimiter, "")
    pieces: list[Value] = []
    start = 0
    for match in pattern.finditer(_bounded(text)):
        if match.end() > 0:
            pieces.append(text[start : match.start()])
            start = match.end()
    return [*pieces, text[start:]]


def _bounded(text: str) -> str:
    if len(text) > MAX_MATCHED_LENGTH:
        raise InvocationError(f"a string of more than {MAX_MATCHED_LENGTH} characters")
    return text


@lru_cache(_CACHED_PATTERNS)
def _compiled(pattern: str, flags: str) -> re.Pattern[str]:
    if len(pattern) > MAX_PATTERN_LENGTH or not {*flags} <= _FLAGS.keys():
        raise InvocationError(f"Invalid pattern '{pattern[:40]}' with flags '{flags}'")
    try:
        return re.compile(pattern, sum(_FLAGS[flag] for flag in {*flags}))
    except (re.error, RecursionError, OverflowError) as error:
        raise InvocationError(f"Invalid pattern '{pattern}'") from error
