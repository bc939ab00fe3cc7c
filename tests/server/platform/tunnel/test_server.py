"""The tunnel on the wire, for clients that others write."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from typing import TYPE_CHECKING

import grpc
import pytest
from google.rpc.status_pb2 import Status
from grpc_reflection.v1alpha import reflection_pb2

from gnomon.engine.v1 import process_instance_service_pb2 as engine_pb
from gnomon.tunnel.v1 import tunnel_service_pb2 as pb
from gnomon.tunnel.v1.tunnel_service_pb2_grpc import TunnelServiceStub
from server.platform.grpc_server import GrpcConfig
from tests.server.platform.tunnel.harness import CREATE, CREDENTIAL, SECONDS, Desk, Waiting, serving, until

if TYPE_CHECKING:
    from gnomon.tunnel.v1.tunnel_service_pb2_grpc import TunnelServiceAsyncStub

Stream = grpc.aio.StreamStreamCall[pb.ExchangeRequest, pb.ExchangeResponse]


@pytest.fixture
async def stream(target: str) -> AsyncIterator[Stream]:
    async with grpc.aio.insecure_channel(target) as channel:
        yield opened(channel)


def opened(channel: grpc.aio.Channel) -> Stream:
    stub: TunnelServiceAsyncStub = TunnelServiceStub(channel)
    return stub.Exchange(timeout=SECONDS)


def call(number: int, process_id: str = "order", *, method: str = CREATE) -> pb.Call:
    request = engine_pb.CreateProcessInstanceRequest(process_definition_id=process_id)
    return pb.Call(id=number, method=method, request=request.SerializeToString(), metadata=dict([CREDENTIAL]))


async def answers(stream: Stream) -> list[pb.Answer]:
    """All until the stream ends."""
    found: list[pb.Answer] = []
    while isinstance(response := await stream.read(), pb.ExchangeResponse):
        found += response.answers
    return found


def codes(answers: Iterable[pb.Answer]) -> dict[int, int]:
    return {answer.id: Status.FromString(answer.status).code for answer in answers}


def code(of: grpc.StatusCode) -> int:
    number: int = of.value[0]
    return number


async def test_a_stream_ends_with_the_answer_to_the_last_call(desk: Desk, stream: Stream) -> None:
    desk.serve = waiting = Waiting()
    await stream.write(pb.ExchangeRequest(calls=[call(1), call(2)]))
    await stream.done_writing()
    await until(lambda: waiting.begun == 2)

    waiting.let_go.set()

    assert {answer.id for answer in await answers(stream)} == {1, 2}
    assert await stream.code() is grpc.StatusCode.OK


async def test_calls_that_cannot_be_served_are_answered_as_grpc_answers_them(stream: Stream) -> None:
    malformed = pb.Call(id=1, method=CREATE, request=b"\xff")
    unknown = call(2, method="/gnomon.engine.v1.NoService/Nothing")

    await stream.write(pb.ExchangeRequest(calls=[malformed, unknown]))
    await stream.done_writing()

    assert codes(await answers(stream)) == {
        1: code(grpc.StatusCode.INVALID_ARGUMENT),
        2: code(grpc.StatusCode.UNIMPLEMENTED),
    }


async def test_an_id_that_is_under_way_is_refused(desk: Desk, stream: Stream) -> None:
    desk.serve = waiting = Waiting()
    await stream.write(pb.ExchangeRequest(calls=[call(1), call(1)]))

    response = await stream.read()

    assert isinstance(response, pb.ExchangeResponse)
    assert codes(response.answers) == {1: code(grpc.StatusCode.INVALID_ARGUMENT)}
    waiting.let_go.set()


async def test_a_cancelled_call_has_no_answer(desk: Desk, stream: Stream) -> None:
    desk.serve = waiting = Waiting()
    await stream.write(pb.ExchangeRequest(calls=[call(1), call(2)]))
    await until(lambda: waiting.begun == 2)

    await stream.write(pb.ExchangeRequest(cancellations=[1, 77]))
    await until(lambda: waiting.cut_off == 1)
    waiting.let_go.set()
    await stream.done_writing()

    assert {answer.id for answer in await answers(stream)} == {2}


async def test_a_call_that_is_cancelled_at_once_leaves_nothing_behind(desk: Desk, stream: Stream) -> None:
    desk.serve = Waiting()
    await stream.write(pb.ExchangeRequest(calls=[call(1)]))
    await stream.write(pb.ExchangeRequest(cancellations=[1]))
    await stream.done_writing()

    assert await answers(stream) == []


async def test_a_client_that_leaves_takes_its_calls_with_it(desk: Desk, stream: Stream) -> None:
    desk.serve = waiting = Waiting()
    await stream.write(pb.ExchangeRequest(calls=[call(1), call(2)]))
    await until(lambda: waiting.begun == 2)

    stream.cancel()

    await until(lambda: waiting.cut_off == 2)


async def test_a_client_that_reads_late_gets_every_answer(desk: Desk) -> None:
    desk.serve = at_length
    config = GrpcConfig(port=0, drain_seconds=0.1, max_tunnel_calls=4)
    async with serving(desk, config) as target, grpc.aio.insecure_channel(target) as channel:
        stream = opened(channel)

        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(write_one_by_one(stream, 200))
            await until(lambda: desk.calls)
            found = await answers(stream)

    assert sorted(answer.id for answer in found) == list(range(200))


async def test_a_client_that_leaves_without_reading_leaves_nothing_behind(desk: Desk) -> None:
    config = GrpcConfig(port=0, drain_seconds=0.1, max_tunnel_calls=4)
    async with serving(desk, config) as target, grpc.aio.insecure_channel(target) as channel:
        desk.serve = at_length
        stream = opened(channel)
        await stream.write(pb.ExchangeRequest(calls=[call(number) for number in range(4)]))
        await until(lambda: len(desk.calls) == 4)
        desk.serve = waiting = Waiting()
        await stream.write(pb.ExchangeRequest(calls=[call(4)]))
        await until(lambda: waiting.begun == 1)

        stream.cancel()

        await until(lambda: waiting.cut_off == 1)


async def at_length(_: engine_pb.CreateProcessInstanceRequest) -> engine_pb.CreateProcessInstanceResponse:
    return engine_pb.CreateProcessInstanceResponse(variables=b"v" * 100_000)


async def write_one_by_one(stream: Stream, count: int) -> None:
    for number in range(count):
        await stream.write(pb.ExchangeRequest(calls=[call(number)]))
    await stream.done_writing()


async def test_reflection_lists_the_tunnel(target: str) -> None:
    async with grpc.aio.insecure_channel(target) as channel:
        reflect = channel.stream_stream(
            "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
            reflection_pb2.ServerReflectionRequest.SerializeToString,
            reflection_pb2.ServerReflectionResponse.FromString,
        )
        asked = reflect(timeout=SECONDS)
        await asked.write(reflection_pb2.ServerReflectionRequest(list_services=""))
        answer = await asked.read()

    assert isinstance(answer, reflection_pb2.ServerReflectionResponse)
    names = {service.name for service in answer.list_services_response.service}
    assert pb.DESCRIPTOR.services_by_name["TunnelService"].full_name in names
