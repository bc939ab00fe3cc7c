"""Grammar of the prelude of at-rules: CSS Conditional Rules, Media Queries Level 4.

Each check raises CssRefused. Only the form of a condition is checked; browsers evaluate it.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

from identity.authentication.screens.css_tokens import (
    Token,
    TokenKind,
    Tokens,
    significant,
    split_at,
    walked,
    written,
)
from identity.authentication.screens.errors import CssRefused

Prelude = Callable[[Tokens], bool]
"""Whether the tokens are a valid prelude."""

_OPERATORS = ("and", "or")
_NO_NAMES = frozenset({"not", "none", *_OPERATORS})
_MEDIA_PREFIXES = ("not", "only")
_OUT_OF_PLACE = ("<!--", "-->", ";", "!", "@")
_SMALLER: Final = "<"


def is_empty(prelude: Tokens) -> bool:
    return not significant(prelude)


def is_media_query_list(prelude: Tokens) -> bool:
    """An empty list stands for all media."""
    return is_empty(prelude) or all(map(_is_media_query, split_at(prelude, ",")))


def is_condition(prelude: Tokens) -> bool:
    """`not (…)`, or conditions in parentheses, all joined by `and` or all by `or`."""
    words = significant(prelude)
    if words and words[0].name == "not" and words[0].kind is TokenKind.IDENT:
        return [_is_in_parentheses(word) for word in words[1:]] == [True]
    operators = {word.name for word in words[1::2]}
    return (
        len(words) % 2 == 1
        and all(map(_is_in_parentheses, words[::2]))
        and all(word.kind is TokenKind.IDENT for word in words[1::2])
        and operators <= set(_OPERATORS)
        and len(operators) <= 1
    )


def is_container_condition(prelude: Tokens) -> bool:
    """A name, a condition, or both."""
    words = significant(prelude)
    if words and words[0].kind is TokenKind.IDENT and words[0].name not in _NO_NAMES:
        return not words[1:] or is_condition(words[1:])
    return is_condition(words)


def is_keyframes_name(prelude: Tokens) -> bool:
    words = significant(prelude)
    return len(words) == 1 and words[0].kind in {TokenKind.IDENT, TokenKind.STRING}


def is_layer_name(prelude: Tokens) -> bool:
    """Whether it is empty or one name, whose parts are separated by dots."""
    return is_empty(prelude) or _is_dotted_name(significant(prelude))


def is_layer_list(prelude: Tokens) -> bool:
    return all(_is_dotted_name(significant(part)) for part in split_at(prelude, ","))


def written_prelude(prelude: Tokens) -> str:
    """Serialize a prelude without `<`, reversing ranges; raises CssRefused for tokens that no prelude has."""
    turned = [_without_smaller(token) for token in prelude]
    for token in walked(turned):
        if token.is_literal(_SMALLER, *_OUT_OF_PLACE) or token.kind is TokenKind.BRACES:
            raise CssRefused(f"unexpected {token.text or 'block'} in a condition", token.line, token.column)
    return written(turned, tight=(",", ">", "="))


def _is_media_query(query: Tokens) -> bool:
    words = significant(query)
    has_prefix = bool(words) and words[0].kind is TokenKind.IDENT and words[0].name in _MEDIA_PREFIXES
    typed = words[1:] if has_prefix else words
    if not typed or typed[0].kind is not TokenKind.IDENT:
        return is_condition(query)
    if typed[0].name in {*_MEDIA_PREFIXES, *_OPERATORS}:
        return False
    behind = typed[1:]
    return not behind or (behind[0].name == "and" and _has_no_or(behind) and is_condition(behind[1:]))


def _has_no_or(words: Sequence[Token]) -> bool:
    return all(word.name != "or" for word in words)


def _is_in_parentheses(word: Token) -> bool:
    return word.kind in {TokenKind.PARENTHESES, TokenKind.FUNCTION} and not is_empty(word.children)


def _is_dotted_name(words: Sequence[Token]) -> bool:
    is_alternating = all(first.is_literal(".") != second.is_literal(".") for first, second in pairwise(words))
    ends_are_names = bool(words) and not words[0].is_literal(".") and not words[-1].is_literal(".")
    kinds = all(word.kind is TokenKind.IDENT or word.is_literal(".") for word in words)
    return kinds and ends_are_names and is_alternating


def _without_smaller(token: Token) -> Token:
    if not token.has_children:
        return token
    children = [_without_smaller(child) for child in token.children]
    return replace(token, children=tuple(_turned(children)))


def _turned(tokens: Sequence[Token]) -> Sequence[Token]:
    """Rewrite `a < b <= c` as `c >= b > a`; ranges in both directions stay, and are refused later."""
    if not any(token.is_literal(_SMALLER) for token in tokens) or any(
        token.is_literal(">") for token in tokens
    ):
        return tokens
    parts: list[list[Token]] = [[]]
    for token in tokens:
        is_comparison = token.is_literal(_SMALLER, "=")
        if is_comparison != bool(parts[-1] and parts[-1][-1].is_literal(_SMALLER, "=")):
            parts.append([])
        parts[-1].append(token)
    return [_greater(token) for part in reversed(parts) for token in part]


def _greater(token: Token) -> Token:
    return replace(token, name=">", text=">") if token.is_literal(_SMALLER) else token
