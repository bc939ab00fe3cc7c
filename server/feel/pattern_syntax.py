r"""Regular expressions of XML Schema and of Java, written for the engine that `patterns` uses.

Those have what it lacks or spells differently: `[a-z-[aeiou]]`, `[a-z&&[^aeiou]]`, `\p{IsBasicLatin}`, `\i` and `\c`.
"""

import re

import regex

_NAME_START = r"\p{L}_:"
_NAME = r"\p{L}\p{N}\p{M}\-._:\u00b7"
_NAMED_SETS = {"i": _NAME_START, "c": _NAME}
_PART = re.compile(
    r"\\(?P<escaped>.)(?P<block>\{Is(?P<name>\w+)\})?|(?P<minus>-)?(?P<open>\[)|(?P<close>\])", re.DOTALL
)


def translated(pattern: str) -> str:
    has_operations = "&&" in pattern or "-[" in pattern
    depth = 0

    def part(match: re.Match[str]) -> str:
        nonlocal depth
        if match["escaped"]:
            return _escape(match, is_in_set=depth > 0)
        if match["close"]:
            depth = max(0, depth - 1)
            return match[0]
        is_subtracted = match["minus"] and depth
        depth = depth + 1 if has_operations else 1
        return "--[" if is_subtracted else match[0]

    text = _PART.sub(part, pattern)
    return f"(?V1){text}" if has_operations else text


def _escape(match: re.Match[str], *, is_in_set: bool) -> str:
    escaped = match["escaped"]
    if escaped.lower() in _NAMED_SETS:
        named = _NAMED_SETS[escaped.lower()]
        inverse = "^" if escaped.isupper() else ""
        return named if is_in_set and not inverse else f"[{inverse}{named}]"
    if match["block"] and escaped in "pP":
        return rf"\{escaped}{{{_property(match['name'])}}}"
    return match[0]


def _property(name: str) -> str:
    """`IsBasicLatin` is a block in XML Schema, `IsLatin` a script in Java: blocks come first."""
    try:
        regex.compile(rf"\p{{In{name}}}")
    except regex.error:
        return f"Is{name}"
    return f"In{name}"
