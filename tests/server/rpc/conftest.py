"""The engine with its interceptors behind both channels: every test here runs over each."""

import asyncio
from collections.abc import AsyncIterator

import grpc
import pytest

from server.app import create_embedded_engine
from server.config import EngineConfig
from server.partition.config import InstancesConfig
from server.platform.call import AUTHORIZATION, Call, Principal, TenantId
from server.platform.channels import Channel, LocalChannel
from server.platform.dispatch import Dispatcher
from server.platform.errors import Unauthenticated
from server.platform.grpc_server import GrpcConfig, GrpcServer
from server.platform.interceptors import interceptors
from server.platform.policy import Mode
from tests.server.rpc.caller import EVERYTHING, Caller

PRINCIPALS = {
    "Bearer worker": Principal("worker", frozenset({TenantId("default")}), EVERYTHING),
    "Bearer stranger": Principal("stranger", frozenset({TenantId("other")}), EVERYTHING),
    "Bearer reader": Principal("reader", frozenset({TenantId("default")}), frozenset({"history:read"})),
}


def authenticate(call: Call) -> None:
    """Stands at the port of the real one, which has tests of its own."""
    if call.policy.is_public:
        return
    principal = PRINCIPALS.get(call.metadata.get(AUTHORIZATION, ""))
    if principal is None:
        raise Unauthenticated("unknown")
    call.principal = principal


@pytest.fixture(params=["local", "grpc"])
async def caller(request: pytest.FixtureRequest) -> AsyncIterator[Caller]:
    config = EngineConfig(instances=InstancesConfig(await_completion_seconds=0.2))
    engine = create_embedded_engine(config)
    dispatcher = Dispatcher(engine.servicers, interceptors(Mode.EMBEDDED, authenticate))
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(engine.partition.run())
        if request.param == "local":
            yield Caller(LocalChannel(dispatcher))
        else:
            server = GrpcServer(dispatcher, GrpcConfig(port=0))
            port = await server.start()
            async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
                typed: Channel = channel
                yield Caller(typed)
            await server.stop()
        running.cancel()
