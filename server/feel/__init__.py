"""FEEL: lexer → parser → nodes → compiler → values and failures.

    compile_expression("order.total > 100").evaluate({"order": {"total": 120}}).value

    compile_expression(text, *, names=NO_NAMES, dialect="camunda") -> Expression
    written_calls(text, name, parameters) -> list[WrittenCall]
    written_paths(text, root) -> frozenset[tuple[str, ...]]
    compile_unary_tests(text, *, names=NO_NAMES, dialect="camunda") -> UnaryTests
    Expression.evaluate(scope, ports=NO_PORTS) -> Evaluation
    UnaryTests.evaluate(input_value, scope, *, ports=NO_PORTS) -> Evaluation
    parse_type("list<number>") -> Type; conforms(value, type) -> bool; coerced(value, type) -> Value

`dialect` is "camunda" (as Camunda's engine evaluates) or "standard" (DMN 1.5); docs/feel.md lists the differences.
`names` are the names of variables and their entries that are not plain words, such as `{"first name", "a-b"}`. They
are recognized everywhere; plain words may be omitted. `ports` provide the time for `now()` and randomness for `uuid()`,
and can limit the steps of all evaluations that share a `Budget`. Compiled texts are cached by names and dialect.

Evaluation is pure and bounded: a result depends only on text, scope and ports, and no text or value makes it hang. A
minor failure gives null and records a `Failure`; `errors` lists the others.
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
