"""Selectors (Selectors Level 4, CSS Nesting), and their confinement to the card.

A selector after `.card ` matches only descendants of the card. Each compound selector matches a descendant, a child or
a sibling of the element that the previous one matches, and pseudo-classes only narrow that down.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from tinycss2 import nth

from identity.authentication.screens.css_tokens import (
    Token,
    TokenKind,
    Tokens,
    significant,
    split_at,
    stripped,
    walked,
    written,
)
from identity.authentication.screens.errors import CssRefused

CARD: Final = ".card"
CUSTOM_SCREEN: Final = ".custom-screen"
ROOTS: Final = (CARD, CUSTOM_SCREEN)

_COMBINATORS = (">", "+", "~")
_INTO = ("", ">")
_ATTRIBUTE_MATCHES = ("=", "~=", "|=", "^=", "$=", "*=")
_NTH = frozenset({"nth-child", "nth-last-child", "nth-of-type", "nth-last-of-type"})
_FORGIVING = frozenset({"is", "where"})
_OF_SELECTORS = _FORGIVING | {"not", "matches", "any", "-webkit-any", "-moz-any", "host-context", "slotted"}
_RELATIVE = "has"


@dataclass(frozen=True, slots=True)
class Selector:
    """Compound selectors, each but the first with the combinator before it; an empty one means a descendant.

    `leading` is the combinator before the first compound selector of a relative selector.
    """

    compounds: tuple[str, ...]
    combinators: tuple[str, ...]
    leading: str
    names_parent: bool
    starts_with_parent: bool

    def within(self, root: str) -> str:
        """Return the selector confined to the root; one that is confined to another root is moved to this one."""
        if self._is_within_a_root:
            return self._text((root, *self.compounds[1:]))
        return f"{root} {self._text(self.compounds)}"

    def nested_within(self, root: str) -> str:
        """Return the selector for use in a nested rule; one that does not begin with the parent is confined.

        CSS Nesting §3.1: a selector that contains `&` is not implicitly a descendant selector of its parent.
        """
        is_absolute = self.names_parent and not self.leading and not self.starts_with_parent
        return self.within(root) if is_absolute else self.leading + self._text(self.compounds)

    @property
    def text(self) -> str:
        return self.leading + self._text(self.compounds)

    @property
    def _is_within_a_root(self) -> bool:
        return self.compounds[0] in ROOTS and bool(self.combinators) and self.combinators[0] in _INTO

    def _text(self, compounds: Sequence[str]) -> str:
        pieces = [compounds[0]]
        for combinator, compound in zip(self.combinators, compounds[1:], strict=True):
            # `u+` without a space would begin a unicode-range token.
            is_range = combinator == "+" and pieces[-1][-1] in "uU"
            pieces += (" + " if is_range else combinator or " ", compound)
        return "".join(pieces)


def selectors_of(tokens: Tokens, *, is_relative: bool = False) -> list[Selector]:
    """Parse a selector list; raises CssRefused."""
    return [_selector(part, tokens, is_relative=is_relative) for part in split_at(tokens, ",")]


def _selector(part: Tokens, whole: Tokens, *, is_relative: bool) -> Selector:
    if not part:
        raise _refused("expected a selector", whole)
    leading = ""
    if part[0].is_literal(*_COMBINATORS):
        if not is_relative:
            raise _refused(f"unexpected {part[0].text} before a selector", part)
        leading, part = part[0].text, stripped(part[1:])
    compounds, combinators = _split(part)
    if not all(compounds) or not compounds:
        raise _refused("expected a selector beside each combinator", part or whole)
    if any(map(_has_pseudo_element, compounds[:-1])):
        raise _refused("nothing stands behind a pseudo-element", part)
    return Selector(
        compounds=tuple(_compound(compound) for compound in compounds),
        combinators=combinators,
        leading=leading,
        names_parent=any(token.is_literal("&") for token in walked(part)),
        starts_with_parent=part[0].is_literal("&"),
    )


def _split(part: Tokens) -> tuple[list[list[Token]], tuple[str, ...]]:
    """Split into compound selectors and the combinators between them."""
    compounds: list[list[Token]] = [[]]
    combinators: list[str] = []
    is_apart = False
    for token in part:
        if token.is_space:
            # A comment is no descendant combinator.
            is_apart = is_apart or token.kind is TokenKind.WHITESPACE
            continue
        is_combinator = token.is_literal(*_COMBINATORS)
        if is_combinator or (is_apart and compounds[-1]):
            combinators.append(token.text if is_combinator else "")
            compounds.append([])
        if not is_combinator:
            compounds[-1].append(token)
        is_apart = False
    return compounds, tuple(combinators)


def _has_pseudo_element(tokens: Sequence[Token]) -> bool:
    return any(first.is_literal(":") and second.is_literal(":") for first, second in pairwise(tokens))


def _compound(tokens: list[Token]) -> str:
    reading = _SelectorParser(tokens)
    return "".join((reading.type_selector(), *reading.others()))


class _SelectorParser:
    """Parses one compound selector."""

    def __init__(self, tokens: list[Token]) -> None:
        self._tokens = tokens
        self._next = 0
        self._is_of_pseudo_element = False

    def type_selector(self) -> str:
        """Parse `name` or `*` with an optional namespace; empty when there is none."""
        first = self._name_or_star()
        if not self._peek("|"):
            return first
        self._take()
        second = self._name_or_star()
        if not second:
            raise _refused("expected a name behind |", self._tokens)
        return f"{first}|{second}"

    def others(self) -> Iterator[str]:
        while self._next < len(self._tokens):
            token = self._take()
            if self._is_of_pseudo_element and not token.is_literal(":"):
                raise _refused("nothing but a pseudo-class stands behind a pseudo-element", (token,))
            yield self._simple(token)

    def _simple(self, token: Token) -> str:
        match token.kind:
            case TokenKind.HASH if token.name:
                return token.text
            case TokenKind.BRACKETS:
                _expect_attribute(token)
                return written((token,), tight=(*_ATTRIBUTE_MATCHES, "|", "*"))
            case TokenKind.LITERAL if token.text == "&":
                return "&"
            case TokenKind.LITERAL if token.text == ".":
                return f".{self._expect(TokenKind.IDENT).text}"
            case TokenKind.LITERAL if token.text == ":":
                return f":{self._pseudo()}"
            case _:
                raise _refused(f"unexpected {token.text or token.kind} in a selector", (token,))

    def _pseudo(self) -> str:
        colon = ":" if self._peek(":") else ""
        if colon:
            self._take()
            self._is_of_pseudo_element = True
        name = self._expect(TokenKind.IDENT, TokenKind.FUNCTION)
        return colon + (_functional(name) if name.kind is TokenKind.FUNCTION else name.text)

    def _name_or_star(self) -> str:
        if self._next < len(self._tokens):
            token = self._tokens[self._next]
            if token.kind is TokenKind.IDENT or token.is_literal("*"):
                return self._take().text
        return ""

    def _expect(self, *kinds: TokenKind) -> Token:
        if self._next == len(self._tokens) or self._tokens[self._next].kind not in kinds:
            raise _refused("expected a name in a selector", self._tokens)
        return self._take()

    def _peek(self, literal: str) -> bool:
        return self._next < len(self._tokens) and self._tokens[self._next].is_literal(literal)

    def _take(self) -> Token:
        self._next += 1
        return self._tokens[self._next - 1]


def _functional(function: Token) -> str:
    arguments = stripped(function.children)
    if function.name in _OF_SELECTORS | {_RELATIVE}:
        return f"{function.text}({_selector_arguments(function, arguments)})"
    if function.name in _NTH:
        return f"{function.text}({_nth(function, arguments)})"
    for token in walked(arguments):
        if token.is_literal("<", "<!--", "-->", ";") or token.kind is TokenKind.BRACES:
            raise _refused(f"unexpected {token.text or 'block'} in :{function.name}()", (token,))
    return f"{function.text}({written(arguments)})"


def _selector_arguments(function: Token, arguments: Tokens) -> str:
    if not arguments and function.name in _FORGIVING:
        return ""
    if not arguments:
        raise _refused(f"expected a selector in :{function.name}()", (function,))
    found = selectors_of(arguments, is_relative=function.name == _RELATIVE)
    return ",".join(selector.text for selector in found)


def _nth(function: Token, arguments: Tokens) -> str:
    """Parse An+B with an optional `of` clause."""
    marks = [index for index, token in enumerate(arguments) if token.name == "of"]
    step = stripped(arguments[: marks[0]] if marks else arguments)
    text = written(step)
    if nth.parse_nth(text) is None:
        raise _refused(f"expected an+b in :{function.name}()", (function,))
    if not marks:
        return text
    counted = selectors_of(arguments[marks[0] + 1 :])
    return f"{text} of {','.join(selector.text for selector in counted)}"


def _expect_attribute(block: Token) -> None:
    """Raise CssRefused unless it is `[name]` or `[name=value]`, with or without a flag."""
    tokens = significant(block.children)
    matches = [index for index, token in enumerate(tokens) if token.is_literal(*_ATTRIBUTE_MATCHES)]
    end = matches[0] if matches else len(tokens)
    behind = [token.kind for token in tokens[end + 1 :]]
    is_valued = behind[:1] in ([TokenKind.IDENT], [TokenKind.STRING]) and behind[1:] in (
        [],
        [TokenKind.IDENT],
    )
    if not _is_attribute_name(tokens[:end]) or (matches and not is_valued):
        raise _refused("expected [name] or [name=value]", (block,))


def _is_attribute_name(tokens: Tokens) -> bool:
    *namespace, name = tokens or (None,)
    if name is None or name.kind is not TokenKind.IDENT:
        return False
    match namespace:
        case []:
            return True
        case [bar]:
            return bar.is_literal("|")
        case [prefix, bar]:
            return bar.is_literal("|") and (prefix.kind is TokenKind.IDENT or prefix.is_literal("*"))
        case _:
            return False


def _refused(what: str, tokens: Tokens) -> CssRefused:
    line, column = (tokens[0].line, tokens[0].column) if tokens else (1, 1)
    return CssRefused(what, line, column)
