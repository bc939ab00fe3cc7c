"""The signature of a command for typer: its own parameters, and the options that it shares with others."""

import inspect
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import TypeVar

Action = Callable[..., Coroutine[None, None, None]]
Options = TypeVar("Options")
"""A dataclass: its fields are parameters."""


def with_options(
    action: Action, options: Callable[..., Options], run: Callable[..., None], *, given: int
) -> Callable[..., None]:
    """A command that looks like the action, but for its first parameters, those that are given to it.

    `run` gets the options, whose fields are shown as well, and the other arguments by their names.
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
