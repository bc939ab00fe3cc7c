"""Completions of the Python client share calls, and each gets its own outcome."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import grpc
from google.rpc.status_pb2 import Status

from gnomon.client.calls import Calls
from gnomon.client.completions import SENDERS, Completions
from gnomon.client.errors import RequestFailed
from gnomon.engine.v1 import job_service_pb2 as pb
from gnomon.engine.v1.job_service_pb2_grpc import (
    JobServiceServicer,
    JobServiceStub,
    add_JobServiceServicer_to_server,
)
from server.platform.errors import NotFound, ResourceExhausted

Context = grpc.aio.ServicerContext[pb.CompleteJobRequest, pb.CompleteJobResponse]
ManyContext = grpc.aio.ServicerContext[pb.CompleteJobsRequest, pb.CompleteJobsResponse]


class Jobs(JobServiceServicer):
    """Jobs 1 to 99 can be completed once; a queue that is full refuses those in `busy` one time."""

    def __init__(self, *busy: int) -> None:
        self.completed: list[int] = []
        self.calls: list[int] = []
        self.keys: list[object] = []
        self._busy = {*busy}

    async def CompleteJob(self, request: pb.CompleteJobRequest, _: Context) -> pb.CompleteJobResponse:  # type: ignore[override]  # noqa: N802  # asynchronous, and named by gRPC
        self.calls.append(1)
        self._complete(request.job_key)
        return pb.CompleteJobResponse()

    def _complete(self, job_key: int) -> Status:
        if job_key in self._busy:
            self._busy.remove(job_key)
            return ResourceExhausted("the queue is full").status()
        if job_key > 99:
            return NotFound(f"no job with key {job_key}").status()
        if job_key not in self.completed:
            self.completed.append(job_key)
        return Status()


class ManyJobs(Jobs):
    """A server that has CompleteJobs."""

    async def CompleteJobs(  # type: ignore[override]  # noqa: N802  # asynchronous, and named by gRPC
        self, request: pb.CompleteJobsRequest, context: ManyContext
    ) -> pb.CompleteJobsResponse:
        self.calls.append(len(request.completions))
        self.keys.append(dict(context.invocation_metadata() or ())["idempotency-key"])
        return pb.CompleteJobsResponse(
            outcomes=[self._complete(each.job_key) for each in request.completions]
        )


@asynccontextmanager
async def completions_of(jobs: Jobs) -> AsyncIterator[Completions]:
    server = grpc.aio.server()
    add_JobServiceServicer_to_server(jobs, server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel, asyncio.TaskGroup() as tasks:
            completions = Completions(JobServiceStub(channel), Calls(None), seconds=30)
            sending = [tasks.create_task(completions.send()) for _ in range(SENDERS)]
            try:
                yield completions
            finally:
                for each in sending:
                    each.cancel()
    finally:
        await server.stop(None)


async def outcomes(completions: Completions, *job_keys: int) -> list[RequestFailed | None]:
    async def outcome(job_key: int) -> RequestFailed | None:
        try:
            await completions.complete(pb.CompleteJobRequest(job_key=job_key))
        except RequestFailed as refusal:
            return refusal
        return None

    return await asyncio.gather(*map(outcome, job_keys))


async def test_completions_that_wait_share_a_call() -> None:
    async with completions_of(jobs := ManyJobs()) as completions:
        found = await outcomes(completions, *range(1, 51))

    assert found == [None] * 50
    assert sorted(jobs.completed) == [*range(1, 51)]
    assert len(jobs.calls) <= SENDERS + 1


async def test_a_completion_that_is_alone_goes_at_once_and_alone() -> None:
    async with completions_of(jobs := ManyJobs()) as completions:
        await outcomes(completions, 1)

    assert (jobs.completed, jobs.calls, jobs.keys) == ([1], [1], [])


async def test_each_completion_gets_its_own_refusal() -> None:
    async with completions_of(ManyJobs()) as completions:
        first, second, third = await outcomes(completions, 1, 100, 2)

    assert (first, third) == (None, None)
    assert second is not None
    assert (second.code, second.reason) == (grpc.StatusCode.NOT_FOUND, "NOT_FOUND")
    assert second.message == "no job with key 100"


async def test_a_completion_that_finds_a_full_queue_is_repeated_under_the_key_of_its_call() -> None:
    async with completions_of(jobs := ManyJobs(2)) as completions:
        found = await outcomes(completions, 1, 2, 3)

    assert found == [None] * 3
    assert sorted(jobs.completed) == [1, 2, 3]
    assert len(jobs.keys) == len({*jobs.keys}) + 1


async def test_large_completions_go_in_calls_of_bounded_size() -> None:
    large = pb.CompleteJobRequest(job_key=1, variables=b'{"a":"' + b"x" * 600_000 + b'"}')
    async with completions_of(jobs := ManyJobs()) as completions:
        await asyncio.gather(*(completions.complete(large) for _ in range(5)))

    assert jobs.calls == [1] * 5


async def test_a_server_without_the_call_gets_one_call_for_each_completion() -> None:
    async with completions_of(jobs := Jobs()) as completions:
        found = [*await outcomes(completions, 1, 2, 3), *await outcomes(completions, 4, 5)]

    assert found == [None] * 5
    assert sorted(jobs.completed) == [1, 2, 3, 4, 5]


async def test_a_call_that_is_refused_refuses_each_of_its_completions() -> None:
    class Refusing(ManyJobs):
        async def CompleteJobs(  # type: ignore[override]  # noqa: N802  # asynchronous, and named by gRPC
            self, _: pb.CompleteJobsRequest, context: ManyContext
        ) -> pb.CompleteJobsResponse:
            await context.abort(grpc.StatusCode.PERMISSION_DENIED, "the permission was taken away")

    async with completions_of(Refusing()) as completions:
        found = await outcomes(completions, 1, 2, 3)

    assert [refusal and refusal.code for refusal in found] == [grpc.StatusCode.PERMISSION_DENIED] * 3
    assert len({id(refusal) for refusal in found}) == 3
