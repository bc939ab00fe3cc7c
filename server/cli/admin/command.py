"""What the commands of `gnomon admin` have in common: their options, the way to the database, and how they end."""

import asyncio
import dataclasses
import inspect
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Annotated

import asyncpg
import typer

from server.bundle import Config
from server.cli.admin.deployment import Deployment, existing, existing_or_new
from server.cli.admin.failures import CannotBegin, Failed, fail
from server.cli.configuration import configured
from server.cli.failures import give_up, refuse
from server.cli.output import Output
from server.platform.config import ConfigError
from server.platform.errors import ServiceError
from server.platform.postgres.bundled import PostgresError
from server.platform.postgres.migrations import MigrationError

Action = Callable[..., Awaitable[None]]
Reach = Callable[[Config], AbstractContextManager[Deployment]]


@dataclass(frozen=True, slots=True, kw_only=True)
class AdminOptions:
    """Which deployment, and for whom to print."""

    config: Annotated[
        Path | None, typer.Option(help="TOML file of the deployment; the environment goes before it.")
    ] = None
    json: Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")] = False


_NAMES = tuple(field.name for field in dataclasses.fields(AdminOptions))


def admin_command(action: Action) -> Callable[..., None]:
    """Make a command of a coroutine function whose first two parameters are a deployment and an output."""
    return _command(action, existing)


def founding_command(action: Action) -> Callable[..., None]:
    """The same for a deployment that may not be there yet."""
    return _command(action, existing_or_new)


def _command(action: Action, reach: Reach) -> Callable[..., None]:
    @wraps(action)
    def command(**arguments: object) -> None:
        options = AdminOptions(**{name: arguments.pop(name) for name in _NAMES})  # type: ignore[arg-type]  # typer read them
        try:
            with reach(configured(options.config)) as deployment:
                asyncio.run(_awaited(action(deployment, Output(is_json=options.json), **arguments)))
        except (CannotBegin, ConfigError, PostgresError) as error:
            give_up(error)
        except (Failed, MigrationError, asyncpg.PostgresError, OSError) as error:
            fail(error)
        except ServiceError as refusal:
            refuse(refusal)

    parameters = [*_parameters(action)[2:], *_parameters(AdminOptions)]
    command.__dict__["__signature__"] = inspect.Signature(parameters)
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return command


async def _awaited(action: Awaitable[None]) -> None:
    await action


def _parameters(of: Callable[..., object]) -> list[inspect.Parameter]:
    parameters = inspect.signature(of, eval_str=True).parameters.values()
    return [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in parameters]
