"""Streams of jobs, with workers that read as a test says."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import pytest

from gnomon.engine.v1 import job_service_pb2 as pb
from server.engine.answers import MAX_ANSWER_OCTETS, ActivatedJob
from server.partition.config import InstancesConfig, JobsConfig
from server.partition.job_streams import JobStreams
from server.partition.local import LocalPartition, OnlyPartition
from server.partition.router import Router
from server.platform.call import Call, Principal
from server.platform.clock import SystemClock
from server.platform.errors import PermissionDenied, ResourceExhausted, Unauthenticated, Unavailable
from server.platform.open_calls import OpenCalls
from server.platform.policy import policies_of
from tests.server.partition.harness import Harness, Serving, activation
from tests.waits import ticks, until

POLICY = policies_of(pb.DESCRIPTOR.services_by_name["JobService"])[
    "/gnomon.engine.v1.JobService/StreamActivatedJobs"
]
CALL = Call(
    POLICY,
    pb.StreamActivatedJobsRequest(),
    {},
    principal=Principal("worker", frozenset(), frozenset(), depends_on=frozenset({"the token"})),
)


class Worker:
    """Reads one job for each `read`; `refusal` says why it may have no more jobs."""

    def __init__(self) -> None:
        self.jobs: list[ActivatedJob] = []
        self.refusal: Exception | None = None
        self.begun = 0
        self._room = asyncio.Semaphore(0)

    def read(self, count: int = 1) -> None:
        for _ in range(count):
            self._room.release()

    async def write(self, job: ActivatedJob) -> None:
        self.begun += 1
        await self._room.acquire()
        self.jobs.append(job)

    async def admit(self) -> None:
        if self.refusal is not None:
            raise self.refusal


class World:
    def __init__(self, harness: Harness, streams: JobStreams) -> None:
        self.harness = harness
        self.streams = streams

    @contextmanager
    def worker(self, most: int = 8) -> Iterator[tuple[Worker, "asyncio.Task[None]"]]:
        """With its stream, which ends with the block."""
        worker = Worker()
        stream = self.harness.spawn(
            self.streams.push(activation(most), write=worker.write, admit=worker.admit)
        )
        yield worker, stream
        stream.cancel()

    @property
    def offered(self) -> int:
        return sum(map(len, self.harness.state.offers.values()))


@asynccontextmanager
async def world(
    serving: Serving, config: JobsConfig | None = None, *, review_seconds: float = 60
) -> AsyncIterator[World]:
    jobs = config or JobsConfig()
    async with serving(jobs=jobs) as harness:
        local = LocalPartition(harness.partition, harness.store, jobs, InstancesConfig())
        router = Router(OnlyPartition(local, "localhost", 0))
        yield World(harness, JobStreams(router, jobs, review_seconds=review_seconds))


async def test_jobs_that_are_not_read_in_time_are_offered_again_but_the_first(serving: Serving) -> None:
    async with world(serving) as found:
        for _ in range(5):
            await found.harness.start()
        with found.worker() as (idle, _):
            await until(lambda: idle.begun)
            in_hand = found.offered

            await until(lambda: found.offered == 4)
            await found.harness.start()
            await ticks(100)

            assert (in_hand, idle.begun, found.offered) == (0, 1, 5)


async def test_a_stream_holds_no_more_octets_than_one_answer_has(in_memory: Serving) -> None:
    two_fit = f'"{"x" * (MAX_ANSWER_OCTETS * 2 // 5)}"'
    async with world(in_memory) as found:
        for _ in range(5):
            await found.harness.start(text=two_fit)

        with found.worker() as (idle, _):
            await until(lambda: idle.begun)

            assert found.offered == 3


async def test_a_worker_that_reads_again_gets_more_and_more_at_once(in_memory: Serving) -> None:
    async with world(in_memory) as found:
        for _ in range(8):
            await found.harness.start()
        with found.worker() as (worker, _):
            await until(lambda: worker.begun and found.offered == 7)
            offered: list[int] = []
            for number in range(1, 8):
                worker.read()
                await until(lambda number=number: worker.begun == number + 1)  # type: ignore[misc]  # mypy cannot infer it
                offered.append(found.offered)
            worker.read()
            await until(lambda: len(worker.jobs) == 8)

    assert offered == [6, 4, 4, 0, 0, 0, 0]


async def test_jobs_in_hand_are_offered_again_when_the_stream_ends(serving: Serving) -> None:
    async with world(serving) as found:
        for _ in range(5):
            await found.harness.start()
        with found.worker() as (worker, stream):
            worker.read(2)
            await until(lambda: worker.begun == 3)

            stream.cancel()
            await until(stream.done)

            assert (found.offered, found.streams.open) == (2, 0)
            again = await found.harness.wait_for_jobs(8)
            assert {job.retries for job in again.jobs} == {3}


async def test_jobs_in_hand_are_offered_again_when_the_credential_ends(serving: Serving) -> None:
    async with world(serving) as found:
        for _ in range(4):
            await found.harness.start()
        worker, calls = Worker(), OpenCalls(_revoked, SystemClock())
        checking = found.harness.spawn(calls.run())

        async def stream() -> None:
            async with calls.watched(CALL):
                await found.streams.push(activation(8), write=worker.write, admit=worker.admit)

        streaming = asyncio.ensure_future(stream())
        worker.read(1)
        await until(lambda: worker.begun == 2)
        calls.check(frozenset({"the token"}))

        with pytest.raises(Unauthenticated, match="the token was revoked"):
            await streaming
        assert (found.offered, found.streams.open) == (2, 0)
        checking.cancel()


async def _revoked(_: Call) -> None:
    raise Unauthenticated("the token was revoked")


@pytest.mark.parametrize("count", [0, 1])
async def test_a_worker_that_lost_the_right_gets_nothing_with_or_without_jobs(
    in_memory: Serving, count: int
) -> None:
    async with world(in_memory, review_seconds=0.01) as found:
        with found.worker() as (worker, stream):
            await ticks(10)
            worker.refusal = PermissionDenied("withdrawn")
            for _ in range(count):
                await found.harness.start()

            with pytest.raises(PermissionDenied, match="withdrawn"):
                await stream

            assert (worker.begun, found.offered, found.streams.open) == (0, count, 0)


async def test_a_write_that_fails_ends_the_stream_and_loses_no_other_job(in_memory: Serving) -> None:
    async def fail(_: ActivatedJob) -> None:
        raise ConnectionError

    async with world(in_memory) as found:
        for _ in range(3):
            await found.harness.start()

        with pytest.raises(ConnectionError):
            await found.streams.push(activation(8), write=fail, admit=Worker().admit)

        assert found.offered == 2


async def test_streams_of_a_process_and_of_a_tenant_have_a_bound(in_memory: Serving) -> None:
    async with world(in_memory, JobsConfig(max_streams=2, max_tenant_streams=1)) as found:
        with (
            found.worker(),
            found.worker() as (_, second),
            pytest.raises(ResourceExhausted, match="1 streams of jobs of the tenant"),
        ):
            await second
        await until(lambda: found.streams.open == 0)

        with found.worker() as (worker, _):
            await found.harness.start()
            await until(lambda: worker.begun)


async def test_streams_end_when_the_process_stops(in_memory: Serving) -> None:
    async with world(in_memory) as found:
        await found.harness.start()
        with found.worker() as (writing, its_stream), found.worker() as (_, waiting):
            await until(lambda: writing.begun)
            await ticks(10)
            found.streams.drain()

            with pytest.raises(Unavailable, match="about to stop"):
                await waiting
            assert not its_stream.done()
            writing.read()
            with pytest.raises(Unavailable, match="about to stop"):
                await its_stream
