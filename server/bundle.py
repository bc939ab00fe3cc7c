"""Engine, identity and edge in one process, over local channels; one gRPC listener, one HTTP listener."""

import asyncio
import dataclasses
import logging
import re
import socket
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from edge.app import EdgeServer, create_app
from edge.config import EdgeConfig
from edge.oidc.config import AccessConfig as CookieConfig
from edge.oidc.config import OidcConfig
from edge.oidc.routes import routes as oidc_routes
from identity.app import Identity, open_identity
from identity.config import ProviderConfig, Scheme
from identity.sections import IdentityConfig
from server.access.authenticate import Authenticator
from server.access.config import AccessConfig
from server.access.directory_watch import DirectoryWatch
from server.app import Engine, create_embedded_engine, durable_engine
from server.config import EngineConfig, HistoryConfig, ServerConfig
from server.partition.config import (
    ClusterConfig,
    DecisionsConfig,
    InstancesConfig,
    JobsConfig,
    PartitionConfig,
    QuotaConfig,
)
from server.platform.channels import Channel, LocalChannel
from server.platform.channels.several import SeveralChannels
from server.platform.channels.tunnel import TunnelChannel
from server.platform.clock import SystemClock, VirtualClock
from server.platform.config import ConfigError
from server.platform.dispatch import Dispatcher
from server.platform.grpc_server import GrpcConfig, GrpcServer
from server.platform.interceptors import interceptors
from server.platform.logging import LoggingConfig
from server.platform.policy import Mode
from server.platform.postgres.config import DatabaseConfig
from server.platform.postgres.pool import open_pool
from server.platform.postgres.pooled import PooledDatabase
from server.platform.records.memory import MemoryRecordStore
from server.platform.records.postgres import PostgresRecordStore
from server.storage import prepare

if TYPE_CHECKING:
    from server.platform.records import RecordStore

logger = logging.getLogger(__name__)

# SIGTERM to the end of the process takes ten at most.
STOP_SECONDS = 7.0
HAND_OVER_SECONDS = 2.0
READY_LINE = re.compile(r"ready http=(\S+) grpc=(\S+)")
LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
DEMO_CLIENT = "demo"
DEMO_SECRET = "demo-secret"  # noqa: S105  # known to everybody; embedded mode with it listens on loopback only
DEMO_PASSWORD = "demo"  # noqa: S105


@dataclass(frozen=True, slots=True, kw_only=True)
class Config(IdentityConfig):
    """Every section of the file, by its name."""

    server: ServerConfig = ServerConfig()
    edge: EdgeConfig = EdgeConfig()
    grpc: GrpcConfig = GrpcConfig()
    partition: PartitionConfig = PartitionConfig()
    jobs: JobsConfig = JobsConfig()
    instances: InstancesConfig = InstancesConfig()
    decisions: DecisionsConfig = DecisionsConfig()
    quota: QuotaConfig = QuotaConfig()
    history: HistoryConfig = HistoryConfig()
    cluster: ClusterConfig = ClusterConfig()
    database: DatabaseConfig = DatabaseConfig()
    oidc: OidcConfig = OidcConfig()
    access: CookieConfig = CookieConfig()
    logging: LoggingConfig = LoggingConfig()


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where the process listens."""

    http: str
    grpc: str

    @classmethod
    def read(cls, line: str) -> Self | None:
        """What the line says that a process prints when it is ready; None when it is another line."""
        found = READY_LINE.fullmatch(line.rstrip())
        return cls(*found.groups()) if found else None

    def __str__(self) -> str:
        return f"ready http={self.http} grpc={self.grpc}"


def serving(config: Config, clock: VirtualClock | None = None) -> AbstractAsyncContextManager[Addresses]:
    """Serve while the block runs; at its end take no more calls, let those under way end, then stop.

    Embedded mode has its own clock, `clock` when it is given; the others keep their state in `config.database`. An edge
    that names its services is an edge and nothing else.
    """
    config = _with_ports(config)
    if config.edge.services:
        return _edge_alone(config)
    if config.server.mode is Mode.EMBEDDED:
        config = _with_demo_access(config)
    return _everything(config, clock)


@asynccontextmanager
async def _everything(config: Config, clock: VirtualClock | None) -> AsyncIterator[Addresses]:
    async with _engine(config, clock) as engine, _identity(config) as identity:
        directory = LocalChannel(Dispatcher(identity.servicers, ()))
        access = AccessConfig(issuer=identity.issuer)
        authenticate = Authenticator(directory, access, SystemClock())
        watch = DirectoryWatch(directory, access, authenticate.invalidate)
        dispatcher = _dispatcher(config, engine, identity, authenticate)
        grpc_server = GrpcServer(dispatcher, config.grpc)
        edge = _edge(config, LocalChannel(dispatcher))
        async with asyncio.TaskGroup() as tasks:
            running = tasks.create_task(engine.run())
            watching = tasks.create_task(watch.run())
            try:
                await engine.ready()
                grpc_port, http_port = await grpc_server.start(), await edge.start()
                yield Addresses(_url(config, http_port), f"{config.grpc.host}:{grpc_port}")
            finally:
                engine.drain()
                await _stop(edge, grpc_server)
                watching.cancel()
                await _ended(engine, running)


@asynccontextmanager
async def _identity(config: Config) -> AsyncIterator[Identity]:
    """With its records in memory in embedded mode, else in the database."""
    async with AsyncExitStack() as stack:
        clock = SystemClock()
        store: RecordStore = MemoryRecordStore(clock)
        if config.server.mode is not Mode.EMBEDDED:
            pool = await stack.enter_async_context(
                open_pool(config.database.dsn, config.database.pool_connections)
            )
            store = PostgresRecordStore(PooledDatabase(pool), clock)
        own = dataclasses.replace(config, identity=_provider(config))
        yield await stack.enter_async_context(open_identity(own, store, clock))


@asynccontextmanager
async def _edge_alone(config: Config) -> AsyncIterator[Addresses]:
    async with AsyncExitStack() as stack:
        tunnels = [
            await stack.enter_async_context(TunnelChannel(address)) for address in config.edge.services
        ]
        edge = _edge(config, SeveralChannels(tunnels))
        port = await edge.start()
        stack.push_async_callback(edge.stop)
        yield Addresses(_url(config, port), ",".join(config.edge.services))


def _edge(config: Config, channel: Channel) -> EdgeServer:
    has_tls = _provider(config).scheme is Scheme.HTTPS
    provider = oidc_routes(
        channel, config.oidc, access=config.access, has_tls=has_tls, has_fed_cm=config.fedcm.enabled
    )
    app = create_app(config.edge, lambda _: channel, provider)
    return EdgeServer(app, config.edge)


def _url(config: Config, port: int) -> str:
    return f"http://{config.edge.host}:{port}"


@asynccontextmanager
async def _engine(config: Config, clock: VirtualClock | None) -> AsyncIterator[Engine]:
    engine_config = _engine_config(config)
    if config.server.mode is Mode.EMBEDDED:
        yield create_embedded_engine(engine_config, clock)
        return
    if config.server.mode is Mode.CLUSTER:
        await prepare(config.database.dsn, config.cluster.partitions)
    async with durable_engine(engine_config) as engine:
        yield engine


async def _ended(engine: Engine, running: "asyncio.Task[None]") -> None:
    """Let the engine end what it has, and hand over what others can take."""
    engine.stop()
    await asyncio.wait((running,), timeout=HAND_OVER_SECONDS)
    running.cancel()


async def _stop(edge: EdgeServer, grpc_server: GrpcServer) -> None:
    """Both at the same time, and not longer than a process has that was told to end."""
    try:
        async with asyncio.timeout(STOP_SECONDS):
            await asyncio.gather(edge.stop(), grpc_server.stop())
    except TimeoutError:
        logger.warning("calls under way were cut off")


def _with_demo_access(config: Config) -> Config:
    """Embedded mode without credentials of its own: those that everybody knows, on loopback only."""
    bootstrap = config.bootstrap
    if bootstrap.client_secret and bootstrap.admin_password:
        return config
    exposed = {config.edge.host, config.grpc.host} - LOOPBACK
    if exposed:
        raise ConfigError(
            f"expected bootstrap.client_secret and bootstrap.admin_password before listening on {exposed.pop()}: "
            "without them the service has the credentials that everybody knows"
        )
    known = dataclasses.replace(
        bootstrap,
        client_id=bootstrap.client_id if bootstrap.client_secret else DEMO_CLIENT,
        client_secret=bootstrap.client_secret or DEMO_SECRET,
        admin_password=bootstrap.admin_password or DEMO_PASSWORD,
    )
    return dataclasses.replace(config, bootstrap=known)


def _with_ports(config: Config) -> Config:
    """Port 0 becomes a free one now, because issuer and topology have to name it."""
    return dataclasses.replace(
        config,
        edge=dataclasses.replace(config.edge, port=config.edge.port or free_port(config.edge.host)),
        grpc=dataclasses.replace(config.grpc, port=config.grpc.port or free_port(config.grpc.host)),
        cluster=dataclasses.replace(
            config.cluster, port=config.cluster.port or free_port(config.cluster.host)
        ),
    )


def free_port(host: str) -> int:
    with socket.create_server((host, 0)) as reserved:
        port: int = reserved.getsockname()[1]
    return port


def _dispatcher(
    config: Config, engine: Engine, identity: Identity, authenticate: Authenticator
) -> Dispatcher:
    return Dispatcher(
        {**engine.servicers, **identity.servicers},
        interceptors(config.server.mode, authenticate),
        refused=engine.refused,
    )


def _engine_config(config: Config) -> EngineConfig:
    return EngineConfig(
        server=config.server,
        grpc=config.grpc,
        partition=config.partition,
        jobs=config.jobs,
        instances=config.instances,
        decisions=config.decisions,
        quota=config.quota,
        history=config.history,
        cluster=config.cluster,
        database=config.database,
        logging=config.logging,
    )


def _provider(config: Config) -> ProviderConfig:
    """Where the provider is reached: at this process's own address unless it is configured."""
    return config.identity.at(f"{config.edge.host}:{config.edge.port}")
