"""`gnomon serve`: everything in one process until it is told to stop."""

import asyncio
import dataclasses
import logging
import os
import signal
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Annotated

import typer
import uvloop

from server.bundle import Addresses, Config, serving
from server.cli.failures import cause_of, give_up
from server.platform import logging as platform_logging
from server.platform.config import ConfigError, load
from server.platform.policy import Mode

logger = logging.getLogger(__name__)


class CannotServe(Exception):
    """What is known only once serving begins: a port that is taken, a section that contradicts itself."""


def serve(
    mode: Annotated[Mode | None, typer.Option(help="How to run; the file's mode when left out.")] = None,
    config: Annotated[Path | None, typer.Option(help="TOML file; the environment goes before it.")] = None,
) -> None:
    """Serve HTTP and gRPC until SIGTERM or Ctrl-C; prints one line once both are ready."""
    try:
        settings = _settings(config, mode)
        platform_logging.configure(settings.logging)
    except ValueError as error:
        give_up(error)
    try:
        uvloop.run(_serve(settings))
    except CannotServe as error:
        give_up(error)


def _settings(file: Path | None, mode: Mode | None) -> Config:
    settings = load(Config, file, os.environ)
    if mode is not None:
        settings = dataclasses.replace(settings, server=dataclasses.replace(settings.server, mode=mode))
    if settings.server.mode is not Mode.EMBEDDED:
        raise ConfigError(
            f"this release has no durable storage: it serves embedded mode, not {settings.server.mode}"
        )
    return settings


async def _serve(settings: Config) -> None:
    stopped = asyncio.Event()
    for signal_number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(signal_number, stopped.set)
    async with AsyncExitStack() as stack:
        addresses = await _begun(settings, stack)
        typer.echo(f"ready http={addresses.http} grpc={addresses.grpc}")
        logger.info("serving", extra={**dataclasses.asdict(addresses), "mode": settings.server.mode})
        await stopped.wait()
        logger.info("stopping")


async def _begun(settings: Config, stack: AsyncExitStack) -> Addresses:
    try:
        return await stack.enter_async_context(serving(settings))
    except (ValueError, ExceptionGroup) as error:
        cause = cause_of(error, OSError, RuntimeError, ValueError)
        if cause is None:
            raise
        # What follows the semicolon is for those who debug gRPC.
        raise CannotServe(str(cause).partition(";")[0]) from error
