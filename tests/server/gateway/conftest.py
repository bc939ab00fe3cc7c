"""Engines of both modes behind a gRPC listener with Zeebe's gateway: every test here runs over them."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, cast

import grpc
import pytest

from server import gateway
from server.platform.dispatch import Dispatcher
from server.platform.grpc_server import GrpcConfig, GrpcServer
from server.platform.interceptors import interceptors
from tests.durable import migrated_database
from tests.server.gateway.zeebe import Zeebe
from tests.server.rpc.caller import Caller
from tests.server.rpc.conftest import authenticate
from tests.server.rpc.engines import Running, Time, bundled, embedded

if TYPE_CHECKING:
    from server.platform.channels import Channel

NewEngine = Callable[[], AbstractAsyncContextManager[Running]]


@asynccontextmanager
async def serving(running: Running) -> AsyncIterator[Zeebe]:
    """A client of the engine's gateway."""
    dispatcher = Dispatcher(
        running.engine.servicers, interceptors(running.mode, authenticate), refused=running.engine.refused
    )
    zeebe = Dispatcher({gateway.SERVICE: gateway.GatewayServicer(dispatcher)}, ())
    server = GrpcServer(dispatcher, GrpcConfig(port=0), beside=(zeebe,))
    port = await server.start()
    try:
        async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
            yield Zeebe(channel)
    finally:
        running.engine.drain()
        await server.stop()


@pytest.fixture(scope="session")
def gateway_dsn(postgres_dsn: str) -> str:
    return asyncio.run(migrated_database(postgres_dsn, "gateway"))


@pytest.fixture(
    params=[
        pytest.param(0, id="embedded"),
        pytest.param(1, id="bundled"),
        pytest.param(3, id="three partitions"),
    ]
)
def new_engine(request: pytest.FixtureRequest) -> NewEngine:
    if not request.param:
        return embedded
    return partial(bundled, request.getfixturevalue("gateway_dsn"), request.param)


@pytest.fixture
async def running(new_engine: NewEngine) -> AsyncIterator[Running]:
    async with new_engine() as running:
        yield running


@pytest.fixture
async def zeebe(running: Running) -> AsyncIterator[Zeebe]:
    async with serving(running) as client:
        yield client


@pytest.fixture
def own(zeebe: Zeebe) -> Caller:
    """Calls our own services, at the same port."""
    return Caller(cast("Channel", zeebe.channel))


@pytest.fixture
def time(running: Running) -> Time:
    return running.time


@pytest.fixture
async def in_memory() -> AsyncIterator[Zeebe]:
    async with embedded() as running, serving(running) as client:
        yield client
