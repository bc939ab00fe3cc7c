"""The syntax tree: one class per form of the language, without behaviour.

`position` is the offset of the token at which failures are reported.
"""

from dataclasses import dataclass
from typing import TypeAlias

from server.feel.types import Type
from server.feel.values import Value

Node: TypeAlias = (
    "Literal | Name | InputValue | ListLiteral | ContextLiteral | RangeLiteral | Negation | Arithmetic"
    " | Comparison | Between | In | InstanceOf | Conjunction | Disjunction | If | For | Quantified"
    " | Path | Filter | Call | QualifiedCall | Invocation | Lambda | External | InputComparison"
)


@dataclass(frozen=True, slots=True)
class Literal:
    value: Value


@dataclass(frozen=True, slots=True)
class Name:
    name: str
    position: int


@dataclass(frozen=True, slots=True)
class InputValue:
    position: int


@dataclass(frozen=True, slots=True)
class ListLiteral:
    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class ContextLiteral:
    entries: tuple[tuple[str, Node], ...]


@dataclass(frozen=True, slots=True)
class RangeLiteral:
    start: Node
    end: Node
    start_included: bool
    end_included: bool
    position: int


@dataclass(frozen=True, slots=True)
class Negation:
    operand: Node
    position: int


@dataclass(frozen=True, slots=True)
class Arithmetic:
    operator: str
    left: Node
    right: Node
    position: int


@dataclass(frozen=True, slots=True)
class Comparison:
    operator: str
    left: Node
    right: Node
    position: int


@dataclass(frozen=True, slots=True)
class Between:
    operand: Node
    low: Node
    high: Node
    position: int


@dataclass(frozen=True, slots=True)
class In:
    operand: Node
    tests: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class InstanceOf:
    operand: Node
    type: Type


@dataclass(frozen=True, slots=True)
class Conjunction:
    operands: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Disjunction:
    operands: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class If:
    """An if expression; `branches` are pairs of condition and value, one more per `else if`."""

    branches: tuple[tuple[Node, Node], ...]
    otherwise: Node


@dataclass(frozen=True, slots=True)
class IteratedRange:
    """`start..end` after `in`: all integers from start to end, also downwards."""

    start: Node
    end: Node


@dataclass(frozen=True, slots=True)
class Iterator:
    name: str
    source: "Node | IteratedRange"
    position: int


@dataclass(frozen=True, slots=True)
class For:
    iterators: tuple[Iterator, ...]
    result: Node


@dataclass(frozen=True, slots=True)
class Quantified:
    iterators: tuple[Iterator, ...]
    condition: Node
    is_every: bool


@dataclass(frozen=True, slots=True)
class Path:
    source: Node
    key: str
    position: int


@dataclass(frozen=True, slots=True)
class Filter:
    source: Node
    condition: Node
    position: int


@dataclass(frozen=True, slots=True)
class Arguments:
    """The arguments of a call; `names` is None for a positional call."""

    values: tuple[Node, ...]
    names: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Call:
    name: str
    arguments: Arguments
    position: int


@dataclass(frozen=True, slots=True)
class QualifiedCall:
    source: Node
    name: str
    arguments: Arguments
    position: int


@dataclass(frozen=True, slots=True)
class Invocation:
    """The call of a function that is the value of an expression."""

    function: Node
    arguments: Arguments
    position: int


@dataclass(frozen=True, slots=True)
class Lambda:
    """A function definition; `types` has one entry per parameter, None if it is untyped."""

    parameters: tuple[str, ...]
    types: tuple[Type | None, ...]
    body: Node


@dataclass(frozen=True, slots=True)
class External:
    """The body of an external function, which is never executed."""

    mapping: Node
    position: int


@dataclass(frozen=True, slots=True)
class InputComparison:
    """`< 5`: a comparison of the implicit input with a value."""

    operator: str
    operand: Node
    position: int


@dataclass(frozen=True, slots=True)
class Tests:
    """Unary tests: any of them must accept, or none if negated; an empty list accepts everything."""

    tests: tuple[Node, ...]
    is_negated: bool = False
