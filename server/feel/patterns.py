r"""Regular expressions: XPath's in the standard dialect, Java's in Camunda's dialect.

Only this module runs regular expressions. The `regex` library backtracks, so pattern, string and time are limited
here.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache

import regex

from server.feel import java_patterns, xpath_patterns
from server.feel.dialects import Syntax
from server.feel.errors import InvocationError, LimitExceededError
from server.feel.limits import MAX_MATCH_SECONDS, MAX_MATCHED_LENGTH, MAX_PATTERN_LENGTH
from server.feel.values import Value

_FLAGS = frozenset("smixq")
_QUOTED = "q"
_CACHED_PATTERNS = 512


def is_found(text: str, pattern: str, flags: str = "", *, syntax: Syntax) -> bool:
    with _in_time():
        return _compiled(pattern, flags, syntax).search(_bounded(text), timeout=MAX_MATCH_SECONDS) is not None


def find_all(text: str, pattern: str, *, syntax: Syntax) -> list[Value]:
    with _in_time():
        return [match[0] for match in _matches(_compiled(pattern, "", syntax), text)]


def replaced(text: str, pattern: str, replacement: str, flags: str = "", *, syntax: Syntax) -> Iterator[str]:
    """Yield the pieces of the new string, whose total length is not limited here."""
    compiled = _compiled(pattern, flags, syntax)
    if syntax == "xpath":
        _expect_more_than_nothing(compiled, pattern)
    parts: Sequence[str | int] | None = None
    start = 0
    with _in_time():
        for match in _matches(compiled, text):
            yield text[start : match.start()]
            if parts is None:
                parts = _parts(replacement, compiled, flags, syntax)
            for part in parts:
                yield part if isinstance(part, str) else match[part] or ""
            start = match.end()
    yield text[start:]


def _parts(replacement: str, compiled: regex.Pattern[str], flags: str, syntax: Syntax) -> Sequence[str | int]:
    """Return texts and group numbers, which stand for the groups' texts."""
    if syntax == "java":
        return [part for part in java_patterns.parts(replacement, compiled) if part != ""]
    if _QUOTED in flags:
        return [replacement]
    return [part for part in xpath_patterns.parts(replacement, compiled) if part != ""]


def _expect_more_than_nothing(compiled: regex.Pattern[str], pattern: str) -> None:
    """Refuse a pattern that matches the empty string (F&O 3.1 §5.6.4 and §5.6.5)."""
    if compiled.search("", timeout=MAX_MATCH_SECONDS):
        raise InvocationError(f"Invalid pattern '{pattern}': it matches the empty string")


def split(text: str, delimiter: str, *, syntax: Syntax) -> list[Value]:
    """Split a string; trailing empty strings are kept."""
    pieces: list[Value] = []
    start = 0
    with _in_time():
        for match in _matches(_compiled(delimiter, "", syntax), text):
            if match.end() > 0:
                pieces.append(text[start : match.start()])
                start = match.end()
    return [*pieces, text[start:]]


def _matches(compiled: regex.Pattern[str], text: str) -> Iterator[regex.Match[str]]:
    """Yield matches as Java does: after an empty match, no other match begins at the same place. Raises TimeoutError."""
    empty = None
    for match in compiled.finditer(_bounded(text), timeout=MAX_MATCH_SECONDS):
        if match.start() == empty:
            yield from _matches_from(match.start() + 1, compiled, text)
            return
        yield match
        empty = match.start() if match.end() == match.start() else None


def _matches_from(start: int, compiled: regex.Pattern[str], text: str) -> Iterator[regex.Match[str]]:
    """Select from the matches at all positions, found by one search with one deadline."""
    for match in compiled.finditer(text, start, overlapped=True, timeout=MAX_MATCH_SECONDS):
        if match.start() >= start:
            yield match
            start = max(match.end(), match.start() + 1)


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
    if not _FLAGS.issuperset(flags):
        raise InvocationError(f"Invalid pattern '{pattern[:40]}' with flags '{flags}'")
    text = regex.escape(pattern) if _QUOTED in flags else xpath_patterns.translated(pattern, flags)
    return regex.compile(text, regex.VERSION1 | (regex.IGNORECASE if "i" in flags else 0))
