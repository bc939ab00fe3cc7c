"""Component values of CSS Syntax Level 3, and how they are written as short as they read the same.

Names and strings are written with `<` escaped, so that no text of theirs ends the element that a stylesheet stands in.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import tinycss2
from tinycss2.serializer import serialize_identifier, serialize_string_value

from identity.screens.errors import CssRefused

MAX_DEPTH = 32

# What ends with the text is closed there: CSS Syntax Level 3 §4.3.5.
_CLOSED_BY_THE_END = frozenset({"eof-in-string", "eof-in-url"})
_ESCAPE_OR_ANGLE = re.compile(r"\\<|\\.|<", re.DOTALL)


class TokenKind(StrEnum):
    """By the parser's names; a block has that of its bracket."""

    IDENT = "ident"
    AT_KEYWORD = "at-keyword"
    HASH = "hash"
    STRING = "string"
    URL = "url"
    UNICODE_RANGE = "unicode-range"
    NUMBER = "number"
    PERCENTAGE = "percentage"
    DIMENSION = "dimension"
    WHITESPACE = "whitespace"
    COMMENT = "comment"
    LITERAL = "literal"
    PARENTHESES = "() block"
    BRACKETS = "[] block"
    BRACES = "{} block"
    FUNCTION = "function"


@dataclass(frozen=True, slots=True)
class Token:
    """`name` is what it is compared by, unescaped and in lower case; `text` is how it is written, without `children`."""

    kind: TokenKind
    name: str
    text: str
    children: tuple["Token", ...]
    line: int
    column: int

    def is_literal(self, *texts: str) -> bool:
        return self.kind is TokenKind.LITERAL and self.text in texts

    @property
    def is_space(self) -> bool:
        return self.kind in {TokenKind.WHITESPACE, TokenKind.COMMENT}

    @property
    def has_children(self) -> bool:
        return self.kind in _BRACKETS


_BRACKETS = {
    TokenKind.PARENTHESES: ("(", ")"),
    TokenKind.BRACKETS: ("[", "]"),
    TokenKind.BRACES: ("{", "}"),
    TokenKind.FUNCTION: ("(", ")"),
}

Tokens = Sequence[Token]


def tokenized(css: str) -> list[Any]:
    """Return the parser's own nodes, sound and not too deep; raises CssRefused."""
    try:
        nodes: list[Any] = tinycss2.parse_component_value_list(css.removeprefix("\ufeff"))
    except ValueError as error:
        # A number of more digits than there are numbers.
        raise CssRefused("a number is too long", 1, 1) from error
    _expect_sound(nodes)
    return nodes


def tokens_of(nodes: Iterable[Any]) -> tuple[Token, ...]:
    """Take the parser's nodes, which are sound, for ours."""
    return tuple(_token(node) for node in nodes if node.type != "error")


def identifier(name: str) -> str:
    """Write a name, escaped where it has to be."""
    return _without_angle(serialize_identifier(name))


def walked(tokens: Iterable[Token]) -> Iterator[Token]:
    """Every token and all that is in it."""
    for token in tokens:
        yield token
        yield from walked(token.children)


def significant(tokens: Tokens) -> list[Token]:
    return [token for token in tokens if not token.is_space]


def stripped(tokens: Tokens) -> Tokens:
    """Without what stands before and behind."""
    marks = [index for index, token in enumerate(tokens) if not token.is_space]
    return tokens[marks[0] : marks[-1] + 1] if marks else ()


def split_at(tokens: Tokens, literal: str) -> list[Tokens]:
    """Parts between such literals, one more than there are of these."""
    parts: list[list[Token]] = [[]]
    for token in tokens:
        if token.is_literal(literal):
            parts.append([])
        else:
            parts[-1].append(token)
    return [stripped(part) for part in parts]


def written(tokens: Tokens, *, tight: Collection[str] = (",",)) -> str:
    """Write them with single spaces, and none beside the literals of `tight`; a comment is a space."""
    pieces: list[str] = []
    is_apart, is_tight = False, True
    for token in tokens:
        if token.is_space:
            is_apart = True
            continue
        closes_up = token.kind is TokenKind.LITERAL and token.text in tight
        if is_apart and not is_tight and not closes_up:
            pieces.append(" ")
        pieces.append(_written(token, tight))
        is_apart, is_tight = False, closes_up
    return "".join(pieces)


def _written(token: Token, tight: Collection[str]) -> str:
    if not token.has_children:
        return token.text
    opening, closing = _BRACKETS[token.kind]
    return f"{token.text}{opening}{written(token.children, tight=tight)}{closing}"


def _expect_sound(nodes: list[Any]) -> None:
    """Walk without recursion: nobody has counted how deep it goes."""
    waiting = [(node, 1) for node in nodes]
    while waiting:
        node, depth = waiting.pop()
        if depth > MAX_DEPTH:
            raise CssRefused(
                f"expected {MAX_DEPTH} nested blocks at most", node.source_line, node.source_column
            )
        if node.type == "error" and node.kind not in _CLOSED_BY_THE_END:
            raise CssRefused(node.message, node.source_line, node.source_column)
        if node.type == "literal" and node.value == "\\":
            raise CssRefused("a backslash escapes nothing", node.source_line, node.source_column)
        waiting.extend((child, depth + 1) for child in _children(node))


def _children(node: Any) -> list[Any]:
    if node.type not in set(_BRACKETS):
        return []
    children: list[Any] = node.arguments if node.type == TokenKind.FUNCTION else node.content
    return children


def _token(node: Any) -> Token:
    name, text = _spelling(node)
    return Token(
        kind=TokenKind(node.type),
        name=name,
        text=_without_angle(text),
        children=tokens_of(_children(node)),
        line=node.source_line,
        column=node.source_column,
    )


def _spelling(node: Any) -> tuple[str, str]:
    """By what it is compared, and how it is written."""
    match node.type:
        case "url" | "comment" | "whitespace" | "() block" | "[] block" | "{} block":
            return "", ""
        case "function":
            return node.lower_name, serialize_identifier(node.name)
        case "string":
            return node.value, f'"{serialize_string_value(node.value)}"'
        case _:
            return _name(node), node.serialize()


def _name(node: Any) -> str:
    match node.type:
        case "ident" | "at-keyword":
            return str(node.lower_value)
        case "hash" if node.is_identifier:
            return str(node.value)
        case _:
            return ""


def _without_angle(text: str) -> str:
    """Escape `<`; a literal one stays, and whoever keeps it has to do without."""
    return text if text == "<" else _ESCAPE_OR_ANGLE.sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    return r"\3c " if match[0] in {"<", r"\<"} else match[0]
