"""Component values of CSS Syntax Level 3, and their shortest serialization.

Names and strings are serialized with `<` escaped, so that no text can end the style element.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import tinycss2
from tinycss2.serializer import serialize_identifier, serialize_string_value

from identity.authentication.screens.errors import CssRefused

MAX_DEPTH = 32

# An unterminated string or URL at the end of the text is closed there: CSS Syntax Level 3 §4.3.5.
_CLOSED_BY_THE_END = frozenset({"eof-in-string", "eof-in-url"})
_ESCAPE_OR_ANGLE = re.compile(r"\\<|\\.|<", re.DOTALL)


class TokenKind(StrEnum):
    """The parser's names of tokens; a block has the name of its brackets."""

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
    """`name` is for comparison, unescaped and in lower case; `text` is the serialization, without `children`."""

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
    """Return the parser's nodes, without errors and with bounded depth; raises CssRefused."""
    try:
        nodes: list[Any] = tinycss2.parse_component_value_list(css.removeprefix("\ufeff"))
    except ValueError as error:
        # The number has more digits than Python converts.
        raise CssRefused("a number is too long", 1, 1) from error
    _expect_sound(nodes)
    return nodes


def tokens_of(nodes: Iterable[Any]) -> tuple[Token, ...]:
    """Convert valid nodes of the parser."""
    return tuple(_token(node) for node in nodes if node.type != "error")


def identifier(name: str) -> str:
    """Serialize a name, escaped where needed."""
    return _without_angle(serialize_identifier(name))


def walked(tokens: Iterable[Token]) -> Iterator[Token]:
    """Yield every token and its descendants."""
    for token in tokens:
        yield token
        yield from walked(token.children)


def significant(tokens: Tokens) -> list[Token]:
    return [token for token in tokens if not token.is_space]


def stripped(tokens: Tokens) -> Tokens:
    """Return the tokens without spaces at both ends."""
    marks = [index for index, token in enumerate(tokens) if not token.is_space]
    return tokens[marks[0] : marks[-1] + 1] if marks else ()


def split_at(tokens: Tokens, literal: str) -> list[Tokens]:
    """Split at a literal."""
    parts: list[list[Token]] = [[]]
    for token in tokens:
        if token.is_literal(literal):
            parts.append([])
        else:
            parts[-1].append(token)
    return [stripped(part) for part in parts]


def written(tokens: Tokens, *, tight: Collection[str] = (",",)) -> str:
    """Serialize tokens with single spaces, and none beside the literals of `tight`; a comment becomes a space."""
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
    """Walk without recursion, because the depth is not known yet."""
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
    """Return the text for comparison and the serialization."""
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
    """Escape `<`. A literal token `<` cannot be escaped; callers that keep one must handle it."""
    return text if text == "<" else _ESCAPE_OR_ANGLE.sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    return r"\3c " if match[0] in {"<", r"\<"} else match[0]
