"""Filters of RFC 7644 §3.4.2.2 as trees.

A filter is bounded before anything is evaluated: its length, its comparisons and the depth of its groups.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import msgspec

from identity.people.provisioning.refusals import ScimType, refusal
from server.platform.errors import InvalidArgument

MOST_CHARACTERS = 4096
MOST_COMPARISONS = 32
MOST_DEPTH = 16
MOST_VALUE_CHARACTERS = 256

Value = str | bool | int | float | None


class Comparison(StrEnum):
    EQ = "eq"
    NE = "ne"
    CO = "co"
    SW = "sw"
    EW = "ew"
    GT = "gt"
    GE = "ge"
    LT = "lt"
    LE = "le"
    PR = "pr"


@dataclass(frozen=True, slots=True)
class Compare:
    """A comparison of an attribute; the path is in lower case and without the URN of a core schema."""

    path: str
    comparison: Comparison
    value: Value = None


@dataclass(frozen=True, slots=True)
class Among:
    """One value of a multi-valued attribute meets the whole condition, whose paths are below the attribute."""

    path: str
    condition: "Filter"


@dataclass(frozen=True, slots=True)
class Not:
    operand: "Filter"


@dataclass(frozen=True, slots=True)
class All:
    operands: tuple["Filter", ...]


@dataclass(frozen=True, slots=True)
class Any:
    operands: tuple["Filter", ...]


Filter = Compare | Among | Not | All | Any

_TOKEN = re.compile(
    r"""\s*(?:
        (?P<mark>[()\[\]])
        |(?P<text>"(?:[^"\\\x00-\x1f]|\\.)*")
        |(?P<number>-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?=[\s()\[\]]|$))
        |(?P<below>\.[A-Za-z$][A-Za-z0-9_$-]*)
        |(?P<word>[A-Za-z$][A-Za-z0-9_.:$-]*)
    )""",
    re.VERBOSE,
)
_CORE = re.compile(r"urn:ietf:params:scim:schemas:core:2\.0:(?:user|group):", re.IGNORECASE)
_LITERALS = {"true": True, "false": False, "null": None}


def parse(text: str) -> Filter:
    """Raises InvalidArgument with `invalidFilter`."""
    if len(text) > MOST_CHARACTERS:
        raise _invalid(f"expected at most {MOST_CHARACTERS} characters")
    parser = _Parser(_tokens(text))
    found = parser.alternatives(0)
    parser.expect_end()
    return found


def values_of(condition: Filter) -> Iterator[Value]:
    """Yield the values with which a filter compares."""
    match condition:
        case Compare():
            yield condition.value
        case Among():
            yield from values_of(condition.condition)
        case Not():
            yield from values_of(condition.operand)
        case All() | Any():
            for operand in condition.operands:
                yield from values_of(operand)


def path_key(text: str) -> str:
    """Return an attribute's path in lower case, without the URN of a core schema."""
    return _CORE.sub("", text).lower()


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str


def _tokens(text: str) -> list[_Token]:
    tokens, place = [], 0
    while text[place:].strip():
        found = _TOKEN.match(text, place)
        if found is None or found.lastgroup is None:
            raise _invalid(f"unexpected character at position {place + 1}")
        tokens.append(_Token(found.lastgroup, found[found.lastgroup]))
        place = found.end()
    return tokens


@dataclass(slots=True)
class _Parser:
    """Recursive descent; `or` binds weaker than `and`, which binds weaker than `not`."""

    tokens: Sequence[_Token]
    place: int = 0
    comparisons: int = field(default=0)

    def alternatives(self, depth: int) -> Filter:
        if depth > MOST_DEPTH:
            raise _invalid(f"expected groups of at most {MOST_DEPTH} levels")
        operands = [self._conjunction(depth)]
        while self._takes_word("or"):
            operands.append(self._conjunction(depth))
        return operands[0] if len(operands) == 1 else Any(tuple(operands))

    def expect_end(self) -> None:
        if self.place < len(self.tokens):
            raise _invalid("expected and, or, or the end")

    def _conjunction(self, depth: int) -> Filter:
        operands = [self._operand(depth)]
        while self._takes_word("and"):
            operands.append(self._operand(depth))
        return operands[0] if len(operands) == 1 else All(tuple(operands))

    def _operand(self, depth: int) -> Filter:
        if self._takes_mark("("):
            return self._group(depth, ")")
        token = self._next("an attribute")
        if token.kind != "word":
            raise _invalid("expected an attribute")
        if token.text.lower() == "not" and self._takes_mark("("):
            return Not(self._group(depth, ")"))
        path = path_key(token.text)
        if self._takes_mark("["):
            return self._among(path, depth)
        return self._comparison(path)

    def _group(self, depth: int, end: str) -> Filter:
        inner = self.alternatives(depth + 1)
        if not self._takes_mark(end):
            raise _invalid(f"expected {end}")
        return inner

    def _among(self, path: str, depth: int) -> Filter:
        condition = self._group(depth, "]")
        following = self._peek()
        if following is None or following.kind != "below":
            return Among(path, condition)
        # Entra ID compares a part of the chosen value: emails[type eq "work"].value eq "a@example.com".
        self.place += 1
        return Among(path, All((condition, self._comparison(following.text[1:].lower()))))

    def _comparison(self, path: str) -> Filter:
        self.comparisons += 1
        if self.comparisons > MOST_COMPARISONS:
            raise _invalid(f"expected at most {MOST_COMPARISONS} comparisons")
        try:
            comparison = Comparison(self._next("an operator").text.lower())
        except ValueError as error:
            raise _invalid(f"expected an operator of {', '.join(Comparison)}") from error
        if comparison is Comparison.PR:
            return Compare(path, comparison)
        return Compare(path, comparison, _value(self._next("a value")))

    def _next(self, what: str) -> _Token:
        token = self._peek()
        if token is None:
            raise _invalid(f"expected {what}, found the end")
        self.place += 1
        return token

    def _peek(self) -> _Token | None:
        return self.tokens[self.place] if self.place < len(self.tokens) else None

    def _takes_word(self, word: str) -> bool:
        token = self._peek()
        if token is None or token.kind != "word" or token.text.lower() != word:
            return False
        self.place += 1
        return True

    def _takes_mark(self, mark: str) -> bool:
        token = self._peek()
        if token is None or token != _Token("mark", mark):
            return False
        self.place += 1
        return True


def _value(token: _Token) -> Value:
    if token.kind == "word" and token.text.lower() in _LITERALS:
        return _LITERALS[token.text.lower()]
    if token.kind not in {"text", "number"}:
        raise _invalid("expected a value: a text in quotes, a number, true, false or null")
    try:
        value: str | int | float = msgspec.json.decode(token.text, type=str | int | float)
    except (msgspec.DecodeError, ValueError) as error:
        raise _invalid("expected a JSON value") from error
    if isinstance(value, str) and (len(value) > MOST_VALUE_CHARACTERS or "\0" in value):
        raise _invalid(f"expected values of at most {MOST_VALUE_CHARACTERS} characters, without NUL")
    return value


def _invalid(detail: str) -> InvalidArgument:
    return refusal(ScimType.INVALID_FILTER, f"filter: {detail}")
