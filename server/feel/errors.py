"""Errors that end a compilation or an evaluation.

    FeelError
    ├── FeelSyntaxError          the text is no FEEL; raised when it is compiled
    ├── EvaluationError          there is no result; raised when it is evaluated
    │   ├── AssertionFailedError `assert` found its condition not fulfilled
    │   └── LimitExceededError   a bound of `limits` was hit
    └── InvocationError          a builtin refuses its arguments; never leaves an evaluation, it
                                 becomes a `FUNCTION_INVOCATION_FAILURE`

Everything milder is a `Failure` beside a null result, see `failures`.
"""


class FeelError(Exception):
    pass


class FeelSyntaxError(FeelError):
    def __init__(self, message: str, position: int) -> None:
        super().__init__(f"{message} at position {position}")
        self.message = message
        self.position = position


class EvaluationError(FeelError):
    pass


class AssertionFailedError(EvaluationError):
    pass


class LimitExceededError(EvaluationError):
    pass


class InvocationError(FeelError):
    pass
