"""Python source under construction: its lines, its variables, and what is known about each."""

from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from enum import Enum, auto
from types import NoneType
from typing import Final, TypeAlias

from server.feel.decimals import Number
from server.feel.nodes import Node
from server.feel.values import Value, is_number

_MAX_DEPTH: Final = 16
"""Deepest nesting of blocks; Python itself refuses 20 nested loops."""

_MAX_SIZE: Final = 400
"""Most nodes of a text; for a longer one, generating code takes longer than it saves."""

STEPS: Final = 1_000_000
"""Steps after which the code gives up, well before the limits in `limits`."""


class UnsupportedError(Exception):
    """There is no code for this text; the closures evaluate it."""


class Kind(Enum):
    """Kinds of values, as far as the text shows them; flat lists and contexts contain no lists or contexts."""

    ANY = auto()
    NULL = auto()
    BOOLEAN = auto()
    INT = auto()
    NUMBER = auto()
    STRING = auto()
    LIST = auto()
    FLAT_LIST = auto()
    CONTEXT = auto()
    FLAT_CONTEXT = auto()


SCALARS: Final = frozenset({Kind.NULL, Kind.BOOLEAN, Kind.INT, Kind.NUMBER, Kind.STRING})
_KINDS: Mapping[type, Kind] = {
    NoneType: Kind.NULL,
    bool: Kind.BOOLEAN,
    int: Kind.INT,
    Decimal: Kind.NUMBER,
    str: Kind.STRING,
}
_TYPES: Mapping[Kind, frozenset[type]] = {
    Kind.NULL: frozenset({NoneType}),
    Kind.BOOLEAN: frozenset({bool}),
    Kind.INT: frozenset({int}),
    Kind.NUMBER: frozenset({int, Decimal}),
    Kind.STRING: frozenset({str}),
    Kind.LIST: frozenset({list}),
    Kind.FLAT_LIST: frozenset({list}),
    Kind.CONTEXT: frozenset({dict}),
    Kind.FLAT_CONTEXT: frozenset({dict}),
}
_KINDS_OF_TYPES: Mapping[frozenset[type], Kind] = {
    types: kind for kind, types in _TYPES.items() if kind not in {Kind.FLAT_LIST, Kind.FLAT_CONTEXT}
}


def kind_of(value: object) -> Kind:
    return _KINDS.get(type(value), Kind.ANY)


class Item(str):
    """The scope level of a filter: names refer first to entries of this item."""

    __slots__ = ()


Level: TypeAlias = "Mapping[str, str | None] | Item"
"""Names with the Python variables of their values; None for a name without code generation."""

Emit: TypeAlias = "Callable[[Node, Block], str]"
"""Generates the lines of a node and returns the variable of its value."""


class Source:
    """The state shared by all blocks of one text."""

    def __init__(self, runtime: Mapping[str, object]) -> None:
        """Make the objects in `runtime` available to the code."""
        self.lines: list[str] = []
        self.namespace = {**runtime}
        self.size = 0
        self._count = 0

    def variable(self) -> str:
        self._count += 1
        return f"v{self._count}"

    def constant(self, value: object) -> str:
        self._count += 1
        name = f"k{self._count}"
        self.namespace[name] = value
        return name

    def count(self, node: Node) -> None:
        self.size += 1
        if self.size > _MAX_SIZE:
            raise UnsupportedError(node)


class Block:
    """A block of lines; `levels` are the scopes around it, innermost last."""

    def __init__(
        self,
        source: Source,
        depth: int,
        *,
        levels: tuple[Level, ...] = (),
        kinds: Mapping[str, Kind] | None = None,
        variables: Mapping[str, str] | None = None,
    ) -> None:
        if depth > _MAX_DEPTH:
            raise UnsupportedError
        self.source = source
        self.levels = levels
        self.variables = dict(variables or {})
        self._depth = depth
        self._kinds = dict(kinds or {})

    def inner(self, *levels: Level) -> "Block":
        return Block(
            self.source,
            self._depth + 1,
            levels=self.levels + levels,
            kinds=self._kinds,
            variables=self.variables,
        )

    def line(self, text: str) -> None:
        self.source.lines.append("    " * self._depth + text)

    def constant(self, value: Value) -> str:
        name = self.source.constant(value)
        self._kinds[name] = kind_of(value)
        return name

    def assigned(self, code: str, kind: Kind = Kind.ANY) -> str:
        variable = self.source.variable()
        self.line(f"{variable} = {code}")
        self._kinds[variable] = kind
        return variable

    def number(self, operand: str) -> Number | None:
        """Return the number of a numeric constant, else None."""
        value = self.source.namespace.get(operand)
        return value if is_number(value) else None

    def kind(self, operand: str) -> Kind:
        return self._kinds.get(operand, Kind.ANY)

    def learn(self, operand: str, kind: Kind) -> None:
        self._kinds[operand] = kind

    def give_up_if(self, condition: str) -> None:
        self.line(f"if {condition}: return None")

    def require(self, operand: str, kind: Kind) -> None:
        self.require_types(operand, _TYPES[kind])

    def require_types(self, operand: str, types: Iterable[type]) -> None:
        """Give up unless the value has one of these types."""
        allowed = frozenset(types)
        known = _TYPES.get(self.kind(operand))
        if known is not None and known <= allowed:
            return
        self.give_up_if(" and ".join(self._is_not(operand, each) for each in sorted(allowed, key=_order)))
        self.learn(operand, _KINDS_OF_TYPES.get(allowed, Kind.ANY))

    def charge(self, steps: str) -> None:
        self.line(f"steps += {steps}")
        self.give_up_if(f"steps > {STEPS}")

    def _is_not(self, operand: str, expected: type) -> str:
        if expected is NoneType:
            return f"{operand} is not None"
        self.source.namespace[expected.__name__] = expected
        return f"type({operand}) is not {expected.__name__}"


def _order(expected: type) -> tuple[int, str]:
    """Return a sort key: the most common types first, in a stable order."""
    return _COMMONEST.index(expected) if expected in _COMMONEST else len(_COMMONEST), expected.__name__


_COMMONEST: Final = (int, str, dict, list, Decimal)
