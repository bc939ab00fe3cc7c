"""Rules and declarations of a stylesheet that the sanitizer can keep."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

import tinycss2

from identity.authentication.screens.css_tokens import Token, Tokens, tokenized, tokens_of
from identity.authentication.screens.errors import CssRefused


@dataclass(frozen=True, slots=True)
class Declaration:
    """`name` is in lower case, except for a custom property."""

    name: str
    value: Tokens
    is_important: bool
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class QualifiedRule:
    prelude: Tokens
    items: "tuple[Item, ...]"
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class AtRule:
    """`items` is None for a statement, and empty for a rule whose content is not parsed."""

    name: str
    prelude: Tokens
    items: "tuple[Item, ...] | None"
    line: int
    column: int


Item = Declaration | QualifiedRule | AtRule


def parsed(css: str, *, known: Collection[str]) -> tuple[Item, ...]:
    """Parse a stylesheet, with the content of `known` at-rules; raises CssRefused."""
    nodes = tinycss2.parse_stylesheet(tokenized(css), skip_comments=True, skip_whitespace=True)
    return _items(nodes, known)


def _items(nodes: Iterable[Any], known: Collection[str]) -> tuple[Item, ...]:
    return tuple(_item(node, known) for node in nodes)


def _item(node: Any, known: Collection[str]) -> Item:
    match node.type:
        case "declaration":
            return _declaration(node)
        case "qualified-rule":
            items = _contents(node.content, known)
            return QualifiedRule(tokens_of(node.prelude), items, node.source_line, node.source_column)
        case "at-rule":
            return _at_rule(node, known)
        case _:
            raise CssRefused(node.message, node.source_line, node.source_column)


def _declaration(node: Any) -> Declaration:
    is_custom = node.name.startswith("--")
    value = tokens_of(node.value)
    declaration = Declaration(
        node.name if is_custom else node.lower_name,
        value,
        is_important=node.important,
        line=node.source_line,
        column=node.source_column,
    )
    for token in value:
        if _is_out_of_place(token, is_custom=is_custom):
            raise CssRefused(f"unexpected {token.text or 'block'} in a value", token.line, token.column)
    return declaration


def _is_out_of_place(token: Token, *, is_custom: bool) -> bool:
    return token.is_literal("!", ";") or (token.kind == "{} block" and not is_custom)


def _at_rule(node: Any, known: Collection[str]) -> AtRule:
    name = node.lower_at_keyword
    items: tuple[Item, ...] | None = () if node.content is not None else None
    if node.content is not None and name in known:
        items = _contents(node.content, known)
    return AtRule(name, tokens_of(node.prelude), items, node.source_line, node.source_column)


def _contents(nodes: list[Any], known: Collection[str]) -> tuple[Item, ...]:
    contents = tinycss2.parse_blocks_contents(nodes, skip_comments=True, skip_whitespace=True)
    return _items(contents, known)
