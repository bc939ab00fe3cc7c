"""FEEL, as Camunda evaluates it: lexer → parser → nodes → compiler → values and failures.

    compile_expression("order.total > 100").evaluate({"order": {"total": 120}}).value

Pure and bounded: a result depends on text and scope alone, and no text or value makes it hang. Whatever
goes mildly wrong makes null and leaves a `Failure`; for the rest see `errors`.
"""

from server.feel.errors import EvaluationError, FeelError, FeelSyntaxError
from server.feel.expressions import Expression, UnaryTests, compile_expression, compile_unary_tests
from server.feel.failures import Evaluation, Failure, FailureType
from server.feel.run import Scope
from server.feel.values import MISSING, Function, Missing, Range, Value

__all__ = [
    "MISSING",
    "Evaluation",
    "EvaluationError",
    "Expression",
    "Failure",
    "FailureType",
    "FeelError",
    "FeelSyntaxError",
    "Function",
    "Missing",
    "Range",
    "Scope",
    "UnaryTests",
    "Value",
    "compile_expression",
    "compile_unary_tests",
]
