from datetime import UTC, datetime, timedelta, timezone
from functools import cache
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.platform.query.like import like, text_of

SECONDS_ENOUGH = 2.0


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        ("", "", True),
        ("", "a", False),
        ("abc", "abc", True),
        ("abc", "ABC", False),
        ("b", "abc", False),
        ("*", "", True),
        ("*", "any\nrun", True),
        ("?", "\n", True),
        ("?", "", False),
        ("?", "ab", False),
        ("?", "\U0001f40d", True),
        ("a*", "a", True),
        ("*a", "ba", True),
        ("a*a", "a", False),
        ("a*a", "aa", True),
        ("a?*c", "abc", True),
        ("a?*c", "ac", False),
        ("*a?b*", "xxa1bxx", True),
        ("**", "x", True),
        (r"\*", "*", True),
        (r"\*", "a", False),
        (r"\?", "?", True),
        (r"\?", "a", False),
        (r"\\", "\\", True),
        (r"\\*", "\\abc", True),
        (r"\a", r"\a", True),
        ("a\\", "a\\", True),
        ("[a-z]", "b", False),
        ("a.c", "abc", False),
        ("%", "%", True),
        ("a$", "a", False),
        ("a", "a\n", False),
    ],
)
def test_a_pattern_matches_whole_values(pattern: str, text: str, *, expected: bool) -> None:
    assert like(pattern)(text) is expected


def parts_of(pattern: str) -> list[tuple[str, bool]]:
    """Characters of a pattern, each with whether it stands for itself."""
    if not pattern:
        return []
    if pattern[0] == "\\" and pattern[1:2] in {"*", "?", "\\"}:
        return [(pattern[1], True), *parts_of(pattern[2:])]
    return [(pattern[0], pattern[0] not in {"*", "?"}), *parts_of(pattern[1:])]


def matches(pattern: str, text: str) -> bool:
    """The meaning of a pattern in its plainest form."""
    parts = parts_of(pattern)

    @cache
    def holds(at: int, position: int) -> bool:
        if at == len(parts):
            return position == len(text)
        character, is_literal = parts[at]
        if character == "*" and not is_literal:
            return holds(at + 1, position) or (position < len(text) and holds(at, position + 1))
        is_like = position < len(text) and (not is_literal or text[position] == character)
        return is_like and holds(at + 1, position + 1)

    return holds(0, 0)


@given(st.text("ab*?\\", max_size=9), st.text("ab*?\\", max_size=9))
def test_every_pattern_means_what_the_plainest_matcher_says(pattern: str, text: str) -> None:
    assert matches(pattern, text) is like(pattern)(text)


@given(st.text())
def test_an_escaped_text_matches_itself(text: str) -> None:
    pattern = "".join(f"\\{character}" if character in "*?\\" else character for character in text)

    assert like(pattern)(text)


@pytest.mark.parametrize(
    "pattern",
    ["*a" * 512, "a*" * 511 + "b", "*?" * 512, "?" + "a" * 1022 + "b", "*" + "a?" * 511 + "b", "*" * 1024],
    ids=lambda pattern: pattern[:4],
)
def test_no_pattern_takes_long(pattern: str) -> None:
    matcher, text = like(pattern), "a" * 300_000
    started = process_time()

    matcher(text)

    assert process_time() - started < SECONDS_ENOUGH


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (42, "42"),
        (-1, "-1"),
        ("a", "a"),
        (datetime(2026, 1, 2, 3, 4, 5, 678_999, UTC), "2026-01-02T03:04:05.678Z"),
        (datetime(2026, 1, 2, tzinfo=timezone(timedelta(hours=2))), "2026-01-01T22:00:00.000Z"),
    ],
    ids=str,
)
def test_patterns_look_at_the_text_that_the_contract_shows(
    value: str | int | datetime, expected: str
) -> None:
    assert expected == text_of(value)
