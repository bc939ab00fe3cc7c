"""A call over a tunnel is like any other call."""

import asyncio

import pytest

from gnomon.engine.v1 import process_instance_service_pb2 as pb
from server.platform.channels import TunnelChannel, TunnelConfig
from server.platform.errors import (
    ERRORS,
    DeadlineExceeded,
    Internal,
    InvalidArgument,
    OAuthError,
    PayloadTooLarge,
    PermissionDenied,
    ResourceExhausted,
    ServiceError,
    Unauthenticated,
    Unavailable,
)
from server.platform.grpc_server import GrpcConfig
from tests.server.platform.tunnel.harness import CREDENTIAL, Caller, Desk, Waiting, echo, serving, until

KIBIBYTE = 1024


async def test_a_call_is_answered(caller: Caller) -> None:
    response = await caller.create("order", variables=b'{"total":120}')

    assert response == pb.CreateProcessInstanceResponse(
        process_definition_id="order", variables=b'{"total":120}'
    )


async def test_many_calls_at_once_get_each_its_own_answer(caller: Caller) -> None:
    names = [f"process-{number}" for number in range(500)]

    responses = await asyncio.gather(*(caller.create(name) for name in names))

    assert [response.process_definition_id for response in responses] == names


async def test_a_call_that_waits_holds_up_no_other(desk: Desk, caller: Caller) -> None:
    waiting = Waiting()

    async def serve(request: pb.CreateProcessInstanceRequest) -> pb.CreateProcessInstanceResponse:
        return await (waiting if request.process_definition_id == "slow" else echo)(request)

    desk.serve = serve
    async with asyncio.TaskGroup() as tasks:
        slow = tasks.create_task(caller.create("slow"))
        fast = tasks.create_task(caller.create("fast"))

        await fast

        assert not slow.done()
        waiting.let_go.set()
    assert slow.result().process_definition_id == "slow"


async def test_metadata_and_deadline_reach_the_servicer(desk: Desk, caller: Caller) -> None:
    named = (("x-request-id", "r-1"), ("x-tenant-id", "default"), ("idempotency-key", "schlüssel"))

    await caller.create("order", seconds=5, metadata=(CREDENTIAL, *named))

    (call,) = desk.calls
    assert (call.request_id, call.tenant_id, call.idempotency_key) == ("r-1", "default", "schlüssel")
    assert call.metadata == dict((CREDENTIAL, *named))
    # The channel had to connect first.
    assert call.time_remaining is not None
    assert 0 < call.time_remaining <= 5


async def test_a_call_without_a_deadline_has_none(desk: Desk, caller: Caller) -> None:
    await caller.create("order", seconds=None)

    assert desk.calls[0].time_remaining is None


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        pytest.param((), Unauthenticated, id="no credential"),
        pytest.param((("authorization", "Bearer nobody"),), Unauthenticated, id="unknown credential"),
        pytest.param((CREDENTIAL, ("x-tenant-id", "other")), PermissionDenied, id="another tenant"),
        pytest.param((CREDENTIAL, ("idempotency-key", "k" * 201)), InvalidArgument, id="a bound"),
    ],
)
async def test_every_call_passes_the_interceptors(
    caller: Caller, metadata: tuple[tuple[str, str], ...], expected: type[ServiceError]
) -> None:
    with pytest.raises(expected):
        await caller.create("order", metadata=metadata)


@pytest.mark.parametrize(
    "error",
    [
        *(kind("expected a, found b", place="here") for kind in ERRORS.values()),
        Internal(),
        OAuthError("invalid_grant", "the code was used"),
    ],
    ids=lambda error: type(error).__name__,
)
async def test_a_refusal_comes_back_as_it_was_raised(desk: Desk, caller: Caller, error: ServiceError) -> None:
    async def refuse(_: pb.CreateProcessInstanceRequest) -> pb.CreateProcessInstanceResponse:
        raise error

    desk.serve = refuse

    with pytest.raises(type(error)) as refused:
        await caller.create("order")

    assert (refused.value.detail, refused.value.metadata) == (error.detail, error.metadata)


async def test_a_fault_of_a_servicer_ends_its_own_call_only(desk: Desk, caller: Caller) -> None:
    async def serve(request: pb.CreateProcessInstanceRequest) -> pb.CreateProcessInstanceResponse:
        if request.process_definition_id == "faulty":
            raise LookupError("a fault")
        return await echo(request)

    desk.serve = serve

    faulty, sound = await asyncio.gather(
        caller.create("faulty"), caller.create("sound"), return_exceptions=True
    )

    assert isinstance(faulty, Internal)
    assert isinstance(sound, pb.CreateProcessInstanceResponse)


async def test_a_servicer_that_ran_into_a_cancellation_is_unavailable(desk: Desk, caller: Caller) -> None:
    async def serve(_: pb.CreateProcessInstanceRequest) -> pb.CreateProcessInstanceResponse:
        gone: asyncio.Future[pb.CreateProcessInstanceResponse] = asyncio.get_running_loop().create_future()
        gone.cancel()
        return await gone

    desk.serve = serve

    with pytest.raises(Unavailable):
        await caller.create("order")


async def test_a_deadline_ends_the_call_on_both_sides(desk: Desk, caller: Caller) -> None:
    await caller.create("connected")
    desk.serve = waiting = Waiting()

    with pytest.raises(DeadlineExceeded):
        await caller.create("order", seconds=0.5)

    await until(lambda: waiting.cut_off == 1)


async def test_a_caller_that_goes_away_frees_its_place(desk: Desk) -> None:
    desk.serve = waiting = Waiting()
    config = GrpcConfig(port=0, drain_seconds=0.1, max_tunnel_calls=1)
    async with serving(desk, config) as target, TunnelChannel(target) as channel:
        caller = Caller(channel)
        going = asyncio.ensure_future(caller.create("order"))
        await until(lambda: waiting.begun == 1)

        going.cancel()
        await until(lambda: waiting.cut_off == 1)

        waiting.let_go.set()
        assert (await caller.create("next")).process_definition_id == "next"


async def test_a_server_refuses_what_exceeds_the_calls_of_one_stream(desk: Desk) -> None:
    desk.serve = waiting = Waiting()
    config = GrpcConfig(port=0, drain_seconds=0.1, max_tunnel_calls=2)
    async with serving(desk, config) as target, TunnelChannel(target) as channel:
        caller = Caller(channel)
        async with asyncio.TaskGroup() as tasks:
            kept = [tasks.create_task(caller.create("order")) for _ in range(2)]
            await until(lambda: waiting.begun == 2)

            with pytest.raises(ResourceExhausted):
                await caller.create("one too many")

            waiting.let_go.set()
    assert all(call.done() for call in kept)


async def test_a_channel_refuses_what_exceeds_its_calls(desk: Desk, target: str) -> None:
    desk.serve = waiting = Waiting()
    async with TunnelChannel(target, TunnelConfig(max_calls=2)) as channel:
        caller = Caller(channel)
        async with asyncio.TaskGroup() as tasks:
            for _ in range(2):
                tasks.create_task(caller.create("order"))
            await until(lambda: waiting.begun == 2)

            with pytest.raises(ResourceExhausted):
                await caller.create("one too many")

            waiting.let_go.set()
    assert waiting.begun == 2


async def test_calls_that_together_exceed_the_size_of_a_message_go_in_several(desk: Desk) -> None:
    config = GrpcConfig(port=0, drain_seconds=0.1, max_message_bytes=100 * KIBIBYTE)
    limits = TunnelConfig(max_message_bytes=100 * KIBIBYTE)
    variables = b'"%s"' % (b"v" * 60 * KIBIBYTE)
    async with serving(desk, config) as target, TunnelChannel(target, limits) as channel:
        caller = Caller(channel)

        responses = await asyncio.gather(*(caller.create("order", variables=variables) for _ in range(20)))

    assert {response.variables for response in responses} == {variables}


async def test_a_request_that_is_too_large_is_refused_alone(target: str) -> None:
    async with TunnelChannel(target, TunnelConfig(max_message_bytes=KIBIBYTE)) as channel:
        caller = Caller(channel)

        with pytest.raises(PayloadTooLarge):
            await caller.create("order", variables=b"v" * KIBIBYTE)

        assert (await caller.create("small")).process_definition_id == "small"


async def test_an_answer_that_is_too_large_is_refused_alone(desk: Desk) -> None:
    async def serve(request: pb.CreateProcessInstanceRequest) -> pb.CreateProcessInstanceResponse:
        large = request.process_definition_id == "large"
        return pb.CreateProcessInstanceResponse(variables=b"v" * KIBIBYTE if large else b"{}")

    desk.serve = serve
    config = GrpcConfig(port=0, drain_seconds=0.1, max_message_bytes=KIBIBYTE)
    async with serving(desk, config) as target, TunnelChannel(target) as channel:
        caller = Caller(channel)

        large, small = await asyncio.gather(
            caller.create("large"), caller.create("small"), return_exceptions=True
        )

    assert isinstance(large, PayloadTooLarge)
    assert isinstance(small, pb.CreateProcessInstanceResponse)


async def test_a_stub_without_serializers_is_a_mistake(target: str) -> None:
    with pytest.raises(TypeError, match="/a/B"):
        TunnelChannel(target).unary_unary("/a/B")
