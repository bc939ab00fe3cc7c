"""The process of `gnomon serve`, from its configuration to its graceful stop."""

import asyncio
import dataclasses
import logging
import signal
import sys
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from pathlib import Path

import typer
import uvloop
from asyncpg import PostgresError

from identity.foundation.provider_config import Scheme
from server import launcher
from server.cli.configuration import configured
from server.cli.failures import cause_of
from server.cli.start_notice import start_notice
from server.platform import collector
from server.platform import logging as platform_logging
from server.platform.addresses import Addresses
from server.platform.config import ConfigError
from server.platform.open_files import raise_open_file_limit
from server.platform.policy import Mode
from server.platform.postgres import bundled
from server.platform.postgres.migrations import MigrationError
from server.platform.sockets import PortTaken
from server.sections import Config, provider_of
from server.storage import NoDatabase

logger = logging.getLogger(__name__)

# Seconds after which a computing thread yields to the event loop (decision 133).
_SWITCH_SECONDS = 0.0005
_NO_TRUSTED_PROXIES = (
    "access.trusted_proxies is empty, but clients reach the provider by https, through a proxy. All requests seem to "
    "come from the address of the proxy, so wrong passwords of one person block sign-ins of everybody. "
    "Set access.trusted_proxies to the networks of the proxy"
)


class CannotServe(Exception):
    """A wrong setting, a port that is in use, or a database that cannot run."""


def run(file: Path | None, mode: Mode | None, *, is_owned: bool) -> None:
    """Serve until a signal; `mode` overrides the configuration's mode.

    An owned process is one of several processes of a program, and stops when its standard input is closed.
    """
    sys.setswitchinterval(_SWITCH_SECONDS)
    try:
        config = _config(file, mode)
        platform_logging.configure(config.logging)
        raise_open_file_limit()
        if not is_owned:
            _warn_of_unknown_proxy(config)
        if config.server.mode is Mode.BUNDLED and not is_owned:
            launcher.expect_free_ports(config)
            with launcher.database(config) as database:
                uvloop.run(_serve(config, launcher.launched(config, file, database)))
        else:
            uvloop.run(_serve(config, _serving(config), is_owned=is_owned))
    except (PortTaken, ValueError, bundled.PostgresError) as error:
        raise CannotServe(error) from error


def _serving(config: Config) -> AbstractAsyncContextManager[Addresses]:
    # Imports most of the program, which bundled mode's launcher does not need.
    with collector.paused():
        from server.bundle import serving  # noqa: PLC0415

    return serving(config)


def _config(file: Path | None, mode: Mode | None) -> Config:
    config = configured(file)
    if mode is not None:
        config = dataclasses.replace(config, server=dataclasses.replace(config.server, mode=mode))
    if config.server.mode is Mode.CLUSTER and not config.edge.services:
        _expect_cluster(config)
    return config


def _expect_cluster(config: Config) -> None:
    """Check the settings that a cluster's processes must share before they can find each other."""
    for name, value in (
        ("database.dsn", config.database.dsn),
        ("cluster.secret", config.cluster.secret),
        ("bootstrap.client_secret", config.bootstrap.client_secret),
        ("bootstrap.admin_password", config.bootstrap.admin_password or config.bootstrap.admin_setup),
        ("encryption.keys or encryption.key_file", config.encryption.keys or config.encryption.key_file),
    ):
        if not value:
            raise ConfigError(f"expected {name} in cluster mode, found none")


def _warn_of_unknown_proxy(config: Config) -> None:
    """Warn of an https address without trusted proxies.

    Another program terminates TLS then, and its address is unknown.
    """
    if provider_of(config).scheme is Scheme.HTTPS and not config.access.trusted_proxies:
        logger.warning(_NO_TRUSTED_PROXIES)


async def _serve(
    config: Config, service: AbstractAsyncContextManager[Addresses], *, is_owned: bool = False
) -> None:
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
        if sys.stdout.isatty():
            typer.echo(start_notice(config, addresses))
        await stopped.wait()
        logger.info("stopping")


async def _begun(service: AbstractAsyncContextManager[Addresses], stack: AsyncExitStack) -> Addresses:
    try:
        return await stack.enter_async_context(service)
    except (ValueError, MigrationError, NoDatabase, PostgresError, ExceptionGroup) as error:
        cause = cause_of(error, OSError, RuntimeError, ValueError, MigrationError, PostgresError)
        if cause is None:
            raise
        # The text after the semicolon is for debugging gRPC.
        raise CannotServe(str(cause).partition(";")[0]) from error
