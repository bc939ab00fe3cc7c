"""The gRPC listener bounds its connections, what they carry, and how long they wait."""

import asyncio
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from server.platform.dispatch import Dispatcher
from server.platform.grpc_server import GrpcConfig, GrpcServer

PATIENCE_SECONDS = 20.0
SOON = 0.2

# The preface of HTTP/2 and an empty SETTINGS frame (RFC 9113 §3.4).
BEGINNING = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00"
PREFACE = BEGINNING[:24]


@asynccontextmanager
async def listening(**settings: Any) -> AsyncIterator[int]:
    server = GrpcServer(Dispatcher({}, ()), GrpcConfig(port=0, drain_seconds=0.1, **settings))
    port = await server.start()
    try:
        yield port
    finally:
        await server.stop()


@asynccontextmanager
async def connected(port: int, data: bytes) -> AsyncIterator[asyncio.StreamReader]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(data)
    try:
        yield reader
    finally:
        writer.close()


async def patiently(work: Awaitable[Any]) -> Any:
    return await asyncio.wait_for(work, PATIENCE_SECONDS)


@pytest.mark.parametrize(
    "data", [b"", PREFACE[:10], PREFACE], ids=["nothing", "half a preface", "no settings"]
)
async def test_a_connection_that_does_not_begin_with_http2_is_closed(data: bytes) -> None:
    async with listening(handshake_timeout_seconds=SOON) as port, connected(port, data) as reader:
        await patiently(reader.read())

        assert reader.at_eof()


async def test_a_connection_without_a_call_is_closed() -> None:
    async with listening(idle_timeout_seconds=SOON) as port, connected(port, BEGINNING) as reader:
        await patiently(reader.read())

        assert reader.at_eof()


async def test_a_connection_without_a_first_call_is_closed() -> None:
    async with listening(first_call_timeout_seconds=SOON) as port, connected(port, BEGINNING) as reader:
        await patiently(reader.read())

        assert reader.at_eof()


async def test_a_connection_without_a_call_gives_way_to_a_new_one() -> None:
    async with listening(max_connections=1) as port, connected(port, BEGINNING) as first:
        greeting = await patiently(first.read(1))
        async with connected(port, BEGINNING) as second:
            other_greeting = await patiently(second.read(1))
            await patiently(first.read())

    assert (greeting, other_greeting) == (b"\0", b"\0")
    assert first.at_eof()


async def test_calls_beyond_the_bound_of_a_connection_wait_for_others_to_end() -> None:
    async with (
        listening(max_connection_calls=1) as port,
        grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel,
    ):
        health: Any = health_pb2_grpc.HealthStub(channel)
        request = health_pb2.HealthCheckRequest()
        watch = health.Watch(request)
        await patiently(watch.read())
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await health.Check(request, timeout=SOON)
        watch.cancel()

        answer = await health.Check(request, timeout=PATIENCE_SECONDS)

    assert refused.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED
    assert answer.status == health_pb2.HealthCheckResponse.SERVING


async def test_watched_health_does_not_keep_a_place() -> None:
    async with (
        listening(max_connections=2) as port,
        grpc.aio.insecure_channel(f"127.0.0.1:{port}") as watching,
        grpc.aio.insecure_channel(
            f"127.0.0.1:{port}", options=[("grpc.use_local_subchannel_pool", 1)]
        ) as channel,
    ):
        watched: Any = health_pb2_grpc.HealthStub(watching)  # type: ignore[arg-type]  # an asyncio channel
        watch = watched.Watch(health_pb2.HealthCheckRequest())
        await patiently(watch.read())
        asked: Any = health_pb2_grpc.HealthStub(channel)  # type: ignore[arg-type]  # an asyncio channel
        answer = await asked.Check(health_pb2.HealthCheckRequest(), timeout=PATIENCE_SECONDS)
        with pytest.raises(grpc.aio.AioRpcError) as ended:
            await patiently(watch.read())

    assert answer.status == health_pb2.HealthCheckResponse.SERVING
    assert ended.value.code() is grpc.StatusCode.UNAVAILABLE


@pytest.mark.parametrize(
    "setting",
    [
        "max_connections",
        "max_connections_per_address",
        "max_connection_calls",
        "handshake_timeout_seconds",
        "first_call_timeout_seconds",
        "request_timeout_seconds",
        "send_timeout_seconds",
    ],
)
def test_a_setting_out_of_bounds_is_refused(setting: str) -> None:
    with pytest.raises(ValueError, match=setting):
        GrpcConfig(**{setting: 0})
