"""The process of `gnomon serve`: from its configuration to its orderly end."""

import asyncio
import dataclasses
import logging
import signal
import sys
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from pathlib import Path

import typer
import uvloop

from server import launcher
from server.bundle import Addresses, Config, serving
from server.cli.configuration import configured
from server.cli.failures import cause_of
from server.platform import collector
from server.platform import logging as platform_logging
from server.platform.config import ConfigError
from server.platform.policy import Mode

logger = logging.getLogger(__name__)


class CannotServe(Exception):
    """A setting that is wrong, a port that is taken."""


def run(file: Path | None, mode: Mode | None, *, is_owned: bool) -> None:
    """Serve until a signal says otherwise; `mode` goes before the file's.

    An owned process is one of several of a program, and ends with its standard input.
    """
    try:
        config = _config(file, mode)
        platform_logging.configure(config.logging)
        if config.server.mode is Mode.BUNDLED and not is_owned:
            with launcher.database(config) as database:
                uvloop.run(_serve(launcher.launched(config, file, database)))
        else:
            uvloop.run(_serve(serving(config), is_owned=is_owned))
    except ValueError as error:
        raise CannotServe(error) from error


def _config(file: Path | None, mode: Mode | None) -> Config:
    config = configured(file)
    if mode is not None:
        config = dataclasses.replace(config, server=dataclasses.replace(config.server, mode=mode))
    if config.server.mode is Mode.CLUSTER and not config.edge.services:
        _expect_cluster(config)
    return config


def _expect_cluster(config: Config) -> None:
    """What the processes of a cluster have to share before they can find each other."""
    for name, value in (
        ("database.dsn", config.database.dsn),
        ("cluster.secret", config.cluster.secret),
        ("bootstrap.client_secret", config.bootstrap.client_secret),
        ("bootstrap.admin_password", config.bootstrap.admin_password),
        ("encryption.keys or encryption.key_file", config.encryption.keys or config.encryption.key_file),
    ):
        if not value:
            raise ConfigError(f"expected {name} in cluster mode, found none")


async def _serve(service: AbstractAsyncContextManager[Addresses], *, is_owned: bool = False) -> None:
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for signal_number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(signal_number, stopped.set)
    if is_owned:
        loop.add_reader(sys.stdin, stopped.set)
    async with AsyncExitStack() as stack:
        addresses = await _begun(service, stack)
        collector.settle()
        logger.info("serving", extra=dataclasses.asdict(addresses))
        typer.echo(str(addresses))
        await stopped.wait()
        logger.info("stopping")


async def _begun(service: AbstractAsyncContextManager[Addresses], stack: AsyncExitStack) -> Addresses:
    try:
        return await stack.enter_async_context(service)
    except (ValueError, ExceptionGroup) as error:
        cause = cause_of(error, OSError, RuntimeError, ValueError)
        if cause is None:
            raise
        # What follows the semicolon is for those who debug gRPC.
        raise CannotServe(str(cause).partition(";")[0]) from error
