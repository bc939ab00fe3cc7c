"""Boxed expressions as a file has them (DMN 1.5 §10.2.2), decision tables included (§8).

`line` is where the element begins, `type_ref` the type that its value is coerced to, as written. Entries of rules are
many and refer to nothing, so the garbage collector is spared them.
"""

from enum import StrEnum

import msgspec


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


class Element(msgspec.Struct, frozen=True, kw_only=True):
    id: str = ""
    line: int = 0


class InformationItem(Element, frozen=True, kw_only=True):
    """A variable, a parameter or a column."""

    name: str
    type_ref: str | None = None


class Expression(Element, frozen=True, kw_only=True):
    type_ref: str | None = None


class LiteralExpression(Expression, frozen=True, kw_only=True, gc=False):
    """`language` is None for the one of the model."""

    text: str
    language: str | None = None


class UnaryTests(Element, frozen=True, kw_only=True, gc=False):
    text: str
    language: str | None = None


class ContextEntry(Element, frozen=True, kw_only=True):
    """The entry without a variable is the result of its context."""

    variable: InformationItem | None
    value: Expression


class Context(Expression, frozen=True, kw_only=True):
    entries: tuple[ContextEntry, ...]


class ListExpression(Expression, frozen=True, kw_only=True):
    items: tuple[Expression, ...]


class Relation(Expression, frozen=True, kw_only=True):
    columns: tuple[InformationItem, ...]
    rows: tuple[ListExpression, ...]


class FunctionDefinition(Expression, frozen=True, kw_only=True):
    """Without a body the function is null."""

    parameters: tuple[InformationItem, ...]
    body: Expression | None
    kind: FunctionKind = FunctionKind.FEEL


class Binding(Element, frozen=True, kw_only=True):
    parameter: InformationItem
    value: Expression | None


class Invocation(Expression, frozen=True, kw_only=True):
    function: Expression
    bindings: tuple[Binding, ...]


class Conditional(Expression, frozen=True, kw_only=True):
    condition: Expression
    then: Expression
    otherwise: Expression


class Iteration(Expression, frozen=True, kw_only=True):
    """Common base of `for`, `some` and `every`: `body` is evaluated for each item of `source`."""

    variable: str
    source: Expression
    body: Expression


class For(Iteration, frozen=True, kw_only=True):
    pass


class Quantified(Iteration, frozen=True, kw_only=True):
    is_every: bool


class Filter(Expression, frozen=True, kw_only=True):
    source: Expression
    match: Expression


class InputClause(Element, frozen=True, kw_only=True):
    """`values` are those that the input may have."""

    expression: LiteralExpression
    label: str | None = None
    values: UnaryTests | None = None


class OutputClause(Element, frozen=True, kw_only=True):
    """`values` are in the order of priority, the highest first."""

    name: str | None = None
    label: str | None = None
    type_ref: str | None = None
    values: UnaryTests | None = None
    default: LiteralExpression | None = None


class Rule(Element, frozen=True, kw_only=True, gc=False):
    inputs: tuple[UnaryTests, ...]
    outputs: tuple[LiteralExpression, ...]


class DecisionTable(Expression, frozen=True, kw_only=True):
    hit_policy: HitPolicy
    aggregation: Aggregation | None
    inputs: tuple[InputClause, ...]
    outputs: tuple[OutputClause, ...]
    rules: tuple[Rule, ...]
