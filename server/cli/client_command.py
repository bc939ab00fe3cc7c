"""Shared parts of client commands: options, connection and handling of refusals."""

import asyncio
from collections.abc import Callable

from server.cli.failures import cause_of, refuse
from server.cli.options import ClientOptions
from server.cli.output import Output
from server.cli.session import connected
from server.cli.signature import Action, with_options
from server.platform.errors import ServiceError


def client_command(action: Action) -> Callable[..., None]:
    """Create a command from a coroutine function whose first two parameters are a session and an output."""

    async def connect(options: ClientOptions, **arguments: object) -> None:
        async with connected(options) as session:
            await action(session, Output(is_json=options.json), **arguments)

    return _command(action, connect, given=2)


def options_command(action: Action) -> Callable[..., None]:
    """Create a command from a coroutine function whose first parameter is the client's options."""
    return _command(action, action, given=1)


def _command(described: Action, run: Action, *, given: int) -> Callable[..., None]:
    def refusing(options: ClientOptions, **arguments: object) -> None:
        try:
            asyncio.run(run(options, **arguments))
        except (ServiceError, ExceptionGroup) as error:
            refusal = cause_of(error, ServiceError)
            if not isinstance(refusal, ServiceError):
                raise
            refuse(refusal)

    return with_options(described, ClientOptions, refusing, given=given)
