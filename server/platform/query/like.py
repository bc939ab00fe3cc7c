"""`$like` patterns: `*` matches any sequence, `?` one character; a backslash escapes `*`, `?` and backslash.

The pattern must match the whole value and is case-sensitive. A backslash before other characters is literal.
"""

import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from itertools import groupby
from re import Pattern

from server.platform.query.fields import Scalar

# An escaped character or any character.
_PART = re.compile(r"\\[*?\\]|.", re.DOTALL)
_STAR = "*"
_ONE = "?"


def like(pattern: str) -> Callable[[str], bool]:
    """Compile a pattern into a test function.

    Each sequence between stars becomes a regular expression without repetition. Its leftmost match is always
    sufficient for the following ones, so there is no backtracking: the time is at most the product of both
    lengths.
    """
    parts: list[str] = _PART.findall(pattern)
    runs = [list(run) for is_star, run in groupby(parts, _STAR.__eq__) if not is_star]
    if _STAR not in parts:
        whole = _expression(parts)
        return lambda text: whole.fullmatch(text) is not None
    head = runs.pop(0) if parts[0] != _STAR else []
    tail = runs.pop() if parts[-1] != _STAR else []
    return _between(
        _expression(head), [_expression(run) for run in runs], _expression(tail), tail_length=len(tail)
    )


def text_of(value: Scalar) -> str:
    """Return a value as the text that patterns match: decimal digits, or RFC 3339 in UTC with milliseconds."""
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"
    return str(value)


def _expression(run: Sequence[str]) -> Pattern[str]:
    return re.compile("".join("." if part == _ONE else re.escape(part[-1]) for part in run), re.DOTALL)


def _between(
    head: Pattern[str], middle: Sequence[Pattern[str]], tail: Pattern[str], *, tail_length: int
) -> Callable[[str], bool]:
    def matches(text: str) -> bool:
        found, end = head.match(text), len(text) - tail_length
        if found is None or found.end() > end or tail.match(text, end) is None:
            return False
        for run in middle:
            found = run.search(text, found.end(), end)
            if found is None:
                return False
        return True

    return matches
