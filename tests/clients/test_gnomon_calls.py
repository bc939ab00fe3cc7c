"""Calls of the Python client are repeated after what a repeat may help, and only then."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import grpc
import pytest

from gnomon.client.calls import Calls
from gnomon.client.errors import RequestFailed
from gnomon.engine.v1.job_service_pb2 import CompleteJobRequest, CompleteJobResponse

SERVICE, METHOD = "gnomon.engine.v1.JobService", "CompleteJob"
Context = grpc.aio.ServicerContext[CompleteJobRequest, CompleteJobResponse]
Call = grpc.aio.UnaryUnaryMultiCallable[CompleteJobRequest, CompleteJobResponse]


@asynccontextmanager
async def first_refused(status: grpc.StatusCode, keys: list[object]) -> AsyncIterator[Call]:
    """A method that refuses its first call, and notes the idempotency key of each."""

    async def complete_job(_: CompleteJobRequest, context: Context) -> CompleteJobResponse:
        keys.append(dict(context.invocation_metadata() or ())["idempotency-key"])
        if len(keys) == 1:
            await context.abort(status, "the server stops")
        return CompleteJobResponse()

    handler = grpc.unary_unary_rpc_method_handler(
        complete_job, CompleteJobRequest.FromString, CompleteJobResponse.SerializeToString
    )
    server = grpc.aio.server()
    server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler(SERVICE, {METHOD: handler})])
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
            yield channel.unary_unary(
                f"/{SERVICE}/{METHOD}", CompleteJobRequest.SerializeToString, CompleteJobResponse.FromString
            )
    finally:
        await server.stop(None)


@pytest.mark.parametrize("status", [grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED])
async def test_a_command_is_repeated_under_its_key_when_the_server_stops(status: grpc.StatusCode) -> None:
    keys: list[object] = []
    async with first_refused(status, keys) as complete_job:
        await Calls(None).command(complete_job, CompleteJobRequest(job_key=1), seconds=30)
    assert len(keys) == 2
    assert len(set(keys)) == 1


@pytest.mark.parametrize(
    "status",
    [
        grpc.StatusCode.INVALID_ARGUMENT,
        grpc.StatusCode.NOT_FOUND,
        grpc.StatusCode.FAILED_PRECONDITION,
        grpc.StatusCode.PERMISSION_DENIED,
        grpc.StatusCode.INTERNAL,
        # Without a reason, gRPC itself refused a message that is too large.
        grpc.StatusCode.RESOURCE_EXHAUSTED,
    ],
)
async def test_a_refusal_that_a_repeat_does_not_help_is_raised_at_once(status: grpc.StatusCode) -> None:
    keys: list[object] = []
    async with first_refused(status, keys) as complete_job:
        with pytest.raises(RequestFailed) as raised:
            await Calls(None).command(complete_job, CompleteJobRequest(job_key=1), seconds=30)
    assert raised.value.code is status
    assert len(keys) == 1
