"""Health checks and reflection of the gRPC listener, as a client without a credential sees them."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import grpc
import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2 as pb

from gnomon.engine.v1 import job_service_pb2
from server.platform.dispatch import Dispatcher
from server.platform.grpc_server import GrpcConfig, GrpcServer
from server.platform.health import MAX_WATCHES
from server.platform.health import SERVICE as HEALTH
from server.platform.reflection import MAX_CALLS
from tests.server.platform.http2.hostile import (
    BEGINNING,
    DATA,
    END_STREAM,
    HEADERS,
    frame,
    head,
    hostile,
    settings,
)

SECONDS = 20.0
SERVING, NOT_SERVING = health_pb2.HealthCheckResponse.SERVING, health_pb2.HealthCheckResponse.NOT_SERVING
UNKNOWN = health_pb2.HealthCheckResponse.SERVICE_UNKNOWN
JOBS = job_service_pb2.DESCRIPTOR.services_by_name["JobService"]
VERSIONS = ("v1", "v1alpha")
OPTIONS = "google.protobuf.MethodOptions"


class NoJobs:
    """A servicer without any operation."""


def server(**changed: Any) -> GrpcServer:
    return GrpcServer(Dispatcher({JOBS: NoJobs()}, ()), GrpcConfig(port=0, drain_seconds=0.1, **changed))


@asynccontextmanager
async def serving(**changed: Any) -> AsyncIterator[grpc.aio.Channel]:
    listener = server(**changed)
    port = await listener.start()
    try:
        async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
            yield channel
    finally:
        await listener.stop()


def checks(channel: grpc.aio.Channel) -> Any:
    return health_pb2_grpc.HealthStub(channel)  # type: ignore[arg-type]  # an asyncio channel


def request(service: str = "") -> health_pb2.HealthCheckRequest:
    return health_pb2.HealthCheckRequest(service=service)


def asking(channel: grpc.aio.Channel, version: str = "v1") -> Any:
    return channel.stream_stream(
        f"/grpc.reflection.{version}.ServerReflection/ServerReflectionInfo",
        request_serializer=pb.ServerReflectionRequest.SerializeToString,
        response_deserializer=pb.ServerReflectionResponse.FromString,
    )


async def reflected(
    channel: grpc.aio.Channel, *requests: pb.ServerReflectionRequest, version: str = "v1"
) -> Sequence[pb.ServerReflectionResponse]:
    return [response async for response in asking(channel, version)(iter(requests), timeout=SECONDS)]


@pytest.mark.parametrize("service", ["", JOBS.full_name])
async def test_the_server_and_its_services_are_serving(service: str) -> None:
    async with serving() as channel:
        answer = await checks(channel).Check(request(service), timeout=SECONDS)

    assert answer.status == SERVING


async def test_the_check_of_an_unknown_service_finds_nothing() -> None:
    async with serving() as channel:
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await checks(channel).Check(request("none"), timeout=SECONDS)

    assert refused.value.code() is grpc.StatusCode.NOT_FOUND


async def test_the_list_has_every_service() -> None:
    async with serving() as channel:
        answer = await checks(channel).List(health_pb2.HealthListRequest(), timeout=SECONDS)  # type: ignore[attr-defined]  # the stubs lack it

    assert {name: each.status for name, each in answer.statuses.items()} == {
        "": SERVING,
        JOBS.full_name: SERVING,
    }


async def test_a_watch_hears_of_the_end() -> None:
    listener = server()
    port = await listener.start()
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        watch, unknown = checks(channel).Watch(request()), checks(channel).Watch(request("none"))
        first, other = await watch.read(), await unknown.read()
        stopping = asyncio.ensure_future(listener.stop())
        last = await watch.read()
        await stopping

    assert [first.status, other.status, last.status] == [SERVING, UNKNOWN, NOT_SERVING]


async def test_a_watch_that_nobody_reads_does_not_delay_the_end() -> None:
    listener = server()
    port = await listener.start()
    watched = head("/grpc.health.v1.Health/Watch", 1) + frame(DATA, bytes(5), flags=END_STREAM, stream_id=1)
    async with hostile(port, BEGINNING + settings(window=0) + watched) as peer:
        await peer.until(HEADERS)

        async with asyncio.timeout(SECONDS):
            await listener.stop()


async def test_watches_are_bounded() -> None:
    async with serving(max_connection_calls=2 * MAX_WATCHES) as channel, AsyncExitStack() as stack:
        watches = [checks(channel).Watch(request()) for _ in range(MAX_WATCHES)]
        for watch in watches:
            stack.callback(watch.cancel)
        await asyncio.gather(*(watch.read() for watch in watches))

        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await checks(channel).Watch(request()).read()

    assert refused.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED


@pytest.mark.parametrize("version", VERSIONS)
async def test_reflection_lists_the_services(version: str) -> None:
    async with serving() as channel:
        (answer,) = await reflected(channel, pb.ServerReflectionRequest(list_services="*"), version=version)

    listed = {service.name for service in answer.list_services_response.service}
    assert {
        JOBS.full_name,
        HEALTH,
        *(f"grpc.reflection.{each}.ServerReflection" for each in VERSIONS),
    } <= listed


@pytest.mark.parametrize(
    "asked",
    [
        pytest.param(pb.ServerReflectionRequest(file_by_filename=JOBS.file.name), id="a file"),
        pytest.param(pb.ServerReflectionRequest(file_containing_symbol=JOBS.full_name), id="a service"),
        pytest.param(
            pb.ServerReflectionRequest(file_containing_symbol=f"{JOBS.full_name}.FailJob"), id="a method"
        ),
        pytest.param(
            pb.ServerReflectionRequest(file_containing_symbol="gnomon.engine.v1.FailJobRequest"),
            id="a message",
        ),
        pytest.param(
            pb.ServerReflectionRequest(file_containing_symbol="gnomon.engine.v1.FailJobRequest.job_key"),
            id="a field",
        ),
    ],
)
async def test_reflection_shows_the_file_of_a_symbol_and_its_imports(
    asked: pb.ServerReflectionRequest,
) -> None:
    async with serving() as channel:
        (answer,) = await reflected(channel, asked)

    files = [
        FileDescriptorProto.FromString(file) for file in answer.file_descriptor_response.file_descriptor_proto
    ]
    names = {file.name for file in files}
    assert files[0].name == JOBS.file.name
    assert all(imported in names for file in files for imported in file.dependency)
    assert answer.original_request == asked


async def test_reflection_shows_extensions() -> None:
    async with serving() as channel:
        (numbers,) = await reflected(
            channel, pb.ServerReflectionRequest(all_extension_numbers_of_type=OPTIONS)
        )
        number = numbers.all_extension_numbers_response.extension_number[0]
        wanted = pb.ExtensionRequest(containing_type=OPTIONS, extension_number=number)
        (file,) = await reflected(channel, pb.ServerReflectionRequest(file_containing_extension=wanted))

    assert numbers.all_extension_numbers_response.base_type_name == OPTIONS
    assert file.file_descriptor_response.file_descriptor_proto


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        pytest.param(
            pb.ServerReflectionRequest(file_by_filename="none.proto"), grpc.StatusCode.NOT_FOUND, id="no file"
        ),
        pytest.param(
            pb.ServerReflectionRequest(file_containing_symbol=f"{JOBS.full_name}.None"),
            grpc.StatusCode.NOT_FOUND,
            id="no method",
        ),
        pytest.param(
            pb.ServerReflectionRequest(file_containing_symbol=""), grpc.StatusCode.NOT_FOUND, id="no symbol"
        ),
        pytest.param(
            pb.ServerReflectionRequest(
                file_containing_extension=pb.ExtensionRequest(containing_type=OPTIONS, extension_number=-1)
            ),
            grpc.StatusCode.NOT_FOUND,
            id="no extension",
        ),
        pytest.param(
            pb.ServerReflectionRequest(all_extension_numbers_of_type="none"),
            grpc.StatusCode.NOT_FOUND,
            id="no type",
        ),
        pytest.param(pb.ServerReflectionRequest(), grpc.StatusCode.INVALID_ARGUMENT, id="no question"),
    ],
)
async def test_reflection_answers_with_an_error_and_goes_on(
    asked: pb.ServerReflectionRequest, code: grpc.StatusCode
) -> None:
    async with serving() as channel:
        error, services = await reflected(channel, asked, pb.ServerReflectionRequest(list_services="*"))

    assert code.value[0] == error.error_response.error_code
    assert error.original_request == asked
    assert services.list_services_response.service


@pytest.mark.parametrize("version", VERSIONS)
async def test_reflection_can_be_turned_off(version: str) -> None:
    async with serving(reflection=False) as channel:
        code = await asking(channel, version)(timeout=SECONDS).code()
        answer = await checks(channel).Check(request(), timeout=SECONDS)

    assert code is grpc.StatusCode.UNIMPLEMENTED
    assert answer.status == SERVING


async def test_open_calls_of_reflection_are_bounded() -> None:
    async with serving() as channel, AsyncExitStack() as stack:
        for _ in range(MAX_CALLS):
            call = asking(channel)()
            stack.callback(call.cancel)
            await call.write(pb.ServerReflectionRequest(list_services="*"))
            await call.read()

        code = await asking(channel)(timeout=SECONDS).code()

    assert code is grpc.StatusCode.RESOURCE_EXHAUSTED
