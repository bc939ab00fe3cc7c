"""Streams of jobs as gRPC clients see them, over the engines of all modes."""

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any, cast

import grpc
import pytest

from gnomon.engine.v1 import job_service_pb2 as pb
from gnomon.engine.v1.job_pb2 import ActivatedJob
from gnomon.engine.v1.job_service_pb2_grpc import JobServiceStub
from server.app import DurableEngine, MemoryEngine
from server.bpmn.builder import process
from server.partition.job_streams import MOST_IN_HAND, JobStreams
from server.platform.call import AUTHORIZATION, Call, Principal
from server.platform.channels import Channel, TunnelChannel, error_of
from server.platform.dispatch import Dispatcher
from server.platform.errors import (
    InvalidArgument,
    ModeNotSupported,
    PermissionDenied,
    ServiceError,
    Unauthenticated,
    Unavailable,
)
from server.platform.grpc_server import GrpcConfig, GrpcServer
from server.platform.interceptors import interceptors
from tests.server.platform.tunnel.harness import Wire
from tests.server.rpc.caller import SECONDS, Caller
from tests.server.rpc.conftest import PRINCIPALS, NewEngine
from tests.server.rpc.engines import Time
from tests.waits import until

CHARGE = process("order").start().service_task("charge", type="charge", headers={"currency": "EUR"}).end()
MIDNIGHT = 1_767_225_600_000  # 2026-01-01T00:00:00Z
# A worker has room for 64 KiB that it has not read: not for one of these.
SMALL_WINDOW = (("grpc.http2.bdp_probe", 0),)
LARGE = b'{"document": "%s"}' % (b"x" * 300_000)


class Worker:
    """A client of one stream, which reads when it is told to."""

    def __init__(self, call: "grpc.aio.UnaryStreamCall[Any, pb.StreamActivatedJobsResponse]") -> None:
        self._call = call

    async def read(self, count: int = 1) -> Sequence[ActivatedJob]:
        """Raises the ServiceError with which the stream ended."""
        try:
            async with asyncio.timeout(SECONDS):
                return [await self._next() for _ in range(count)]
        except grpc.RpcError as failure:
            raise error_of(failure) from failure

    async def _next(self) -> ActivatedJob:
        response = await self._call.read()
        assert isinstance(response, pb.StreamActivatedJobsResponse)
        return response.job

    def leave(self) -> None:
        self._call.cancel()


@dataclass(frozen=True)
class World:
    """`principals` are those that may call by now."""

    engine: MemoryEngine | DurableEngine
    caller: Caller
    time: Time
    principals: dict[str, Principal]
    target: str
    channel: grpc.aio.Channel

    @property
    def streams(self) -> JobStreams:
        return self.engine.streams

    async def worker(self, credential: str = "worker", **fields: Any) -> Worker:
        """One whose stream is open, or was refused."""
        request = pb.StreamActivatedJobsRequest(
            **{"type": "charge", "worker": credential, "timeout": 60_000, **fields}
        )
        metadata = ((AUTHORIZATION, f"Bearer {credential}"),)
        before = self.streams.open
        call = JobServiceStub(self.channel).StreamActivatedJobs(request, metadata=metadata)
        await until(lambda: self.streams.open > before or call.done())
        return Worker(call)

    async def start(self, count: int, variables: bytes = b"") -> set[int]:
        return {await self.caller.start("order", variables) for _ in range(count)}


@pytest.fixture(
    params=[
        pytest.param("embedded_engine", id="embedded"),
        pytest.param("bundled_engine", id="bundled"),
        pytest.param("bundled_engine_of_three", id="three partitions"),
    ]
)
def new_engine(request: pytest.FixtureRequest) -> NewEngine:
    found: NewEngine = request.getfixturevalue(request.param)
    return found


@pytest.fixture
async def world(new_engine: NewEngine) -> AsyncIterator[World]:
    """With process `order` deployed, which has one job of type `charge`."""
    async with opened(new_engine) as world:
        yield world


@pytest.fixture
async def in_memory(embedded_engine: NewEngine) -> AsyncIterator[World]:
    async with opened(embedded_engine) as world:
        yield world


@asynccontextmanager
async def opened(new_engine: NewEngine) -> AsyncIterator[World]:
    principals = dict(PRINCIPALS)

    def authenticate(call: Call) -> None:
        principal = principals.get(call.metadata.get(AUTHORIZATION, ""))
        if principal is None:
            raise Unauthenticated("unknown")
        call.principal = principal

    async with new_engine() as running:
        assert isinstance(running.engine, MemoryEngine | DurableEngine)
        dispatcher = Dispatcher(running.engine.servicers, interceptors(running.mode, authenticate))
        server = GrpcServer(dispatcher, GrpcConfig(port=0))
        target = f"127.0.0.1:{await server.start()}"
        async with grpc.aio.insecure_channel(target, options=SMALL_WINDOW) as channel:
            caller = Caller(cast("Channel", channel))
            await running.time.pin(MIDNIGHT)
            await caller.deploy(CHARGE)
            yield World(running.engine, caller, running.time, principals, target, channel)
        await server.stop()


def instances(jobs: Sequence[ActivatedJob]) -> list[int]:
    return [job.process_instance_key for job in jobs]


async def test_jobs_are_pushed_that_wait_already_and_those_that_come(world: World) -> None:
    waiting = await world.caller.start("order", b'{"total": 120, "name": "Ann"}')

    worker = await world.worker(fetch_variable=["total"])
    (job,) = await worker.read()
    coming = await world.caller.start("order")
    (next_,) = await worker.read()

    assert (job.process_instance_key, next_.process_instance_key) == (waiting, coming)
    assert (job.type, job.worker, job.retries, job.element_id) == ("charge", "worker", 3, "charge")
    assert (job.variables, dict(job.custom_headers)) == (b'{"total":120}', {"currency": "EUR"})
    assert job.deadline == MIDNIGHT + 60_000
    await world.caller("CompleteJob", job_key=job.job_key)


async def test_each_job_goes_to_one_worker_that_streams_or_polls(world: World) -> None:
    workers = [await world.worker(), await world.worker()]
    count = 2 * MOST_IN_HAND
    found: list[int] = []

    async def read(worker: Worker) -> None:
        while True:
            found.extend(instances(await worker.read()))

    async def poll() -> None:
        while True:
            found.extend(instances(await world.caller.activate("charge", 2)))
            await asyncio.sleep(0)

    reading = [asyncio.ensure_future(each) for each in (*map(read, workers), poll())]
    started = await world.start(count)
    await until(lambda: len(found) >= count)
    for each in reading:
        each.cancel()
    await asyncio.gather(*reading, return_exceptions=True)

    assert sorted(found) == sorted(started)


async def test_streams_take_turns(in_memory: World) -> None:
    first, second = await in_memory.worker(), await in_memory.worker()

    for worker in (first, second, first):
        (key,) = await in_memory.start(1)
        assert instances(await worker.read()) == [key]


async def test_a_worker_that_does_not_read_keeps_one_job_and_blocks_nobody(world: World) -> None:
    started = await world.start(5, LARGE)
    idle = await world.worker()

    busy = await world.worker()
    found = list(await busy.read(4))
    later = await world.start(3, LARGE)
    found += await busy.read(3)
    kept = await idle.read()

    assert sorted(instances([*found, *kept])) == sorted(started | later)
    assert {job.retries for job in found} == {3}


async def test_a_worker_that_reads_again_gets_jobs_again(in_memory: World) -> None:
    started = await in_memory.start(8, LARGE)
    worker = await in_memory.worker()
    other = await in_memory.worker()
    found = list(await other.read(7))
    other.leave()

    found += await worker.read()
    later = await in_memory.start(8, LARGE)
    found += await worker.read(8)

    assert sorted(instances(found)) == sorted(started | later)


async def test_jobs_that_were_not_written_are_offered_again_when_the_worker_leaves(world: World) -> None:
    started = await world.start(6, LARGE)
    worker = await world.worker()
    await until(lambda: _is_written(world))

    worker.leave()
    await until(lambda: world.streams.open == 0)
    at_once = await _activated(world, 5)
    await world.time.pin(MIDNIGHT + 60_000)
    by_deadline = [job for job in await _activated(world, 1) if job.job_key not in _keys(at_once)]

    assert sorted(instances([*at_once, *by_deadline])) == sorted(started)
    assert {job.retries for job in at_once} == {3}


async def test_a_worker_whose_connection_breaks_loses_no_job(
    in_memory: World, caplog: pytest.LogCaptureFixture
) -> None:
    started = await in_memory.start(6, LARGE)
    wire = Wire(in_memory.target)
    async with wire.laid() as address, grpc.aio.insecure_channel(address, options=SMALL_WINDOW) as channel:
        await replace(in_memory, channel=channel).worker()
        await until(lambda: _is_written(in_memory))
        await until(lambda: not _is_written(in_memory))

        wire.cut()
        await until(lambda: in_memory.streams.open == 0)

    assert len(await _activated(in_memory, 5)) == len(started) - 1
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


def _is_written(world: World) -> bool:
    """Whether the worker has jobs in hand."""
    return not any(partition.state.offers for partition in world.time.partitions)


async def _activated(world: World, least: int) -> Sequence[ActivatedJob]:
    """At least so many, as soon as they are on offer."""
    jobs: list[ActivatedJob] = []
    async with asyncio.timeout(SECONDS):
        while len(jobs) < least:
            jobs += await world.caller.activate("charge")
    return jobs


def _keys(jobs: Sequence[ActivatedJob]) -> set[int]:
    return {job.job_key for job in jobs}


async def test_a_tenant_gets_its_own_jobs(in_memory: World) -> None:
    stranger = await in_memory.worker("stranger")
    (key,) = await in_memory.start(1)
    other = in_memory.caller.signed_in_as("stranger")
    await other.deploy(CHARGE)
    theirs = await other.start("order")

    assert instances(await stranger.read()) == [theirs]
    assert instances(await (await in_memory.worker()).read()) == [key]


@pytest.mark.parametrize(
    ("credential", "fields", "expected"),
    [
        pytest.param("nobody", {}, Unauthenticated, id="no credential"),
        pytest.param("reader", {}, PermissionDenied, id="no permission"),
        pytest.param("worker", {"tenant_ids": ["other"]}, PermissionDenied, id="another tenant"),
        pytest.param("traveller", {}, InvalidArgument, id="no tenant"),
        pytest.param("worker", {"type": ""}, InvalidArgument, id="no type"),
        pytest.param("worker", {"type": "x" * 32_769}, InvalidArgument, id="long type"),
        pytest.param("worker", {"timeout": 0}, InvalidArgument, id="no time"),
        pytest.param("worker", {"fetch_variable": ["x"] * 1_001}, InvalidArgument, id="many variables"),
    ],
)
async def test_a_stream_is_refused_like_an_activation(
    in_memory: World, credential: str, fields: dict[str, object], expected: type[ServiceError]
) -> None:
    worker = await in_memory.worker(credential, **fields)

    with pytest.raises(expected):
        await worker.read()

    assert in_memory.streams.open == 0


@pytest.mark.parametrize(
    ("principal", "expected"),
    [
        pytest.param(None, Unauthenticated, id="token expired"),
        pytest.param(PRINCIPALS["Bearer reader"], PermissionDenied, id="permission withdrawn"),
        pytest.param(PRINCIPALS["Bearer stranger"], PermissionDenied, id="moved to another tenant"),
    ],
)
async def test_who_lost_the_right_gets_no_further_job(
    in_memory: World, principal: Principal | None, expected: type[ServiceError]
) -> None:
    worker = await in_memory.worker()
    await in_memory.start(1)
    await worker.read()
    del in_memory.principals["Bearer worker"]
    if principal is not None:
        in_memory.principals["Bearer worker"] = replace(principal)
    caller = in_memory.caller.signed_in_as("traveller", ("x-tenant-id", "default"))

    key = await caller.start("order")

    with pytest.raises(expected):
        await worker.read()
    assert instances(await caller.activate("charge")) == [key]


async def test_a_tunnel_carries_no_streams(in_memory: World) -> None:
    request = pb.StreamActivatedJobsRequest(type="charge", timeout=60_000)
    async with TunnelChannel(in_memory.target) as tunnel:
        with pytest.raises(TypeError, match="expected a gRPC channel"):
            JobServiceStub(cast("grpc.aio.Channel", tunnel)).StreamActivatedJobs(request)
        with pytest.raises(ModeNotSupported):
            await Caller(tunnel)("StreamActivatedJobs", type="charge", timeout=60_000)

    assert in_memory.streams.open == 0


async def test_a_server_that_stops_ends_its_streams(world: World) -> None:
    worker, others = await world.worker(), await world.worker(type="other")
    world.engine.drain()

    for each in (worker, others, await world.worker()):
        with pytest.raises(Unavailable, match="about to stop"):
            await each.read()
    assert world.streams.open == 0
