"""Boxed expressions as a file has them (DMN 1.5 §10.2.2), decision tables included (§8).

`line` is where the element begins, `type_ref` the type that its value is coerced to, as written.
"""

from dataclasses import dataclass
from enum import StrEnum


class HitPolicy(StrEnum):
    UNIQUE = "UNIQUE"
    ANY = "ANY"
    PRIORITY = "PRIORITY"
    FIRST = "FIRST"
    COLLECT = "COLLECT"
    RULE_ORDER = "RULE ORDER"
    OUTPUT_ORDER = "OUTPUT ORDER"


class Aggregation(StrEnum):
    SUM = "SUM"
    COUNT = "COUNT"
    MIN = "MIN"
    MAX = "MAX"


class FunctionKind(StrEnum):
    FEEL = "FEEL"
    JAVA = "Java"
    PMML = "PMML"


@dataclass(frozen=True, slots=True, kw_only=True)
class Element:
    id: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class InformationItem(Element):
    """A variable, a parameter or a column."""

    name: str
    type_ref: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Expression(Element):
    type_ref: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LiteralExpression(Expression):
    """`language` is None for the one of the model."""

    text: str
    language: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UnaryTests(Element):
    text: str
    language: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextEntry(Element):
    """The entry without a variable is the result of its context."""

    variable: InformationItem | None
    value: Expression


@dataclass(frozen=True, slots=True, kw_only=True)
class Context(Expression):
    entries: tuple[ContextEntry, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListExpression(Expression):
    items: tuple[Expression, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation(Expression):
    columns: tuple[InformationItem, ...]
    rows: tuple[ListExpression, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionDefinition(Expression):
    """Without a body the function is null."""

    parameters: tuple[InformationItem, ...]
    body: Expression | None
    kind: FunctionKind = FunctionKind.FEEL


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding(Element):
    parameter: InformationItem
    value: Expression | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Invocation(Expression):
    function: Expression
    bindings: tuple[Binding, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditional(Expression):
    condition: Expression
    then: Expression
    otherwise: Expression


@dataclass(frozen=True, slots=True, kw_only=True)
class Iteration(Expression):
    """Common base of `for`, `some` and `every`: `body` is evaluated for each item of `source`."""

    variable: str
    source: Expression
    body: Expression


@dataclass(frozen=True, slots=True, kw_only=True)
class For(Iteration):
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantified(Iteration):
    is_every: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter(Expression):
    source: Expression
    match: Expression


@dataclass(frozen=True, slots=True, kw_only=True)
class InputClause(Element):
    """`values` are those that the input may have."""

    expression: LiteralExpression
    label: str | None = None
    values: UnaryTests | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputClause(Element):
    """`values` are in the order of priority, the highest first."""

    name: str | None = None
    label: str | None = None
    type_ref: str | None = None
    values: UnaryTests | None = None
    default: LiteralExpression | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule(Element):
    inputs: tuple[UnaryTests, ...]
    outputs: tuple[LiteralExpression, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionTable(Expression):
    hit_policy: HitPolicy
    aggregation: Aggregation | None
    inputs: tuple[InputClause, ...]
    outputs: tuple[OutputClause, ...]
    rules: tuple[Rule, ...]
