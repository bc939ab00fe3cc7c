r"""Translates Java's regular expressions and replacements, as feel-scala uses them, for the `regex` library.

Without the flag `u`, which FEEL cannot set, Java's `\w`, `\d`, `\s`, `\p{Alpha}` and case-insensitivity only
cover ASCII; `\p{L}` and other Unicode classes cover all characters.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Final

import regex

from server.feel import xpath_patterns
from server.feel.errors import InvocationError

_ASCII: Final[Mapping[str, str]] = {
    "w": "a-zA-Z0-9_",
    "d": "0-9",
    "s": r"\ \t\n\x0b\f\r",
    "h": r"\ \t\xa0\u1680\u180e\u2000-\u200a\u202f\u205f\u3000",
    "v": r"\n-\r\x85\u2028\u2029",
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
_CATEGORIES: Final = xpath_patterns.CATEGORIES
_PROPERTIES: Final[Mapping[str, str]] = {
    "L1": r"\x00-\xff",
    "LC": r"\p{Lu}\p{Ll}\p{Lt}",
    "LD": r"\p{L}\p{Nd}",
    "all": r"\s\S",
    "javaAlphabetic": r"\p{Alphabetic}",
    "javaDefined": r"\P{Cn}",
    "javaDigit": r"\p{Nd}",
    "javaISOControl": r"\p{Cc}",
    "javaLetter": r"\p{L}",
    "javaLetterOrDigit": r"\p{L}\p{Nd}",
    "javaLowerCase": r"\p{Lowercase}",
    "javaSpaceChar": r"\p{Z}",
    "javaTitleCase": r"\p{Lt}",
    "javaUpperCase": r"\p{Uppercase}",
    "javaWhitespace": r"\t-\r\x1c-\x1f\ \u1680\u2000-\u2006\u2008-\u200a\u2028\u2029\u205f\u3000",
}
_LINE_ENDS: Final = r"\n\r\x85\u2028\u2029"
_LAST: Final = rf"(?=(?:\r\n|[{_LINE_ENDS}])?\Z)"
_LINE_BEGIN: Final = r"(?!\Z)(?:\A|(?<=[\n\x85\u2028\u2029])|(?<=\r)(?!\n))"
_LINE_END: Final = r"(?:(?=[\r\x85\u2028\u2029]|\Z)|(?<!\r)(?=\n))"
_PLACES: Final[Mapping[str, str]] = {
    "A": r"\A",
    "B": r"\B",
    "G": r"\G",
    "R": r"(?:\r\n|[\n-\r\x85\u2028\u2029])",
    "X": r"\X",
    "Z": _LAST,
    "b": r"\b",
    "z": r"\Z",
}
"""Escapes that Java accepts outside of sets only."""

_CHARACTERS: Final[Mapping[str, str]] = {
    "a": r"\x07", "e": r"\x1b", "f": r"\f", "n": r"\n", "r": r"\r", "t": r"\t"
}  # fmt: skip
_PART = re.compile(
    r"\\Q(?P<quoted>.*?)(?:\\E|\Z)|\\(?P<property>[pP])(?:\{(?P<name>[^}]*)\}|(?P<letter>\w))"
    r"|\\(?P<code>x[0-9a-fA-F]{2}|x\{[0-9a-fA-F]{1,6}\}|u[0-9a-fA-F]{4}|0[0-3]?[0-7]{1,2}|c.|N\{[^}]*\})"
    r"|\\(?:(?P<number>[1-9][0-9]*)|k<(?P<group>\w+)>)|\\(?P<escaped>.)"
    r"|(?P<open>\[\^?(?P<first>\]?))|(?P<close>\])|(?P<operator>--|~~|\|\|)|(?P<blank>[ \t-\r])|(?P<hash>#)"
    r"|\((?P<group_open>\?(?:<(?P<group_name>[a-zA-Z][a-zA-Z0-9]*)>|<?[=!]|[:>]"
    r"|(?P<on>[idmsuxU]*)(?:-(?P<off>[idmsuxU]*))?(?P<scope>[:)]))|(?!\?))|(?P<group_close>\))"
    r"|(?P<braces>\{[0-9]+(?:,[0-9]*)?\})|(?P<repeated>[*+?])|(?P<wrong>\(|\{|\\)|(?P<place>[.^$|])|(?P<plain>.)",
    re.DOTALL,
)
_COMMENT: Final = re.compile(rf"[^{_LINE_ENDS}]*")
_REPLACEMENT = re.compile(
    r"\\(?P<escaped>.)|\$(?P<number>\d+)|\$\{(?P<name>\w+)\}|(?P<wrong>[$\\])", re.DOTALL
)


def compiled(pattern: str, flags: str) -> regex.Pattern[str]:
    """Compile a Java pattern; unknown flags are ignored. Raises `InvocationError` or errors of `regex.compile`."""
    # The engine supports properties and non-ASCII case only together.
    is_unicode = "\\p" in pattern or "\\P" in pattern or _UNICODE_FLAG.search(pattern)
    chosen = regex.VERSION1 | (regex.UNICODE if is_unicode else regex.ASCII)
    if "i" in flags:
        chosen |= regex.IGNORECASE
    return regex.compile(_Translation(pattern, flags).text(), chosen)


_UNICODE_FLAG: Final = re.compile(r"\(\?[a-zA-Z]*[uU]")


class _Translation:
    def __init__(self, pattern: str, flags: str) -> None:
        self._pattern = pattern
        self._flags = frozenset(flags) & frozenset("smx")
        self._outside: list[frozenset[str]] = []
        """The outer flags of each open group."""
        self._depth = 0
        self._groups = len(_CAPTURING.findall(_QUOTED.sub("", pattern)))
        self._names: set[str] = set()
        self._can_repeat = False
        self._is_dangling = False
        """Whether the previous part sets flags, which cannot be repeated."""

    def text(self) -> str:
        written, position = [], 0
        while (match := _PART.match(self._pattern, position)) is not None:
            position = match.end()
            if match["hash"] and "x" in self._flags:
                # A comment extends to the end of the line, even in a set.
                position = _COMMENT.match(self._pattern, position).end()  # type: ignore[union-attr]  # matches nothing, too
                continue
            if not (match["blank"] and "x" in self._flags):
                written.append(self._in_set(match) if self._depth else self._part(match))
        return "".join(written)

    def _part(self, match: re.Match[str]) -> str:
        if match["repeated"] or match["braces"]:
            return self._repeated(match)
        self._can_repeat, self._is_dangling = True, False
        if match["open"]:
            self._depth = 1
            return self._opened(match)
        if match["group_open"] is not None or match["group_close"]:
            return self._group(match)
        if match["place"]:
            return self._place(match[0])
        if match["escaped"] is not None:
            return self._escape(match["escaped"])
        return self._reference(match) or self._character(match)

    def _in_set(self, match: re.Match[str]) -> str:
        if match["operator"]:
            return "".join(f"\\{character}" for character in match[0])
        if match["open"]:
            self._depth += 1
            return self._opened(match)
        if match["close"]:
            self._depth -= 1
            return match[0]
        if match["number"] or match["group"] or (match["escaped"] or "") in _PLACES:
            raise self._invalid()
        if match["plain"] in _OF_SETS:
            return match[0]
        if match["escaped"] is not None:
            return self._escape(match["escaped"])
        return self._character(match) or regex.escape(match[0], special_only=False)

    def _opened(self, match: re.Match[str]) -> str:
        """Translate an opening bracket; a closing bracket right after it is a character."""
        opening = match["open"].removesuffix("]") + ("\\]" if match["first"] else "")
        # `[[:alpha:]]` is a nested set in Java, not a POSIX class.
        return f"{opening}\\" if self._pattern.startswith(":", match.end()) else opening

    def _repeated(self, match: re.Match[str]) -> str:
        """Translate a repetition; braces with nothing before them repeat an empty group, other signs are refused."""
        if self._is_dangling and match["repeated"]:
            raise self._invalid()
        before = "(?:)" if match["braces"] and not self._can_repeat else ""
        self._can_repeat = False
        return before + match[0]

    def _group(self, match: re.Match[str]) -> str:
        if match["group_close"]:
            self._flags = self._outside.pop() if self._outside else self._flags
            return ")"
        if match["scope"] is None:
            self._outside.append(self._flags)
            if match["group_name"]:
                self._declare(match["group_name"])
            return match[0].replace("(?<", "(?P<", 1) if match["group_name"] else match[0]
        if match["scope"] == ":":
            self._outside.append(self._flags)
        self._flags = (self._flags | frozenset(match["on"])) - frozenset(match["off"] or "")
        on = "i" if "i" in match["on"] else ""
        off = "-i" if "i" in (match["off"] or "") else ""
        self._can_repeat, self._is_dangling = False, match["scope"] == ")"
        return f"(?{on}{off}{match['scope']}" if on or off or match["scope"] == ":" else ""

    def _declare(self, name: str) -> None:
        if name in self._names:
            raise self._invalid()
        self._names.add(name)

    def _place(self, character: str) -> str:
        match character:
            case ".":
                return r"[\s\S]" if "s" in self._flags else f"[^{_LINE_ENDS}]"
            case "^":
                return _LINE_BEGIN if "m" in self._flags else r"\A"
            case "$":
                return _LINE_END if "m" in self._flags else _LAST
            case _:
                self._can_repeat = False
                return character

    def _reference(self, match: re.Match[str]) -> str:
        if match["group"]:
            if match["group"] not in self._names:
                raise self._invalid()
            return f"(?P={match['group']})"
        if not match["number"]:
            return ""
        digits, length = match["number"], 1
        while length < len(digits) and int(digits[: length + 1]) <= self._groups:
            length += 1
        # A reference to a missing group matches nothing.
        is_there = int(digits[:length]) <= self._groups
        return (rf"(?:\{digits[:length]})" if is_there else "(?!)") + digits[length:]

    def _character(self, match: re.Match[str]) -> str:
        """Translate characters and character classes, which are equal inside and outside of sets."""
        if match["quoted"] is not None:
            return regex.escape(match["quoted"], literal_spaces=False)
        if match["property"]:
            return self._property(match["property"], match["name"] or match["letter"])
        if match["code"]:
            return regex.escape(self._coded(match["code"]), special_only=False, literal_spaces=False)
        if match["wrong"]:
            raise self._invalid()
        plain = match["plain"] or match["blank"] or match["hash"] or match["operator"] or match["close"]
        return regex.escape(plain, special_only=False, literal_spaces=False) if plain else ""

    def _coded(self, code: str) -> str:
        kind, digits = code[0], code[1:].strip("{}")
        try:
            match kind:
                case "c":
                    return chr(ord(digits or code[1]) ^ 64)
                case "N":
                    return unicodedata.lookup(digits)
                case _:
                    return chr(int(digits, 8 if kind == "0" else 16))
        except (ValueError, KeyError) as error:
            raise self._invalid() from error

    def _escape(self, letter: str) -> str:
        if "U" in self._flags and letter.lower() in "wds":
            return f"\\{letter}"
        inside = _ASCII.get(letter.lower()) if letter.lower() in "wdshv" else None
        if inside is not None:
            return self._set(inside, is_inverse=letter.isupper())
        if letter in _PLACES:
            return _PLACES[letter]
        if letter in _CHARACTERS:
            return _CHARACTERS[letter]
        if letter.isascii() and letter.isalnum():
            raise self._invalid()
        return regex.escape(letter, special_only=False, literal_spaces=False)

    def _property(self, letter: str, name: str) -> str:
        inside = _ASCII.get(name) if len(name) > 1 else None
        inside = inside or _PROPERTIES.get(name)
        if inside is not None:
            return self._set(inside, is_inverse=letter == "P")
        if name in _CATEGORIES or _NAMED_PROPERTY.fullmatch(name):
            return rf"\{letter}{{{name}}}"
        raise self._invalid()

    def _set(self, inside: str, *, is_inverse: bool) -> str:
        return inside if self._depth and not is_inverse else f"[{'^' if is_inverse else ''}{inside}]"

    def _invalid(self) -> InvocationError:
        return InvocationError(f"Invalid pattern '{self._pattern}'")


_OF_SETS: Final = frozenset("-&")
_NAMED_PROPERTY: Final = re.compile(r"(?:Is|In|(?:script|sc|block|blk|general_category|gc)=)[\w -]+")
_CAPTURING: Final = re.compile(r"(?<!\\)(?:\\\\)*\((?!\?(?!<[a-zA-Z]))")
_QUOTED: Final = re.compile(r"\\Q.*?(?:\\E|\Z)|(?<!\\)(?:\\\\)*\[[^\]]*\]", re.DOTALL)


def parts(replacement: str, pattern: regex.Pattern[str]) -> Iterator[str | int]:
    r"""Yield the texts and group numbers (`$1`, `${name}`) of a replacement; a backslash escapes any character.

    The same as Java's `Matcher.appendReplacement`; raises `InvocationError`.
    """
    start = 0
    for found in _REPLACEMENT.finditer(replacement):
        yield replacement[start : found.start()]
        start = found.end()
        if found["number"]:
            yield from _numbered(found["number"], pattern, replacement)
        elif found["escaped"]:
            yield found["escaped"]
        elif found["name"] in pattern.groupindex:
            yield pattern.groupindex[found["name"]]
        else:
            raise InvocationError(f"Invalid replacement '{replacement}'")
    yield replacement[start:]


def _numbered(digits: str, pattern: regex.Pattern[str], replacement: str) -> Iterator[str | int]:
    """Yield the longest number of an existing group, of at least one digit, and the rest as text."""
    length = 1
    while length < len(digits) and int(digits[: length + 1]) <= pattern.groups:
        length += 1
    if int(digits[:length]) > pattern.groups:
        raise InvocationError(f"Invalid replacement '{replacement}'")
    yield int(digits[:length])
    yield digits[length:]
