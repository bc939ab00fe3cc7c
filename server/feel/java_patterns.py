r"""Regular expressions and replacements of Java, as feel-scala has them, written for the engine that `patterns` uses.

Without the flag `u`, which FEEL cannot set, Java's `\w`, `\d`, `\s`, `\p{Alpha}` and letters of either case are those
of ASCII; `\p{L}` and its like are not.
"""

import re
from collections.abc import Mapping
from typing import Final

import regex

from server.feel.errors import InvocationError

_ASCII: Final[Mapping[str, str]] = {
    "w": "a-zA-Z0-9_",
    "d": "0-9",
    "s": r"\ \t\n\x0b\f\r",
    "Lower": "a-z",
    "Upper": "A-Z",
    "ASCII": r"\x00-\x7f",
    "Alpha": "a-zA-Z",
    "Digit": "0-9",
    "Alnum": "a-zA-Z0-9",
    "Punct": r"!-/\:-@\[-`{-\x7e",
    "Graph": "!-\x7e",
    "Print": r"\ -\x7e",
    "Blank": r"\ \t",
    "Cntrl": r"\x00-\x1f\x7f",
    "XDigit": "0-9a-fA-F",
    "Space": r"\ \t\n\x0b\f\r",
}
_LINE_ENDS: Final = r"\n\r\x85\u2028\u2029"
_LAST: Final = rf"(?=(?:\r\n|[{_LINE_ENDS}])?\Z)"
_PART = re.compile(
    r"\\Q(?P<quoted>.*?)(?:\\E|\Z)|\\(?P<property>[pP])(?:\{(?P<name>[^}]*)\}|(?P<letter>\w))"
    r"|\\(?P<escaped>.)|(?P<open>\[\^?)|(?P<close>\])|(?P<operator>--|~~|\|\|)|(?P<blank>\s)|(?P<dot>\.)|(?P<end>\$)",
    re.DOTALL,
)
_REPLACEMENT = re.compile(
    r"\\(?P<escaped>.)|\$(?P<number>\d+)|\$\{(?P<name>\w+)\}|(?P<wrong>[$\\])", re.DOTALL
)


def compiled(pattern: str, flags: str) -> regex.Pattern[str]:
    """Letters that are no flags are without effect; raises the errors of `regex.compile`."""
    chosen = regex.VERSION1
    chosen |= regex.ASCII if "\\p" not in pattern and "\\P" not in pattern else regex.UNICODE
    for letter, flag in _FLAGS.items():
        chosen |= flag if letter in flags else 0
    return regex.compile(_Translation(flags).of(pattern), chosen)


_FLAGS: Final[Mapping[str, int]] = {
    "s": regex.DOTALL,
    "m": regex.MULTILINE,
    "i": regex.IGNORECASE,
    "x": regex.VERBOSE,
}


class _Translation:
    def __init__(self, flags: str) -> None:
        self._flags = flags
        self._depth = 0

    def of(self, pattern: str) -> str:
        return _PART.sub(self._part, pattern)

    def _part(self, match: re.Match[str]) -> str:
        if match["quoted"] is not None:
            return regex.escape(match["quoted"], literal_spaces=False)
        if match["property"]:
            return self._property(match["property"], match["name"] or match["letter"])
        if match["escaped"]:
            return self._escape(match["escaped"], match[0])
        return self._in_set(match) if self._depth else self._outside(match)

    def _outside(self, match: re.Match[str]) -> str:
        if match["open"]:
            self._depth = 1
        elif match["dot"] and "s" not in self._flags:
            return f"[^{_LINE_ENDS}]"
        elif match["end"] and "m" not in self._flags:
            return _LAST
        return match[0]

    def _in_set(self, match: re.Match[str]) -> str:
        if match["blank"]:
            return "" if "x" in self._flags else f"\\{match[0]}"
        if match["operator"]:
            return "".join(f"\\{character}" for character in match[0])
        if match["open"]:
            self._depth += 1
            # `[[:alpha:]]` is a set within a set, not a class of POSIX.
            following = match.string[match.end() : match.end() + 1]
            return f"{match[0]}\\" if following == ":" else match[0]
        if match["close"]:
            self._depth -= 1
        return match[0]

    def _escape(self, letter: str, written: str) -> str:
        inside = _ASCII.get(letter.lower()) if letter.lower() in "wds" else None
        if inside is None:
            return r"\Z" if letter == "z" else _LAST if letter == "Z" else written
        return self._set(inside, is_inverse=letter.isupper())

    def _property(self, letter: str, name: str) -> str:
        inside = _ASCII.get(name) if len(name) > 1 else None
        if inside is not None:
            return self._set(inside, is_inverse=letter == "P")
        return rf"\{letter}{{{name}}}"

    def _set(self, inside: str, *, is_inverse: bool) -> str:
        return inside if self._depth and not is_inverse else f"[{'^' if is_inverse else ''}{inside}]"


def expanded(match: regex.Match[str], replacement: str) -> str:
    r"""`$1` and `${name}` are groups, a backslash takes the next character as it is (`Matcher.appendReplacement`)."""

    def part(each: re.Match[str]) -> str:
        if each["escaped"]:
            return each["escaped"]
        if each["number"]:
            return _numbered(match, each["number"])
        if each["name"]:
            return match[each["name"]] or ""
        raise InvocationError(f"Invalid replacement '{replacement}'")

    return _REPLACEMENT.sub(part, replacement)


def _numbered(match: regex.Match[str], digits: str) -> str:
    """The longest number for which there is a group, as one digit at least; what follows it is text."""
    length = 1
    while length < len(digits) and int(digits[: length + 1]) <= match.re.groups:
        length += 1
    return (match[int(digits[:length])] or "") + digits[length:]
