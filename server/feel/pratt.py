"""The core of the parser: operators by binding power (Pratt parsing), and names that contain spaces."""

from collections.abc import Callable, Mapping
from enum import IntEnum, auto
from typing import NamedTuple, TypeVar

from server.feel import limits
from server.feel.cursor import AN_OPERATOR_OR_THE_END, Cursor
from server.feel.dialects import Dialect
from server.feel.errors import FeelSyntaxError
from server.feel.lexer import TokenKind
from server.feel.nodes import Node
from server.feel.vocabulary import Vocabulary, vocabulary_of

_LITERALS = {"null", "true", "false"}
_BEGINNERS = {"function", "if", "for", "some", "every", "not"}
_CONNECTIVES = frozenset(
    {"in", "return", "then", "else", "satisfies", "and", "or", "between", "instance", "of"}
)
RESERVED = _CONNECTIVES | _LITERALS | _BEGINNERS
_NO_PART_OF_A_FUNCTION_NAME = RESERVED - {"of"}
_FUNCTIONS_NAMED_WITH_KEYWORDS = {
    "get": ("get", "or", "else"),
    "date": ("date", "and", "time"),
    "years": ("years", "and", "months", "duration"),
    "and": ("and",),
    "or": ("or",),
    "not": ("not",),
}
PROPERTIES_WITH_SPACES = {
    "time": ("time", "offset"),
    "start": ("start", "included"),
    "end": ("end", "included"),
}
_WORDS = frozenset({TokenKind.NAME, TokenKind.SYMBOL})
_PARTS_OF_A_NAME = frozenset({TokenKind.NAME, TokenKind.NUMBER})
_SYMBOLS_OF_A_NAME = frozenset({".", "/", "-", "'", "+", "*", "**"})
_AFTER_A_PARAMETER = frozenset({",", ":", ")"})
_AFTER_A_VARIABLE = frozenset({"in"})
COMPARISONS = frozenset({"=", "!=", "<", "<=", ">", ">="})

_Item = TypeVar("_Item")


class Power(IntEnum):
    """The binding power of an operator."""

    LOOSEST = auto()
    OR = auto()
    AND = auto()
    COMPARISON = auto()
    SUM = auto()
    PRODUCT = auto()
    EXPONENT = auto()
    SIGN = auto()
    CHAIN = auto()


class Infix(NamedTuple):
    power: Power
    parse: "Callable[[Parser, Node], Node]"


class Grammar(NamedTuple):
    """Parsers of operands, by first word or token kind, and parsers of operators."""

    prefixes: "Mapping[str, Callable[[Parser], Node]]"
    literals: "Mapping[TokenKind, Callable[[Parser], Node]]"
    infixes: Mapping[str, Infix]


class Parser(Cursor):
    def __init__(self, text: str, grammar: Grammar, names: frozenset[str], dialect: Dialect) -> None:
        if len(text) > limits.MAX_TEXT_LENGTH:
            message = f"longer than {limits.MAX_TEXT_LENGTH} characters"
            raise FeelSyntaxError(message, text, limits.MAX_TEXT_LENGTH)
        super().__init__(text)
        self._grammar = grammar
        self.dialect = dialect
        self._vocabulary = Vocabulary(beside=vocabulary_of(names) if names else None)
        self._nesting = 0
        self._ends_range = False

    def expression(self, power: Power = Power.LOOSEST) -> Node:
        """Parse an operand and all following operators that bind tighter than `power`."""
        self.enter()
        node = self.continued(self._operand(power), power)
        self.leave()
        return node

    def continued(self, node: Node, power: Power) -> Node:
        """Parse all operators after an operand that bind tighter than `power`."""
        last = None
        while (infix := self._infix(power)) is not None:
            if infix.power is Power.COMPARISON and last is Power.COMPARISON:
                raise self.unexpected("'and' or 'or' between comparisons")
            # The tests of `x in (1, 2)` and the type of `x instance of number` are not operands.
            if last is not None and infix.power > last:
                raise self.unexpected(AN_OPERATOR_OR_THE_END)
            node = infix.parse(self, node)
            last = infix.power
        return node

    def range_end(self) -> Node:
        """Parse the end of a range; a following `[` closes the range unless it begins a filter."""
        outside, self._ends_range = self._ends_range, True
        node = self.expression(Power.COMPARISON)
        self._ends_range = outside
        return node

    def begins_reversed_range(self) -> bool:
        """Whether the current bracket opens `]10..20[`; no value can follow an empty list."""
        following = self.ahead()
        is_value = following.kind in self._grammar.literals or following.text == "@"
        return self.at("]") and is_value and self._begins_operand(1)

    def enter(self) -> None:
        """Enter a deeper level of the text."""
        self._nesting += 1
        if self._nesting > limits.MAX_NESTING:
            raise self.refused(f"nested deeper than {limits.MAX_NESTING} levels", self.token.start)

    def leave(self) -> None:
        self._nesting -= 1

    def declare(self, name: str) -> str:
        """Declare a name, if the dialect supports this, so that it is recognized from here on; returns the name."""
        if self.dialect.binds_spaced_names:
            self._vocabulary.declare(name)
        return name

    def separated(self, item: Callable[[], _Item]) -> tuple[_Item, ...]:
        items = [item()]
        while self.accept(","):
            items.append(item())
        return tuple(items)

    def declared_name(self) -> str | None:
        """Parse a declared name; if there is none, return None without reading anything."""
        length, name = self._vocabulary.find(self)
        self.advance(length)
        return name if length else None

    def name(self) -> str:
        declared = self.declared_name()
        if declared is not None:
            return declared
        token = self.token
        if token.kind is not TokenKind.QUOTED_NAME and (
            token.kind is not TokenKind.NAME or token.text in RESERVED
        ):
            raise self.unexpected("a name")
        return self.advance().text

    def key(self) -> str:
        """Parse the key after a path's dot, which may be a keyword."""
        words = PROPERTIES_WITH_SPACES.get(self.token.text)
        if words is not None and self.spells(words):
            return self.words(len(words))
        declared = self.declared_name()
        if declared is None and self.token.kind is TokenKind.NAME and self.token.text not in _LITERALS:
            return self.advance().text
        return declared or self.name()

    def function_name_length(self) -> int:
        """Return the number of tokens of a called function's name, 0 if no call begins here."""
        words = _FUNCTIONS_NAMED_WITH_KEYWORDS.get(self.token.text)
        if words is not None and self.spells(words) and self.ahead(len(words)).text == "(":
            return len(words)
        length = self._length_of_names(_NO_PART_OF_A_FUNCTION_NAME)
        return length if self.is_symbol(length, "(") else 0

    def argument_name(self) -> str | None:
        """Parse a parameter name and its colon; if there is none, return None without reading anything."""
        length, name = self._vocabulary.find(self)
        if length and self.is_symbol(length, ":"):
            self.advance(length + 1)
            return name
        length = self._parameter_length()
        if not length or not self.is_symbol(length, ":"):
            return None
        name = self.words(length)
        self.advance()
        return name

    def parameter(self) -> str:
        new = self._new_name(_AFTER_A_PARAMETER)
        if new is not None:
            return new
        declared = self.declared_name()
        if declared is not None:
            return declared
        length = self._parameter_length()
        if not length:
            raise self.unexpected("a parameter")
        return self.declare(self.words(length))

    def variable(self) -> str:
        """Parse the name of a loop variable."""
        new = self._new_name(_AFTER_A_VARIABLE)
        return self.name() if new is None else new

    def _new_name(self, following: frozenset[str]) -> str | None:
        """Parse words and symbols that form a new name, up to a token that must follow it (DMN 1.5 §10.3.1.2, rules 27 and 30).

        Returns None without reading anything for a single word, or if the dialect only supports plain words.
        """
        if not self.dialect.binds_spaced_names or not self.at_plain_word():
            return None
        length = 1
        while (token := self.ahead(length)).text not in following:
            is_part = token.kind in _PARTS_OF_A_NAME or token.text in _SYMBOLS_OF_A_NAME
            if not is_part or (token.kind is TokenKind.NAME and token.text in RESERVED):
                return None
            length += 1
        if length == 1:
            return None
        known, name = self._vocabulary.find(self)
        start, end = self.token.start, self.ahead(length - 1).end
        self.advance(length)
        # A name declared before may be written with other white space.
        return name if known == length else self.declare(" ".join(self.text[start:end].split()))

    def words(self, length: int) -> str:
        return " ".join(self.advance().text for _ in range(length))

    def _operand(self, power: Power) -> Node:
        token = self.token
        if self._vocabulary.find(self)[0]:
            return self._grammar.literals[TokenKind.NAME](self)
        # DMN 1.5 §10.3.1.2: `< 5` tests the input and is not an operand, so `a == b` is invalid.
        if power >= Power.COMPARISON and self.at(*COMPARISONS):
            raise self.unexpected("a value")
        if token.kind in _WORDS:
            parse = self._grammar.prefixes.get(token.text) or self._grammar.literals.get(token.kind)
        else:
            parse = self._grammar.literals.get(token.kind)
        if parse is None or (token.text in _CONNECTIVES and not self.function_name_length()):
            raise self.unexpected("an expression")
        return parse(self)

    def _infix(self, power: Power) -> Infix | None:
        infix = self._grammar.infixes.get(self.token.text)
        if infix is None or infix.power <= power or self.token.kind not in _WORDS:
            return None
        if self.token.text == "(" and not self.dialect.calls_any_operand:
            return None
        if self._ends_range and self.token.text == "[" and self.ahead().text == "]":
            return None
        # `[1..5[`: the last bracket closes a range, because a filter would need a condition.
        return None if self.token.text == "[" and not self._begins_operand(1) else infix

    def _begins_operand(self, distance: int) -> bool:
        token = self.ahead(distance)
        if token.kind is TokenKind.NAME:
            return token.text not in _CONNECTIVES
        return token.kind in self._grammar.literals or token.text in self._grammar.prefixes

    def _parameter_length(self) -> int:
        return self._length_of_names(frozenset()) or int(self.token.kind is TokenKind.QUOTED_NAME)

    def _length_of_names(self, excluded: frozenset[str]) -> int:
        length = 0
        while (token := self.ahead(length)).kind is TokenKind.NAME and token.text not in excluded:
            length += 1
        return length

    def at_plain_word(self) -> bool:
        return self.token.kind is TokenKind.NAME and self.token.text not in RESERVED

    def spells(self, words: tuple[str, ...]) -> bool:
        """Whether the next tokens are these words and symbols."""
        return all(
            self.ahead(distance).text == word and self.ahead(distance).kind in _WORDS
            for distance, word in enumerate(words)
        )

    def is_symbol(self, distance: int, symbol: str) -> bool:
        token = self.ahead(distance)
        return token.text == symbol and token.kind is TokenKind.SYMBOL
