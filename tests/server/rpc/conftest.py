"""The engine of each mode with its interceptors behind every channel: every test here runs over all of them."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import cast

import grpc
import pytest

from server.platform.call import AUTHORIZATION, Call, Grant, Principal, TenantId
from server.platform.channels import Channel, LocalChannel
from server.platform.channels.tunnel import TunnelChannel
from server.platform.dispatch import Dispatcher
from server.platform.errors import Unauthenticated
from server.platform.grpc_server import GrpcConfig, GrpcServer
from server.platform.interceptors import interceptors
from server.platform.policy import Mode
from tests.durable import migrated_database
from tests.server.rpc.caller import EVERYTHING, Caller
from tests.server.rpc.engines import Running, Time, bundled, embedded


def starts(process_definition_id: str) -> frozenset[Grant]:
    """The authorization to start a process, or any one."""
    return frozenset({Grant("PROCESS_DEFINITION", "CREATE_PROCESS_INSTANCE", process_definition_id)})


PRINCIPALS = {
    "Bearer worker": Principal("worker", frozenset({TenantId("default")}), EVERYTHING),
    "Bearer stranger": Principal("stranger", frozenset({TenantId("other")}), EVERYTHING),
    "Bearer reader": Principal("reader", frozenset({TenantId("default")}), frozenset({"history:read"})),
    "Bearer modeller": Principal("modeller", frozenset({TenantId("default")}), frozenset({"process:delete"})),
    "Bearer starter": Principal("starter", frozenset({TenantId("default")}), frozenset(), grants=starts("*")),
    "Bearer starter of orders": Principal(
        "starter of orders", frozenset({TenantId("default")}), frozenset(), grants=starts("order")
    ),
    "Bearer traveller": Principal(
        "traveller", frozenset({TenantId("default"), TenantId("other")}), EVERYTHING
    ),
}


def authenticate(call: Call) -> None:
    """Stands at the port of the real one, which has tests of its own."""
    if not call.policy.needs_principal:
        return
    principal = PRINCIPALS.get(call.metadata.get(AUTHORIZATION, ""))
    if principal is None:
        raise Unauthenticated("unknown")
    call.principal = principal


@asynccontextmanager
async def local(dispatcher: Dispatcher) -> AsyncIterator[Channel]:
    yield LocalChannel(dispatcher)


@asynccontextmanager
async def direct(dispatcher: Dispatcher) -> AsyncIterator[Channel]:
    async with _listening(dispatcher) as address, grpc.aio.insecure_channel(address) as channel:
        yield cast("Channel", channel)  # its own types are narrower


@asynccontextmanager
async def tunnel(dispatcher: Dispatcher) -> AsyncIterator[Channel]:
    async with _listening(dispatcher) as address, TunnelChannel(address) as channel:
        yield channel


@asynccontextmanager
async def _listening(dispatcher: Dispatcher) -> AsyncIterator[str]:
    server = GrpcServer(dispatcher, GrpcConfig(port=0))
    port = await server.start()
    yield f"127.0.0.1:{port}"
    await server.stop()


NewEngine = Callable[[], AbstractAsyncContextManager[Running]]
NewChannel = Callable[[Dispatcher], AbstractAsyncContextManager[Channel]]

CHANNELS: Mapping[str, NewChannel] = {"local": local, "grpc": direct, "tunnel": tunnel}


@pytest.fixture(scope="session")
def durable_dsn(postgres_dsn: str) -> str:
    return asyncio.run(migrated_database(postgres_dsn, "rpc"))


@pytest.fixture(scope="session")
def embedded_engine() -> NewEngine:
    return embedded


@pytest.fixture(scope="session")
def bundled_engine(durable_dsn: str) -> NewEngine:
    return partial(bundled, durable_dsn, 1)


@pytest.fixture(scope="session")
def bundled_engine_of_three(durable_dsn: str) -> NewEngine:
    return partial(bundled, durable_dsn, 3)


@pytest.fixture(params=["embedded_engine", "bundled_engine_of_three"])
def engine_of_each_mode(request: pytest.FixtureRequest) -> NewEngine:
    new_engine: NewEngine = request.getfixturevalue(request.param)
    return new_engine


@pytest.fixture
async def running(engine_of_each_mode: NewEngine) -> AsyncIterator[Running]:
    async with engine_of_each_mode() as running:
        yield running


@dataclass(frozen=True)
class Service:
    """An engine, and a way to call it as everybody does."""

    running: Running
    caller: Caller


@dataclass(frozen=True)
class Setup:
    new_engine: NewEngine
    new_channel: NewChannel


# Each engine and each channel; an engine knows nothing of the channel before it, so that pairs of them say no more.
@pytest.fixture(
    params=[
        pytest.param(("embedded_engine", "local"), id="embedded-local"),
        pytest.param(("embedded_engine", "grpc"), id="embedded-grpc"),
        pytest.param(("bundled_engine", "tunnel"), id="bundled-tunnel"),
        pytest.param(("bundled_engine_of_three", "local"), id="bundled-three partitions"),
    ]
)
def setup(request: pytest.FixtureRequest) -> Setup:
    engine, channel = request.param
    return Setup(request.getfixturevalue(engine), CHANNELS[channel])


@pytest.fixture
async def service(setup: Setup) -> AsyncIterator[Service]:
    async with setup.new_engine() as running:
        dispatcher = Dispatcher(
            running.engine.servicers, interceptors(running.mode, authenticate), refused=running.engine.refused
        )
        async with setup.new_channel(dispatcher) as channel:
            yield Service(running, Caller(channel))


@pytest.fixture
def caller(service: Service) -> Caller:
    return service.caller


@pytest.fixture
def time(service: Service) -> Time:
    return service.running.time


@pytest.fixture
def mode(service: Service) -> Mode:
    return service.running.mode
