"""The process of `gnomon serve`: from its configuration to its orderly end."""

import asyncio
import dataclasses
import logging
import os
import signal
from contextlib import AsyncExitStack
from pathlib import Path

import typer
import uvloop

from server.bundle import Addresses, Config, serving
from server.cli.failures import cause_of
from server.platform import logging as platform_logging
from server.platform.config import ConfigError, load
from server.platform.policy import Mode

logger = logging.getLogger(__name__)


class CannotServe(Exception):
    """A setting that is wrong, a port that is taken."""


def run(file: Path | None, mode: Mode | None) -> None:
    """Serve until a signal says otherwise; `mode` goes before the file's."""
    try:
        config = _config(file, mode)
        platform_logging.configure(config.logging)
    except ValueError as error:
        raise CannotServe(error) from error
    uvloop.run(_serve(config))


def _config(file: Path | None, mode: Mode | None) -> Config:
    config = load(Config, file, os.environ)
    if mode is not None:
        config = dataclasses.replace(config, server=dataclasses.replace(config.server, mode=mode))
    if config.server.mode is not Mode.EMBEDDED:
        raise ConfigError(
            f"{config.server.mode} mode needs durable storage, which this release lacks; use embedded"
        )
    return config


async def _serve(config: Config) -> None:
    stopped = asyncio.Event()
    for signal_number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(signal_number, stopped.set)
    async with AsyncExitStack() as stack:
        addresses = await _begun(config, stack)
        typer.echo(f"ready http={addresses.http} grpc={addresses.grpc}")
        logger.info("serving", extra={**dataclasses.asdict(addresses), "mode": config.server.mode})
        await stopped.wait()
        logger.info("stopping")


async def _begun(config: Config, stack: AsyncExitStack) -> Addresses:
    try:
        return await stack.enter_async_context(serving(config))
    except (ValueError, ExceptionGroup) as error:
        cause = cause_of(error, OSError, RuntimeError, ValueError)
        if cause is None:
            raise
        # What follows the semicolon is for those who debug gRPC.
        raise CannotServe(str(cause).partition(";")[0]) from error
