"""Operators of other languages with their FEEL equivalents, for error messages."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from server.feel.lexer import Token, TokenKind

_CHARACTERS: Final = frozenset("=<>!&|")
_BEFORE_ANOTHER: Final = frozenset("?:")
_SPELLINGS: Final[Mapping[str, str]] = {
    "==": "=",
    "===": "=",
    "!==": "!=",
    "=!": "!=",
    "<>": "!=",
    "=<": "<=",
    "=>": ">=",
    "&&": "and",
    "&": "and",
    "||": "or",
    "|": "or",
    "!": "not(…)",
    "%": "modulo(…)",
    "^": "**",
    "'": '"',
    "?": "if … then … else …",
    "??": "get or else(…)",
    "?.": ".",
    ";": ",",
    "->": "function(…) …",
    ":=": "=",
}
_WORDS: Final[Mapping[str, str]] = {
    "eq": "=",
    "ne": "!=",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "is": "=",
    "mod": "modulo(…)",
    "div": "/",
    "like": "matches(…)",
    "not": "not(…)",
    "elif": "else if",
    "elsif": "else if",
    "elseif": "else if",
}
_PAIRS: Final[Mapping[tuple[str, str], str]] = {
    ("is", "not"): "!=",
    ("not", "in"): "not(… in …)",
}


class ForeignOperator(NamedTuple):
    written: str
    meant: str
    start: int


def foreign_operator(tokens: Sequence[Token], index: int) -> ForeignOperator | None:
    """Return the other language's operator that the token at the index belongs to."""
    token = tokens[index]
    if token.kind is TokenKind.NAME:
        return _word(tokens, index)
    if token.kind is TokenKind.SYMBOL and token.text in _BEFORE_ANOTHER:
        return _and_following(tokens, index)
    if (
        token.text == ">"
        and index > 0
        and tokens[index - 1].text == "-"
        and tokens[index - 1].end == token.start
    ):
        return ForeignOperator("->", _SPELLINGS["->"], tokens[index - 1].start)
    first = last = index
    while first > 0 and _touches(tokens[first - 1], tokens[first]):
        first -= 1
    while last + 1 < len(tokens) and _touches(tokens[last], tokens[last + 1]):
        last += 1
    if token.kind is not TokenKind.SYMBOL:
        return None
    written = "".join(token.text for token in tokens[first : last + 1])
    meant = _SPELLINGS.get(written)
    return None if meant is None else ForeignOperator(written, meant, tokens[first].start)


def _word(tokens: Sequence[Token], index: int) -> ForeignOperator | None:
    token, following = tokens[index], tokens[min(index + 1, len(tokens) - 1)]
    pair = _PAIRS.get((token.text.lower(), following.text.lower()))
    if pair is not None:
        return ForeignOperator(f"{token.text} {following.text}", pair, token.start)
    meant = _WORDS.get(token.text.lower())
    return None if meant is None else ForeignOperator(token.text, meant, token.start)


def _and_following(tokens: Sequence[Token], index: int) -> ForeignOperator | None:
    """Recognize `a ? b : c`, `a ?? b`, `a?.b` and `a := b`; no operand can begin with `?` or `:`."""
    token, following = tokens[index], tokens[min(index + 1, len(tokens) - 1)]
    pair = token.text + following.text
    written = pair if pair in _SPELLINGS and token.end == following.start else token.text
    meant = _SPELLINGS.get(written)
    return None if meant is None else ForeignOperator(written, meant, token.start)


def _touches(token: Token, following: Token) -> bool:
    """Whether two adjacent tokens consist of operator characters."""
    return token.end == following.start and _is_part(token) and _is_part(following)


def _is_part(token: Token) -> bool:
    return token.kind is TokenKind.SYMBOL and _CHARACTERS.issuperset(token.text)
