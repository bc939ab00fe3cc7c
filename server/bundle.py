"""Engine, identity and edge in one process, connected by local channels, with one gRPC and one HTTP listener."""

import asyncio
import dataclasses
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING

from edge.app import create_app
from edge.config import EdgeConfig
from edge.console import console_routes
from edge.exposition import exposition_app
from edge.kept_documents import KeptDocuments
from edge.listener import EdgeServer
from edge.oidc.access.canonical_host import CanonicalHost
from edge.oidc.access.session_credential import session_credential
from edge.oidc.routes import routes as oidc_routes
from edge.oidc.unknown_address import unknown_address_page
from edge.refusals import RefusalReports
from identity.app import Identity, open_identity
from identity.foundation.provider_config import Scheme
from server import gateway
from server.access.authenticate import Authenticator
from server.access.config import AccessConfig
from server.access.directory_watch import DirectoryWatch
from server.access.user_names import UserNames
from server.app import (
    Engine,
    Servicers,
    create_embedded_engine,
    durable_engine,
    personal_data,
    refusal_reports,
)
from server.config import EngineConfig
from server.erasures import ErasureWork
from server.partition.config import ClusterVariablesConfig
from server.partition.instruments import instruments
from server.partition.removal_watch import RemovalWatch
from server.platform.addresses import Addresses
from server.platform.caller import EDGE_SECRET, EdgeSecret
from server.platform.channels import Channel, LocalChannel
from server.platform.channels.several import SeveralChannels
from server.platform.channels.traced import TracedChannel
from server.platform.channels.tunnel import TunnelChannel
from server.platform.clock import Clock, DatabaseClock, SystemClock, VirtualClock
from server.platform.config import ConfigError
from server.platform.cores import available_cores
from server.platform.dispatch import Dispatcher
from server.platform.grpc_server import GrpcServer
from server.platform.interceptors import interceptors
from server.platform.metrics import Gauge, Metrics
from server.platform.observation import Observation, observing
from server.platform.observation_config import MetricsConfig
from server.platform.open_calls import OpenCalls
from server.platform.peer import LOCAL_EDGE
from server.platform.policy import Mode
from server.platform.postgres.database_time import following
from server.platform.postgres.pool import open_pool, report_pool
from server.platform.postgres.pooled import PooledDatabase
from server.platform.records import AuditLog
from server.platform.records.memory import MemoryRecordStore
from server.platform.records.postgres import PostgresRecordStore
from server.platform.search_places import SearchPlaces
from server.platform.sockets import (
    LOCALHOST,
    LOOPBACK,
    LOOPBACK_ADDRESSES,
    authority,
    free_port,
    public_host,
)
from server.process_tests import ProcessTests, process_tests
from server.renewal import RenewableEngine
from server.sections import DEMO_CLIENT, DEMO_PASSWORD, DEMO_SECRET, Config, provider_of
from server.storage import prepare

if TYPE_CHECKING:
    from server.platform.records import RecordStore

logger = logging.getLogger(__name__)

# The process must end within ten seconds after SIGTERM.
STOP_SECONDS = 7.0
HAND_OVER_SECONDS = 2.0
METRICS_CONNECTIONS = 64
# The longest statement of a commit, in durations of a lease.
MOST_LEASES = 20


def serving(
    config: Config, clock: VirtualClock | None = None, observation: Observation | None = None
) -> AbstractAsyncContextManager[Addresses]:
    """Serve during the block; at its end refuse new calls, finish running ones, and stop.

    Embedded mode has its own clock, or `clock` if given. The other modes keep their state in
    `config.database`. An edge with configured services runs alone. `observation` is created from the
    configuration unless given.
    """
    config = _with_ports(config)
    _check_process_tests(config)
    _check_clocks(config)
    if config.edge.services:
        return _observed(config, partial(_edge_alone, config), observation)
    if config.server.mode is Mode.EMBEDDED:
        config = _with_demo_access(config)
    return _observed(config, partial(_everything, config, clock), observation)


@asynccontextmanager
async def _observed(
    config: Config,
    serve: Callable[[Observation], AbstractAsyncContextManager[Addresses]],
    observation: Observation | None,
) -> AsyncIterator[Addresses]:
    async with AsyncExitStack() as stack:
        if observation is None:
            observation = await stack.enter_async_context(observing(config.metrics, config.tracing))
        if observation.metrics is not None:
            await _expose(observation.metrics, config.metrics, stack)
        yield await stack.enter_async_context(serve(observation))


async def _expose(metrics: Metrics, config: MetricsConfig, stack: AsyncExitStack) -> None:
    """Expose the metrics to Prometheus until the stack unwinds."""
    own = EdgeConfig(host=config.host, port=config.port, max_connections=METRICS_CONNECTIONS)
    listener = EdgeServer(exposition_app(metrics), own, section="metrics")
    port = await listener.start()
    stack.push_async_callback(listener.stop)
    logger.info("metrics", extra={"url": f"http://{authority(config.host, port)}/metrics"})


@asynccontextmanager
async def _everything(
    config: Config, clock: VirtualClock | None, observation: Observation
) -> AsyncIterator[Addresses]:
    # In embedded mode nothing corrects it, so it is the system clock.
    common = DatabaseClock()
    async with (
        _engine(config, clock, common, observation) as engine,
        _identity(config, common, engine.audit, observation.metrics) as identity,
    ):
        directory = LocalChannel(Dispatcher(identity.servicers, ()))
        access = AccessConfig(issuer=identity.issuer, admission_seconds=config.access.admission_seconds)
        authenticate = Authenticator(directory, access, common)
        open_calls = OpenCalls(authenticate.readmit, common)
        removal = RemovalWatch(directory, lambda: engine.removals)

        def changed(ids: frozenset[str]) -> None:
            authenticate.invalidate(ids)
            open_calls.check(ids)
            removal.wake()

        watch = DirectoryWatch(directory, access, changed)
        named = personal_data(engine, UserNames(directory, access))
        dispatcher = _dispatcher(
            config,
            engine,
            identity,
            named,
            authenticate=authenticate,
            open_calls=open_calls,
            observation=observation,
        )
        zeebe = Dispatcher({gateway.SERVICE: gateway.GatewayServicer(dispatcher)}, ())
        grpc_server = GrpcServer(
            dispatcher,
            config.grpc,
            EdgeSecret(config.edge.secret),
            beside=(zeebe,),
            trusted_proxies=config.access.trusted_proxies,
            metrics=observation.metrics,
        )
        channel = LocalChannel(dispatcher, peer=LOCAL_EDGE)
        tests = process_tests(engine) if isinstance(engine, RenewableEngine) else None
        edge = _edge(
            config,
            channel,
            observation,
            clock=common,
            canonical=_canonical_host(config),
            kept=KeptDocuments(identity.revision),
            tests=tests,
        )
        async with asyncio.TaskGroup() as tasks:
            running = tasks.create_task(engine.run())
            erasure = ErasureWork(directory, lambda: engine.erasure)
            background = [tasks.create_task(each.run()) for each in (watch, open_calls, removal, erasure)]
            try:
                await engine.ready()
                grpc_port, http_port = await grpc_server.start(), await edge.start()
                yield Addresses(_url(config, http_port), authority(config.grpc.host, grpc_port))
            finally:
                engine.drain()
                identity.drain()
                await _stop(edge, grpc_server)
                for each in background:
                    each.cancel()
                await asyncio.gather(_ended(engine, running), identity.stop())


@asynccontextmanager
async def _identity(
    config: Config, clock: DatabaseClock, audit: AuditLog | None, metrics: Metrics | None
) -> AsyncIterator[Identity]:
    """Open the identity service, with records in memory in embedded mode, else in the database, whose time counts."""
    async with AsyncExitStack() as stack:
        store: RecordStore = MemoryRecordStore(clock)
        if config.server.mode is not Mode.EMBEDDED:
            pool = await stack.enter_async_context(
                open_pool(config.database.dsn, config.database.pool_connections)
            )
            database = PooledDatabase(pool)
            await stack.enter_async_context(following(clock, database))
            store = PostgresRecordStore(database, clock, audit)
            if metrics is not None:
                report_pool(metrics, "identity", pool)
                metrics.gauge(
                    "gnomon_clock_offset_seconds",
                    "Time of the database less that of the system clock",
                    lambda: [Gauge(clock.offset.total_seconds())],
                )
        own = dataclasses.replace(config, identity=provider_of(config))
        identity = await stack.enter_async_context(open_identity(own, store, clock, has_engine=True))
        if metrics is not None:
            metrics.gauge(
                "gnomon_unchecked_passwords",
                "New passwords accepted since the start while the list of breached ones did not answer",
                lambda: [Gauge(identity.breach_list.unchecked)],
            )
        yield identity


@asynccontextmanager
async def _edge_alone(config: Config, observation: Observation) -> AsyncIterator[Addresses]:
    proof = ((EDGE_SECRET, config.edge.secret),)
    async with AsyncExitStack() as stack:
        tunnels = [
            await stack.enter_async_context(TunnelChannel(address, metadata=proof))
            for address in config.edge.services
        ]
        channel = TracedChannel(SeveralChannels(tunnels))
        edge = _edge(config, channel, observation)
        port = await edge.start()
        stack.push_async_callback(edge.stop)
        yield Addresses(_url(config, port), ",".join(config.edge.services))


def _edge(
    config: Config,
    channel: Channel,
    observation: Observation,
    *,
    clock: Clock | None = None,
    canonical: CanonicalHost | None = None,
    kept: KeptDocuments | None = None,
    tests: ProcessTests | None = None,
) -> EdgeServer:
    has_tls = provider_of(config).scheme is Scheme.HTTPS
    provider = oidc_routes(
        channel,
        config.oidc,
        access=config.access,
        has_tls=has_tls,
        has_fed_cm=config.fedcm.enabled,
        has_session_frame=config.sessions.check_session_iframe,
        canonical=canonical,
        mutual_tls=config.mutual_tls,
        kept=kept,
        clock=clock,
    )
    credential = session_credential(
        channel, config.oidc, access=config.access, has_tls=has_tls, mutual_tls=config.mutual_tls
    )
    console = console_routes(
        channel,
        config.edge,
        oidc=config.oidc,
        access=config.access,
        has_tls=has_tls,
        canonical=canonical,
        credential_of=credential.metadata_of,
    )
    app = create_app(
        config.edge,
        tests.channels(channel) if tests else lambda _: channel,
        [*console, *provider, *(tests.routes if tests else ())],
        has_tls=has_tls,
        page_of=unknown_address_page(clock or SystemClock()),
        reports=RefusalReports(channel),
        release=config.api.release,
        more=credential.metadata_of,
    )
    return EdgeServer(
        app,
        config.edge,
        trusted_proxies=config.access.trusted_proxies,
        metrics=observation.metrics,
        tracer=observation.tracer,
    )


def _canonical_host(config: Config) -> CanonicalHost | None:
    """Return the issuer's host name if the issuer is this listener itself; None if a proxy could be in front of it."""
    provider = provider_of(config)
    is_own = config.identity.public_url is None and provider.scheme is Scheme.HTTP
    if not is_own or public_host(config.edge.host) != LOCALHOST:
        return None
    aliases = frozenset(authority(address, config.edge.port) for address in LOOPBACK_ADDRESSES)
    return CanonicalHost(provider.origin, aliases)


def _url(config: Config, port: int) -> str:
    return f"http://{authority(config.edge.host, port)}"


@asynccontextmanager
async def _engine(
    config: Config, clock: VirtualClock | None, common: Clock, observation: Observation
) -> AsyncIterator[Engine]:
    engine_config, metrics = _engine_config(config), observation.metrics
    meter = instruments(observation, max_tenants=config.metrics.max_tenants)
    if config.server.mode is Mode.EMBEDDED and config.api.process_tests:
        # Renewable engines have no metrics.
        yield RenewableEngine(partial(create_embedded_engine, engine_config, clock or VirtualClock()))
        return
    if config.server.mode is Mode.EMBEDDED:
        yield create_embedded_engine(engine_config, clock, meter=meter)
        return
    if config.server.mode is Mode.CLUSTER:
        await prepare(config.database.dsn, config.cluster.partitions, at_first=available_cores())
    async with durable_engine(engine_config, common, meter=meter, metrics=metrics) as engine:
        yield engine


async def _ended(engine: Engine, running: "asyncio.Task[None]") -> None:
    """Let the engine finish its work and hand over its partitions."""
    engine.stop()
    await asyncio.wait((running,), timeout=HAND_OVER_SECONDS)
    running.cancel()


async def _stop(edge: EdgeServer, grpc_server: GrpcServer) -> None:
    """Stop both listeners concurrently, within the time that a process has after its stop signal."""
    try:
        async with asyncio.timeout(STOP_SECONDS):
            await asyncio.gather(edge.stop(), grpc_server.stop())
    except TimeoutError:
        logger.warning("running calls were cancelled")


def _check_process_tests(config: Config) -> None:
    """Raise ConfigError if others could call endpoints that need no credential."""
    if not config.api.process_tests:
        return
    if config.server.mode is not Mode.EMBEDDED:
        raise ConfigError(
            "api.process_tests: expected embedded mode, because these endpoints change the clock and delete all data"
        )
    if config.edge.host not in LOOPBACK:
        raise ConfigError(f"api.process_tests: expected edge.host on loopback, found {config.edge.host}")


def _check_clocks(config: Config) -> None:
    """Raise ConfigError if a partition whose owner died in a commit could stay without an owner for too long."""
    most = MOST_LEASES * config.cluster.lease_seconds
    if config.server.mode is not Mode.EMBEDDED and config.partition.statement_seconds > most:
        raise ConfigError(
            f"partition.statement_seconds: expected at most {MOST_LEASES} times cluster.lease_seconds ({most:g}), "
            f"found {config.partition.statement_seconds:g}"
        )


def _with_demo_access(config: Config) -> Config:
    """In embedded mode without configured credentials, use the well-known ones, on loopback only."""
    bootstrap = config.bootstrap
    if bootstrap.client_secret and bootstrap.admin_password:
        return config
    exposed = {config.edge.host, config.grpc.host} - LOOPBACK
    if exposed:
        raise ConfigError(
            f"expected bootstrap.client_secret and bootstrap.admin_password before listening on {exposed.pop()}: "
            "without them the service has well-known credentials"
        )
    known = dataclasses.replace(
        bootstrap,
        client_id=bootstrap.client_id if bootstrap.client_secret else DEMO_CLIENT,
        client_secret=bootstrap.client_secret or DEMO_SECRET,
        admin_password=bootstrap.admin_password or DEMO_PASSWORD,
    )
    return dataclasses.replace(config, bootstrap=known)


def _with_ports(config: Config) -> Config:
    """Replace port 0 by a free port, because issuer and topology must name it."""
    return dataclasses.replace(
        config,
        edge=dataclasses.replace(config.edge, port=config.edge.port or free_port(config.edge.host)),
        grpc=dataclasses.replace(config.grpc, port=config.grpc.port or free_port(config.grpc.host)),
        cluster=dataclasses.replace(
            config.cluster, port=config.cluster.port or free_port(config.cluster.host)
        ),
    )


def _dispatcher(
    config: Config,
    engine: Engine,
    identity: Identity,
    named: Servicers,
    *,
    authenticate: Authenticator,
    open_calls: OpenCalls,
    observation: Observation,
) -> Dispatcher:
    return Dispatcher(
        {
            **engine.servicers,
            **identity.servicers,
            **refusal_reports(engine, authenticate, config.server.mode),
            **named,
        },
        interceptors(config.server.mode, authenticate),
        refused=engine.refused,
        open_calls=open_calls,
        searches=SearchPlaces(config.searches),
        metrics=observation.metrics,
        tracer=observation.tracer,
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
        cluster_variables=ClusterVariablesConfig(config.cluster_variables.tenant or config.bootstrap.tenant),
        documents=config.documents,
        history=config.history,
        cluster=config.cluster,
        database=config.database,
        logging=config.logging,
        metrics=config.metrics,
        origin=provider_of(config).origin,
        max_body_bytes=config.edge.max_body_bytes,
    )
