"""Boxed expressions as in the file (DMN 1.5 §10.2.2), including decision tables (§8).

`line` is the line of the element. `type_ref` is the type, as written, to which the value is converted. Rules
have many entries without references, so these structs are exempt from garbage collection.
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
    """A literal expression; a `language` of None means the model's language."""

    text: str
    language: str | None = None


class UnaryTests(Element, frozen=True, kw_only=True, gc=False):
    text: str
    language: str | None = None


class ContextEntry(Element, frozen=True, kw_only=True):
    """An entry of a context; an entry without a variable is the context's result."""

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
    """A function definition; a function without a body returns null."""

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
    """An input column; `values` are the allowed input values."""

    expression: LiteralExpression
    label: str | None = None
    values: UnaryTests | None = None


class OutputClause(Element, frozen=True, kw_only=True):
    """An output column; `values` are ordered by priority, highest first."""

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
