"""The signature of a command for typer: its own parameters and shared options."""

import inspect
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import TypeVar

Action = Callable[..., Coroutine[None, None, None]]
Options = TypeVar("Options")
"""A dataclass whose fields become parameters."""


def with_options(
    action: Action, options: Callable[..., Options], run: Callable[..., None], *, given: int
) -> Callable[..., None]:
    """Create a command with the action's parameters, except the first `given`, and the options' fields.

    `run` receives the options and the other arguments by name.
    """
    shared = _parameters(options)

    @wraps(action)
    def command(**arguments: object) -> None:
        chosen = options(**{parameter.name: arguments.pop(parameter.name) for parameter in shared})
        run(chosen, **arguments)

    parameters = [*_parameters(action)[given:], *shared]
    command.__dict__["__signature__"] = inspect.Signature(parameters)
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return command


def _parameters(of: Callable[..., object]) -> list[inspect.Parameter]:
    parameters = inspect.signature(of, eval_str=True).parameters.values()
    return [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in parameters]
