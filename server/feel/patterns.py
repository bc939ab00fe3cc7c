r"""Regular expressions: in the standard dialect those of XPath, in Camunda's dialect those of Java.

This is the one place that matches. The engine backtracks, so pattern, string and time are bounded here, and an
engine without backtracking can replace it here.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache

import regex

from server.feel import java_patterns
from server.feel.dialects import Syntax
from server.feel.errors import InvocationError, LimitExceededError
from server.feel.limits import MAX_MATCH_SECONDS, MAX_MATCHED_LENGTH, MAX_PATTERN_LENGTH
from server.feel.pattern_syntax import translated
from server.feel.values import Value

_FLAGS = {"s": regex.DOTALL, "m": regex.MULTILINE, "i": regex.IGNORECASE, "x": regex.VERBOSE}
_QUOTED = "q"
_REFERENCE = re.compile(r"\\(.)|\$(\d)", re.DOTALL)
_CACHED_PATTERNS = 512


def is_found(text: str, pattern: str, flags: str = "", *, syntax: Syntax) -> bool:
    with _in_time():
        return _compiled(pattern, flags, syntax).search(_bounded(text), timeout=MAX_MATCH_SECONDS) is not None


def find_all(text: str, pattern: str, *, syntax: Syntax) -> list[Value]:
    with _in_time():
        return [match[0] for match in _matches(text, pattern, syntax)]


def replace(text: str, pattern: str, replacement: str, flags: str = "", *, syntax: Syntax) -> str:
    r"""In the replacement `$1` is a group and a backslash takes the next character as it is."""
    compiled = _compiled(pattern, flags, syntax)

    def written(match: regex.Match[str]) -> str:
        if syntax == "java":
            return java_patterns.expanded(match, replacement)
        return _REFERENCE.sub(lambda each: each[1] or match[int(each[2])] or "", replacement)

    try:
        with _in_time():
            return compiled.sub(written, _bounded(text), timeout=MAX_MATCH_SECONDS)
    except IndexError as error:
        raise InvocationError(f"Invalid replacement '{replacement}'") from error


def split(text: str, delimiter: str, *, syntax: Syntax) -> list[Value]:
    """Trailing empty strings stay."""
    pieces: list[Value] = []
    start = 0
    with _in_time():
        for match in _matches(text, delimiter, syntax):
            if match.end() > 0:
                pieces.append(text[start : match.start()])
                start = match.end()
    return [*pieces, text[start:]]


def _matches(text: str, pattern: str, syntax: Syntax) -> Iterator[regex.Match[str]]:
    return _compiled(pattern, "", syntax).finditer(_bounded(text), timeout=MAX_MATCH_SECONDS)


@contextmanager
def _in_time() -> Iterator[None]:
    try:
        yield
    except TimeoutError as error:
        raise LimitExceededError(f"a pattern takes more than {MAX_MATCH_SECONDS} s to match") from error


def _bounded(text: str) -> str:
    if len(text) > MAX_MATCHED_LENGTH:
        raise InvocationError(f"a string of more than {MAX_MATCHED_LENGTH} characters")
    return text


@lru_cache(_CACHED_PATTERNS)
def _compiled(pattern: str, flags: str, syntax: Syntax) -> regex.Pattern[str]:
    if len(pattern) > MAX_PATTERN_LENGTH:
        raise InvocationError(
            f"Invalid pattern '{pattern[:40]}': longer than {MAX_PATTERN_LENGTH} characters"
        )
    try:
        return java_patterns.compiled(pattern, flags) if syntax == "java" else _xpath(pattern, flags)
    except (regex.error, RecursionError, OverflowError) as error:
        raise InvocationError(f"Invalid pattern '{pattern}'") from error


def _xpath(pattern: str, flags: str) -> regex.Pattern[str]:
    if not {*flags} <= {*_FLAGS, _QUOTED}:
        raise InvocationError(f"Invalid pattern '{pattern[:40]}' with flags '{flags}'")
    text = regex.escape(pattern) if _QUOTED in flags else translated(pattern)
    return regex.compile(text, sum(_FLAGS[flag] for flag in {*flags} - {_QUOTED}))
