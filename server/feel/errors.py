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


def place_of(text: str, position: int) -> tuple[int, int]:
    """Return the line and column of an offset, both counted from 1."""
    line_start = text.rfind("\n", 0, position) + 1
    return text.count("\n", 0, position) + 1, position - line_start + 1


class FeelError(Exception):
    pass


class FeelSyntaxError(FeelError):
    """A text is not valid FEEL; `position` is the offset of the error, `line` and `column` count from 1."""

    def __init__(self, message: str, text: str, position: int) -> None:
        self.message = message
        self.position = position
        self.line, self.column = place_of(text, position)
        super().__init__(f"{message} at line {self.line}, column {self.column}")


class EvaluationError(FeelError):
    pass


class AssertionFailedError(EvaluationError):
    pass


class LimitExceededError(EvaluationError):
    pass


class InvocationError(FeelError):
    pass
