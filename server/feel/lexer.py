"""Splits a text into tokens.

Every character is accepted, because a context key may contain nearly any symbol; the parser decides.
"""

import re
import sys
from enum import IntEnum, auto
from typing import NamedTuple


class TokenKind(IntEnum):
    NAME = auto()
    QUOTED_NAME = auto()
    NUMBER = auto()
    STRING = auto()
    SYMBOL = auto()
    END = auto()


class Token(NamedTuple):
    """A token; `text` is the source text, without the backticks of a quoted name."""

    kind: TokenKind
    text: str
    start: int
    end: int


# DMN 1.5 §10.3.1.2 rules 61 and 62: adds white space that Python's \s lacks.
_BLANK = r"(?:[\s\u180e\u200b\ufeff]+|//[^\n]*|/\*.*?\*/)"
# Rules 28 and 29 and Java's letters, without the white space of rules 61 and 62.
_LETTERS = (
    r"\u037f-\u167f\u1681-\u180d\u180f-\u1fff\u200c-\u200d\u2070-\u218f\u2c00-\u2fef\u3001-\ud7ff"
    r"\uf900-\ufdcf\ufdf0-\ufefe\uff00-\ufffd\U00010000-\U000effff"
)
_FIRST = rf"(?:[^\W\d]|[${_LETTERS}])"
_FURTHER = rf"[\w${_LETTERS}\u00b7\u0300-\u036f\u203f-\u2040]"
WORD = re.compile(f"{_FIRST}{_FURTHER}*")

_TOKEN = re.compile(
    rf"""
      (?P<BLANK>{_BLANK}+)
    | (?P<NAME>{WORD.pattern})
    | (?P<NUMBER>(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
    | (?P<STRING>"[^"\\]*(?:\\.[^"\\]*)*")
    | `(?P<QUOTED_NAME>[^`]+)`
    | (?P<SYMBOL>\*\*|\.\.|<=|>=|!=|.)
    """,
    re.VERBOSE | re.DOTALL,
)


_KINDS = dict(TokenKind.__members__)


def tokenize(text: str) -> list[Token]:
    tokens = [
        Token(_KINDS[kind], match[kind], match.start(), match.end())
        for match in _TOKEN.finditer(text)
        if (kind := match.lastgroup or "SYMBOL") != "BLANK"
    ]
    return [*tokens, Token(TokenKind.END, "", len(text), len(text))]


_ESCAPE = re.compile(r"""\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{6})|(.))""", re.DOTALL)
_CHARACTERS = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f", "'": "'", '"': '"', "\\": "\\"}


def unquote(text: str) -> str:
    """Return the string of a literal including its quotes; unknown escapes are kept."""
    content = text[1:-1]
    if "\\" not in content:
        return content
    return _joined_surrogates(_ESCAPE.sub(_unescape, content))


def _unescape(match: re.Match[str]) -> str:
    code = match[1] or match[2]
    if code is None:
        return _CHARACTERS.get(match[3], match[0])
    number = int(code, 16)
    return chr(number) if number <= sys.maxunicode else match[0]


def _joined_surrogates(text: str) -> str:
    # DMN 1.5 §10.3.1.2: \uD83D\uDC0E is a surrogate pair for one character.
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
