"""FEEL: lexer → parser → nodes → compiler → values and failures.

    compile_expression("order.total > 100").evaluate({"order": {"total": 120}}).value

    compile_expression(text, *, names=NO_NAMES, dialect="camunda") -> Expression
    written_calls(text, name, parameters) -> list[WrittenCall]
    written_paths(text, root) -> frozenset[tuple[str, ...]]
    compile_unary_tests(text, *, names=NO_NAMES, dialect="camunda") -> UnaryTests
    Expression.evaluate(scope, ports=NO_PORTS) -> Evaluation
    UnaryTests.evaluate(input_value, scope, *, ports=NO_PORTS) -> Evaluation
    parse_type("list<number>") -> Type; conforms(value, type) -> bool; coerced(value, type) -> Value

`dialect` is "camunda", as its engine evaluates, or "standard", as DMN 1.5 says; docs/feel.md has the differences.
`names` are those, of variables and of entries in them, that are no plain words: `{"first name", "a-b"}`. They are
read as names wherever they stand; plain words may be left out. `ports` give the time to `now()`, and chance to
`uuid()`, and may bound the steps of all evaluations that share a `Budget`. A text is compiled once for its names
and its dialect.

Pure and bounded: a result depends on text, scope and ports alone, and no text or value makes it hang. A
mild failure gives null and leaves a `Failure`; `errors` has the others.
"""

from server.feel.budget import Budget
from server.feel.calls import WrittenCall, written_calls, written_paths
from server.feel.dialects import DialectName
from server.feel.errors import EvaluationError, FeelError, FeelSyntaxError
from server.feel.expressions import (
    NO_NAMES,
    Expression,
    UnaryTests,
    compile_expression,
    compile_unary_tests,
)
from server.feel.failures import Evaluation, Failure, FailureType
from server.feel.parser import parse_type
from server.feel.ports import NO_PORTS, Ports
from server.feel.run import Scope
from server.feel.temporal.values import Date, DateTime, DaysDuration, MonthsDuration, Time, Zone
from server.feel.types import Type, coerced, conforms
from server.feel.values import MISSING, Function, Missing, Range, Value

__all__ = [
    "MISSING",
    "NO_NAMES",
    "NO_PORTS",
    "Budget",
    "Date",
    "DateTime",
    "DaysDuration",
    "DialectName",
    "Evaluation",
    "EvaluationError",
    "Expression",
    "Failure",
    "FailureType",
    "FeelError",
    "FeelSyntaxError",
    "Function",
    "Missing",
    "MonthsDuration",
    "Ports",
    "Range",
    "Scope",
    "Time",
    "Type",
    "UnaryTests",
    "Value",
    "WrittenCall",
    "Zone",
    "coerced",
    "compile_expression",
    "compile_unary_tests",
    "conforms",
    "parse_type",
    "written_calls",
    "written_paths",
]
