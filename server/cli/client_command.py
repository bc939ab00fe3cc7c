"""What commands that are clients have in common: their options, the connection, and how a refusal ends them."""

import asyncio
import dataclasses
import inspect
from collections.abc import Awaitable, Callable
from functools import wraps

from server.cli.failures import cause_of, refuse
from server.cli.options import ClientOptions
from server.cli.output import Output
from server.cli.session import connected
from server.platform.errors import ServiceError

Action = Callable[..., Awaitable[None]]

_NAMES = tuple(field.name for field in dataclasses.fields(ClientOptions))


def client_command(action: Action) -> Callable[..., None]:
    """Make a command of a coroutine function whose first two parameters are a session and an output."""

    async def connect(options: ClientOptions, **arguments: object) -> None:
        async with connected(options) as session:
            await action(session, Output(is_json=options.json), **arguments)

    return _command(action, connect, given=2)


def options_command(action: Action) -> Callable[..., None]:
    """Make a command of a coroutine function whose first parameter is the client's options."""
    return _command(action, action, given=1)


def _command(described: Action, run: Action, *, given: int) -> Callable[..., None]:
    """Show typer the parameters of `described`, but those that are given to it, and the options of a client."""

    @wraps(described)
    def command(**arguments: object) -> None:
        options = ClientOptions(**{name: arguments.pop(name) for name in _NAMES})  # type: ignore[arg-type]  # typer read them
        try:
            asyncio.run(_awaited(run(options, **arguments)))
        except (ServiceError, ExceptionGroup) as error:
            refusal = cause_of(error, ServiceError)
            if not isinstance(refusal, ServiceError):
                raise
            refuse(refusal)

    parameters = [*_parameters(described)[given:], *_parameters(ClientOptions)]
    command.__dict__["__signature__"] = inspect.Signature(parameters)
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return command


async def _awaited(action: Awaitable[None]) -> None:
    await action


def _parameters(of: Callable[..., object]) -> list[inspect.Parameter]:
    parameters = inspect.signature(of, eval_str=True).parameters.values()
    return [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in parameters]
