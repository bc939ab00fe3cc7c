r"""Translates XPath's regular expressions for the `regex` library (F&O 3.1 §5.6.1, XML Schema part 2, F).

XPath lacks look-around, possessive quantifiers, escapes of character codes, and back-references in sets. `\w` is any
character except punctuation, separators and control characters, and `$` is the end of the string.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final

import regex

from server.feel.errors import InvocationError

_NAME_START: Final = r"\p{L}_:"
_NAME: Final = r"\p{L}\p{N}\p{M}\-._:\u00b7"
_SETS: Final[Mapping[str, tuple[str, str]]] = {
    "i": (f"[{_NAME_START}]", f"[^{_NAME_START}]"),
    "c": (f"[{_NAME}]", f"[^{_NAME}]"),
    "w": (r"[^\p{P}\p{Z}\p{C}]", r"[\p{P}\p{Z}\p{C}]"),
    "d": (r"\p{Nd}", r"\P{Nd}"),
    "s": (r"[\ \t\n\r]", r"[^\ \t\n\r]"),
}
"""Character classes by letter, each with its complement, which has the capital letter."""

_CHARACTERS: Final = frozenset(r"\|.?*+(){}-[]^$")
_CONTROLS: Final = frozenset("nrt")
_BLANKS: Final = re.compile(r"[\t\n\r ]+")
_PART: Final = re.compile(
    r"\\(?:(?P<property>[pP])\{(?P<name>[\w-]*)\}|(?P<group>[1-9][0-9]*)|(?P<escaped>.))"
    r"|(?P<open>\((?!\?)|\(\?:)|(?P<close>\))|(?P<set>\[)"
    r"|(?P<quantifier>(?:[?*+]|\{[0-9]+(?:,[0-9]*)?\})\??)|(?P<place>[\^$.|])|(?P<plain>[^\\()\[\]{}?*+^$.|])",
    re.DOTALL,
)
_IN_SET: Final = re.compile(
    r"\\(?:(?P<property>[pP])\{(?P<name>[\w-]*)\}|(?P<escaped>.))|(?P<subtracted>-\[)|(?P<end>\])|(?P<plain>[^\\\[\]])",
    re.DOTALL,
)
_WITHOUT_ATOM: Final = frozenset({"", "(", "|", "^", "$", "quantifier"})


def translated(pattern: str, flags: str) -> str:
    """Translate a pattern together with its flags `s`, `m` and `x`; raises `InvocationError`."""
    return _Translation(pattern, flags).text()


class _Translation:
    def __init__(self, pattern: str, flags: str) -> None:
        self._pattern = _without_blanks(pattern) if "x" in flags else pattern
        self._flags = flags
        self._open: list[int] = []
        self._groups = 0
        self._closed: set[int] = set()
        self._last = ""
        """The last part: its text, or its kind (`set`, `quantifier`)."""

    def text(self) -> str:
        written, position = [], 0
        while position < len(self._pattern):
            match = _PART.match(self._pattern, position)
            if match is None:
                raise self._invalid()
            if match["set"]:
                part, position = self._set(match.end())
                self._last = "set"
            else:
                part, position = self._part(match), match.end()
            written.append(part)
        return "".join(written)

    def _part(self, match: re.Match[str]) -> str:
        before, self._last = self._last, match[0]
        if match["quantifier"]:
            self._last = "quantifier"
            if before in _WITHOUT_ATOM:
                raise self._invalid()
            return match[0]
        if match["open"]:
            return self._opened(match[0])
        if match["close"]:
            return self._ended()
        if match["group"]:
            return self._reference(match["group"])
        if match["place"]:
            return self._places(match[0])
        return self._single(match)

    def _single(self, match: re.Match[str]) -> str:
        """Translate a character or a named class."""
        if match["property"]:
            return rf"\{match['property']}{{{self._property(match['name'])}}}"
        escaped = match["escaped"]
        if escaped is None:
            return regex.escape(match["plain"], special_only=False, literal_spaces=False)
        if escaped.lower() in _SETS:
            return _SETS[escaped.lower()][escaped.isupper()]
        if escaped in _CONTROLS or escaped in _CHARACTERS:
            return f"\\{escaped}"
        raise self._invalid()

    def _opened(self, written: str) -> str:
        self._last = "("
        number = 0
        if written == "(":
            self._groups += 1
            number = self._groups
        self._open.append(number)
        return written

    def _ended(self) -> str:
        if not self._open:
            raise self._invalid()
        self._closed.add(self._open.pop())
        return ")"

    def _reference(self, digits: str) -> str:
        """Translate a reference to the longest number of an existing group; the remaining digits are text."""
        length = 1
        while length < len(digits) and int(digits[: length + 1]) <= self._groups:
            length += 1
        if int(digits[:length]) not in self._closed:
            raise self._invalid()
        return rf"(?:\{digits[:length]}){digits[length:]}"

    def _places(self, character: str) -> str:
        is_of_lines = "m" in self._flags
        match character:
            case ".":
                return r"[\s\S]" if "s" in self._flags else r"[^\n\r]"
            case "^":
                return r"(?:\A|(?<=\n)(?!\Z))" if is_of_lines else r"\A"
            case "$":
                return r"(?=\n|\Z)" if is_of_lines else r"\Z"
            case _:
                return character

    def _set(self, position: int) -> tuple[str, int]:
        """Translate a set, from after its opening bracket to after its closing one."""
        inverse = "^" if self._pattern.startswith("^", position) else ""
        position += len(inverse)
        written: list[str] = []
        while (match := _IN_SET.match(self._pattern, position)) is not None:
            position = match.end()
            if match["end"]:
                break
            if match["subtracted"]:
                subtracted, position = self._set(position)
                if not self._pattern.startswith("]", position) or not written:
                    raise self._invalid()
                return f"[[{inverse}{''.join(written)}]--{subtracted}]", position + 1
            written.append(match[0] if match["plain"] == "-" else self._single(match))
        if match is None or not written:
            raise self._invalid()
        return f"[{inverse}{''.join(written)}]", position

    def _property(self, name: str) -> str:
        """Translate a general category, or a block after `Is`; some blocks have the name of a script."""
        if not name.startswith("Is"):
            if name not in CATEGORIES:
                raise self._invalid()
            return name
        try:
            regex.compile(rf"\p{{In{name[2:]}}}")
        except regex.error:
            return name
        return f"In{name[2:]}"

    def _invalid(self) -> InvocationError:
        return InvocationError(f"Invalid pattern '{self._pattern}'")


def _without_blanks(pattern: str) -> str:
    """Remove blanks outside of sets."""
    written: list[str] = []
    depth = position = 0
    for match in _BRACKET.finditer(pattern):
        between = pattern[position : match.start()]
        written += [between if depth else _BLANKS.sub("", between), match[0]]
        depth += (match[0] == "[") - (match[0] == "]" and depth > 0)
        position = match.end()
    rest = pattern[position:]
    return "".join([*written, rest if depth else _BLANKS.sub("", rest)])


_BRACKET: Final = re.compile(r"\\.|[\[\]]", re.DOTALL)

_LETTERS_OF_CATEGORIES: Final = {
    "L": "ultmo", "M": "cen", "N": "dlo", "P": "cdseifo", "Z": "slp", "S": "mcko", "C": "cfon"
}  # fmt: skip
CATEGORIES: Final = frozenset(
    first + second for first, letters in _LETTERS_OF_CATEGORIES.items() for second in ["", *letters]
)

_REPLACEMENT: Final = re.compile(r"\\(?P<escaped>[\\$])|\$(?P<number>\d+)|(?P<wrong>[$\\])")


def parts(replacement: str, pattern: regex.Pattern[str]) -> Iterator[str | int]:
    r"""Yield the texts and existing group numbers (`$1`) of a replacement; `\$` and `\\` are escapes (F&O 3.1 §5.6.4).

    Raises `InvocationError`.
    """
    start = 0
    for found in _REPLACEMENT.finditer(replacement):
        yield replacement[start : found.start()]
        start = found.end()
        if found["wrong"]:
            raise InvocationError(f"Invalid replacement '{replacement}'")
        if found["escaped"]:
            yield found["escaped"]
        else:
            yield from _numbered(found["number"], pattern)
    yield replacement[start:]


def _numbered(digits: str, pattern: regex.Pattern[str]) -> Iterator[str | int]:
    """Yield the longest number of an existing group, of at least one digit, and the rest as text."""
    length = 1
    while length < len(digits) and int(digits[: length + 1]) <= pattern.groups:
        length += 1
    if int(digits[:length]) <= pattern.groups:
        yield int(digits[:length])
    yield digits[length:]
