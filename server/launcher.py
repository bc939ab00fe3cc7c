"""Bundled mode: a program that runs a database and several processes, and stops them when it ends.

The processes share both ports, and there are at most as many as cores. A process that dies is restarted, and
so is the database. Each process ends when its standard input closes, so that none survives if this program is
killed.
"""

import asyncio
import logging
import os
import secrets
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from edge.config import EdgeConfig
from server.platform.addresses import Addresses
from server.platform.cores import available_cores
from server.platform.grpc_server import GrpcConfig
from server.platform.postgres.bundled import bundled_server
from server.platform.postgres.bundled.process import Server
from server.platform.private_file import kept_text
from server.platform.sockets import expect_free, reserved_port
from server.sections import Config
from server.storage import prepare

logger = logging.getLogger(__name__)

SECRET_OCTETS = 32
READY_SECONDS = 60.0
STOP_SECONDS = 12.0
RESTART_SECONDS = 1.0


class CannotLaunch(RuntimeError):
    """A process did not become ready."""


@dataclass(frozen=True, slots=True)
class Database:
    """The DSN of a database, and its server if this program runs it."""

    dsn: str
    server: Server | None = None


@contextmanager
def database(config: Config) -> Iterator[Database]:
    """Provide the configured database, or run the bundled one during the block."""
    if config.database.dsn:
        yield Database(config.database.dsn)
        return
    with bundled_server(config.database) as bundled:
        yield Database(bundled.dsn, bundled.server)


@asynccontextmanager
async def launched(config: Config, file: Path | None, database: Database) -> AsyncIterator[Addresses]:
    """Run all processes during the block. Raises CannotLaunch or MigrationError."""
    cores = available_cores()
    partitions = await prepare(database.dsn, config.cluster.partitions, at_first=default_partitions(cores))
    count = min(partitions, cores)
    with _port(config.edge) as edge_port, _port(config.grpc) as grpc_port:
        environment = {
            **_environment(config, database.dsn),
            "GNOMON_CLUSTER__STARTING": str(count),
            "GNOMON_EDGE__PORT": str(edge_port),
            "GNOMON_GRPC__PORT": str(grpc_port),
        }
        # Prometheus reads each process separately, so each has its own metrics port.
        ports = [{"GNOMON_METRICS__PORT": str(_metrics_port(config, number))} for number in range(count)]
        children = [_Child(number, file, environment | port) for number, port in enumerate(ports)]
        async with _supervised(children, database):
            addresses = await asyncio.gather(*(child.ready() for child in children))
            yield addresses[0]


@asynccontextmanager
async def _supervised(children: Sequence["_Child"], database: Database) -> AsyncIterator[None]:
    async with asyncio.TaskGroup() as tasks:
        supervising = [tasks.create_task(child.supervise()) for child in children]
        if database.server is not None:
            supervising.append(tasks.create_task(database.server.keep_running()))
        try:
            yield
        finally:
            for task in supervising:
                task.cancel()


def default_partitions(cores: int) -> int:
    """Return the number of partitions of a new database.

    The process of a partition, including its edge, keeps one core busy, and PostgreSQL needs half a core for
    it. The rest is for workers, a proxy and maintenance; docs/operating.md has the measurement.
    """
    return max(1, cores // 2)


def expect_free_ports(config: Config) -> None:
    """Raise PortTaken for a port of another program; processes of an earlier start may still hold it."""
    if config.edge.port:
        expect_free(config.edge.host, config.edge.port, section="edge", reuse_port=True)
    if config.grpc.port:
        expect_free(config.grpc.host, config.grpc.port, section="grpc", reuse_port=True)


def secrets_file(config: Config) -> Path:
    """Return the path of the file with generated secrets."""
    return (config.database.data_directory / "bootstrap-secrets").absolute()


def _environment(config: Config, dsn: str) -> Mapping[str, str]:
    """Return the environment variables of all processes, which override the configuration."""
    keys = config.encryption.key_file or config.database.data_directory / "master-keys"
    return {
        **os.environ,
        "GNOMON_SERVER__MODE": config.server.mode,
        "GNOMON_DATABASE__DSN": dsn,
        "GNOMON_CLUSTER__SECRET": config.cluster.secret or secrets.token_hex(SECRET_OCTETS),
        "GNOMON_CLUSTER__PORT": "0",
        "GNOMON_EDGE__REUSE_PORT": "true",
        "GNOMON_GRPC__REUSE_PORT": "true",
        **({} if config.encryption.keys else {"GNOMON_ENCRYPTION__KEY_FILE": str(keys.absolute())}),
        **_bootstrap_secrets(config),
    }


@contextmanager
def _port(config: EdgeConfig | GrpcConfig) -> Iterator[int]:
    """Provide the configured port, or a free one that stays reserved while processes start and die."""
    if config.port:
        yield config.port
        return
    with reserved_port(config.host) as port:
        yield port


def _metrics_port(config: Config, number: int) -> int:
    return config.metrics.port + number if config.metrics.port else 0


def _bootstrap_secrets(config: Config) -> Mapping[str, str]:
    """Return the secrets that the operator left out: generated at the first start, and stored in a file that the log names."""
    given = {
        "admin_password": config.bootstrap.admin_password,
        "client_secret": config.bootstrap.client_secret,
    }
    if all(given.values()):
        return {}
    file = secrets_file(config)
    text = kept_text(file, lambda: "".join(f"{name}={secrets.token_hex(SECRET_OCTETS)}\n" for name in given))
    kept = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
    logger.info("secrets of [bootstrap] are kept in a file", extra={"file": str(file)})
    return {f"GNOMON_BOOTSTRAP__{name.upper()}": given[name] or kept.get(name, "") for name in given}


class _Child:
    """A process that is restarted whenever it dies."""

    def __init__(self, number: int, file: Path | None, environment: Mapping[str, str]) -> None:
        self._number = number
        self._arguments = ["serve", "--owned", *(("--config", str(file)) if file else ())]
        self._environment = environment
        self._ready: asyncio.Future[Addresses] = asyncio.get_running_loop().create_future()

    async def ready(self) -> Addresses:
        try:
            async with asyncio.timeout(READY_SECONDS):
                return await asyncio.shield(self._ready)
        except TimeoutError:
            raise CannotLaunch(f"process {self._number} was not ready within {READY_SECONDS:g} s") from None

    async def supervise(self) -> None:
        while True:
            code = await self._lifetime()
            if not self._ready.done():
                self._ready.set_exception(
                    CannotLaunch(f"process {self._number} ended with {code} at its start")
                )
                return
            logger.error("a process died and is started again", extra={"number": self._number, "code": code})
            await asyncio.sleep(RESTART_SECONDS)

    async def _lifetime(self) -> int:
        """Run the process from start to end; return the exit code."""
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "server", *self._arguments, env=self._environment, stdin=PIPE, stdout=PIPE
        )
        try:
            assert process.stdout is not None  # noqa: S101  # it is a pipe
            async for line in process.stdout:
                addresses = Addresses.read(line.decode())
                if addresses is not None and not self._ready.done():
                    self._ready.set_result(addresses)
            return await process.wait()
        finally:
            await asyncio.shield(_end(process))


async def _end(process: Process) -> None:
    with suppress(ProcessLookupError):
        process.send_signal(signal.SIGTERM)
    try:
        async with asyncio.timeout(STOP_SECONDS):
            await process.wait()
    except TimeoutError:
        logger.warning("a process did not end in time", extra={"pid": process.pid})
        process.kill()
        await process.wait()
