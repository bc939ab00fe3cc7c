"""Stylesheet sanitizer: the result affects descendants of the card only, and neither loads nor runs anything.

Sanitizing a result again leaves it unchanged, so a stored stylesheet can be saved again.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from identity.authentication.screens.css_preludes import written_prelude
from identity.authentication.screens.css_rules import (
    KEPT_AT_RULES,
    REMOVED_ATTR_TYPES,
    REMOVED_FUNCTIONS,
    REMOVED_PREFIXES,
    REMOVED_PROPERTIES,
    AtRuleKind,
    Body,
    without_vendor,
)
from identity.authentication.screens.css_selectors import Selector, selectors_of
from identity.authentication.screens.css_syntax import AtRule, Declaration, Item, QualifiedRule, parsed
from identity.authentication.screens.css_tokens import (
    Token,
    TokenKind,
    Tokens,
    identifier,
    significant,
    split_at,
    walked,
    written,
)
from identity.authentication.screens.errors import CssRefused

_STEPS = frozenset({"from", "to"})
_RANGES = frozenset({"cover", "contain", "entry", "exit", "entry-crossing", "exit-crossing"})
_MARKUP: Final = ("<", "<!--", "-->")


@dataclass(frozen=True, slots=True)
class Stylesheet:
    """`removed_rules` counts the removed declarations and at-rules; content of a removed rule is not counted."""

    text: str
    removed_rules: int


def sanitized(css: str, root: str) -> Stylesheet:
    """Confine a stylesheet to the root, which is one of ROOTS; raises CssRefused for an invalid one."""
    sanitizing = _Sanitizer(root)
    text = sanitizing.top_level(parsed(css, known=KEPT_AT_RULES))
    return Stylesheet(text, sanitizing.removed_rules)


class _Sanitizer:
    def __init__(self, root: str) -> None:
        self._root = root
        self.removed_rules = 0

    def top_level(self, items: Iterable[Item]) -> str:
        """Serialize rules at the top level."""
        return "".join(self._rule(item, is_nested=False) for item in items)

    def _nested(self, items: Iterable[Item]) -> str:
        """Serialize the content of a rule."""
        return "".join(
            self._declaration(item) if isinstance(item, Declaration) else self._rule(item, is_nested=True)
            for item in items
        )

    def _rule(self, item: Item, *, is_nested: bool) -> str:
        match item:
            case Declaration():
                raise CssRefused("expected a rule, found a declaration", item.line, item.column)
            case QualifiedRule():
                return _block(self._selectors(item.prelude, is_nested=is_nested), self._nested(item.items))
            case AtRule():
                return self._at_rule(item, is_nested=is_nested)

    def _selectors(self, prelude: Tokens, *, is_nested: bool) -> str:
        found = selectors_of(prelude, is_relative=is_nested)
        return ",".join(self._held(selector, is_nested=is_nested) for selector in found)

    def _held(self, selector: Selector, *, is_nested: bool) -> str:
        return selector.nested_within(self._root) if is_nested else selector.within(self._root)

    def _at_rule(self, rule: AtRule, *, is_nested: bool) -> str:
        kind = KEPT_AT_RULES.get(rule.name)
        if kind is None or any(map(_is_removed_token, walked(rule.prelude))):
            return self._removed()
        is_out_of_place = is_nested and (rule.items is None or not kind.is_nestable)
        if is_out_of_place and kind.stays_empty:
            return self._removed()
        if rule.items is None:
            return _statement(rule, kind)
        if not kind.prelude(rule.prelude):
            raise _misplaced(rule)
        body = self._body(kind, rule.items, is_nested=is_nested)
        if not body and not (kind.stays_empty and not is_nested):
            return ""
        return _block(self._head(rule, kind, is_nested=is_nested), body, stays_empty=True)

    def _head(self, rule: AtRule, kind: AtRuleKind, *, is_nested: bool) -> str:
        if kind.body is Body.SELECTED:
            prelude = self._selectors(rule.prelude, is_nested=is_nested)
        else:
            prelude = written_prelude(rule.prelude)
        return f"@{rule.name} {prelude}".rstrip()

    def _body(self, kind: AtRuleKind, items: Sequence[Item], *, is_nested: bool) -> str:
        if kind.body is Body.KEYFRAMES:
            return "".join(map(self._keyframe, items))
        if is_nested or kind.body is Body.SELECTED:
            return self._nested(items)
        return self.top_level(items)

    def _keyframe(self, item: Item) -> str:
        if not isinstance(item, QualifiedRule) or not all(map(_is_step, split_at(item.prelude, ","))):
            # Browsers ignore it too.
            return self._removed()
        declarations = [
            self._declaration(each) if isinstance(each, Declaration) else self._removed()
            for each in item.items
        ]
        return _block(written(item.prelude), "".join(declarations))

    def _declaration(self, declaration: Declaration) -> str:
        if _is_removed_declaration(declaration):
            return self._removed()
        important = "!important" if declaration.is_important else ""
        return f"{identifier(declaration.name)}:{written(declaration.value)}{important};"

    def _removed(self) -> str:
        self.removed_rules += 1
        return ""


def _block(head: str, body: str, *, stays_empty: bool = False) -> str:
    return f"{head}{{{body.removesuffix(';')}}}" if body or stays_empty else ""


def _statement(rule: AtRule, kind: AtRuleKind) -> str:
    if kind.statement is None:
        raise CssRefused(f"expected a block behind @{rule.name}", rule.line, rule.column)
    if not kind.statement(rule.prelude):
        raise _misplaced(rule)
    return f"@{rule.name} {written_prelude(rule.prelude)};"


def _misplaced(rule: AtRule) -> CssRefused:
    return CssRefused(f"what stands behind @{rule.name} is nothing of its kind", rule.line, rule.column)


def _is_step(selector: Tokens) -> bool:
    words = significant(selector)
    if len(words) == 2 and words[0].kind is TokenKind.IDENT and words[0].name in _RANGES:  # noqa: PLR2004  # a range and how far
        words = words[1:]
    is_name = len(words) == 1 and words[0].kind is TokenKind.IDENT and words[0].name in _STEPS
    return is_name or (len(words) == 1 and words[0].kind is TokenKind.PERCENTAGE)


def _is_removed_declaration(declaration: Declaration) -> bool:
    is_custom = declaration.name.startswith("--")
    is_removed_property = not is_custom and without_vendor(declaration.name) in REMOVED_PROPERTIES
    return is_removed_property or any(
        token.is_literal(*_MARKUP) or _is_removed_token(token) for token in walked(declaration.value)
    )


def _is_removed_token(token: Token) -> bool:
    match token.kind:
        case TokenKind.URL:
            return True
        case TokenKind.IDENT:
            return token.name in REMOVED_PREFIXES
        case TokenKind.FUNCTION if token.name == "attr":
            return any(inner.name in REMOVED_ATTR_TYPES for inner in walked(token.children))
        case TokenKind.FUNCTION:
            return without_vendor(token.name) in REMOVED_FUNCTIONS
        case _:
            return False
