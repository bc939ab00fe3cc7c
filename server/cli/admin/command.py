"""Shared parts of the commands of `gnomon admin`: options, database access and error handling."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import asyncpg
import typer

from server.cli.admin.deployment import Deployment, existing, existing_or_new
from server.cli.admin.failures import CannotBegin, Failed, fail
from server.cli.configuration import configured
from server.cli.failures import give_up, refuse
from server.cli.output import Output
from server.cli.signature import Action, with_options
from server.platform.config import ConfigError
from server.platform.errors import ServiceError
from server.platform.postgres.bundled import PostgresError
from server.platform.postgres.migrations import MigrationError
from server.sections import Config

Reach = Callable[[Config], AbstractContextManager[Deployment]]


@dataclass(frozen=True, slots=True, kw_only=True)
class AdminOptions:
    """Options of every command of `gnomon admin`."""

    config: Annotated[
        Path | None, typer.Option(help="TOML file of the deployment; environment variables override it.")
    ] = None
    json: Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")] = False


def admin_command(action: Action) -> Callable[..., None]:
    """Create a command from a coroutine function whose first two parameters are a deployment and an output."""
    return _command(action, existing)


def founding_command(action: Action) -> Callable[..., None]:
    """Like `admin_command`, for a deployment that may not exist yet."""
    return _command(action, existing_or_new)


def _command(action: Action, reach: Reach) -> Callable[..., None]:
    def reaching(options: AdminOptions, **arguments: object) -> None:
        try:
            with reach(configured(options.config)) as deployment:
                asyncio.run(action(deployment, Output(is_json=options.json), **arguments))
        except (CannotBegin, ConfigError, PostgresError) as error:
            give_up(error)
        except (Failed, MigrationError, asyncpg.PostgresError, OSError) as error:
            fail(error)
        except ServiceError as refusal:
            refuse(refusal)

    return with_options(action, AdminOptions, reaching, given=2)
