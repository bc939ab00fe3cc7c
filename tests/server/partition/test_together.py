"""Two processes of a deployment, here in one: what one cannot do itself the other does for it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import msgspec
import pytest

from server.app import DurableEngine, durable_engine
from server.bpmn.builder import process
from server.config import EngineConfig
from server.engine import commands, deployment_commands, job_commands
from server.engine.answers import ActivatedJob, CreatedInstance
from server.engine.formats import WIRE_FORMAT
from server.engine.keys import Key, partition_of
from server.partition.config import ClusterConfig
from server.partition.idempotency import IdempotencyKey
from server.partition.origin import Origin
from server.partition.remote import RemotePartition
from server.partition.tunnels import Tunnels
from server.platform.errors import (
    DeadlineExceeded,
    IdempotencyConflict,
    NotFound,
    Unauthenticated,
    Unavailable,
)
from server.platform.postgres.config import DatabaseConfig
from server.platform.sockets import free_port
from server.store.ports import PartitionId
from tests.durable import emptied
from tests.server.engine.scenario import resource
from tests.server.partition.harness import activation, completion_of, creation
from tests.waits import PATIENCE_SECONDS, until

HOST = "127.0.0.1"
ORDER = resource(process("order").service_task("a", type="a").end())
ORIGIN = Origin("default", "worker", "r-1")


@dataclass(frozen=True)
class Process:
    engine: DurableEngine
    config: EngineConfig
    running: "asyncio.Task[None]"

    @property
    def serves(self) -> list[int]:
        return [number for number in self.engine.node.ids if self._is_open(number)]

    def _is_open(self, number: PartitionId) -> bool:
        try:
            return self.engine.node.find_local(number).partition.is_open
        except Unavailable:
            return False

    async def start(self) -> Key:
        answer = await self.engine.router.submit(creation(), ORIGIN)
        assert isinstance(answer, CreatedInstance)
        return answer.head.key

    async def start_in_each(self) -> list[Key]:
        """New process instances go round."""
        return [await self.start() for _ in self.engine.node.ids]


@asynccontextmanager
async def serving(dsn: str, name: str) -> AsyncIterator[Process]:
    cluster = ClusterConfig(
        node_id=name, host=HOST, port=free_port(HOST), secret="secret", poll_seconds=0.05, lease_seconds=2.0
    )
    config = EngineConfig(cluster=cluster, database=DatabaseConfig(dsn=dsn, pool_connections=4))
    async with durable_engine(config) as engine, asyncio.TaskGroup() as tasks:
        running = tasks.create_task(engine.run())
        await engine.ready()
        yield Process(engine, config, running)
        engine.stop()
        await asyncio.wait((running,), timeout=PATIENCE_SECONDS)
        running.cancel()


@pytest.fixture
async def two(durable_dsn: str) -> AsyncIterator[tuple[Process, Process]]:
    """With a partition each, and process `order` deployed by the one that has not the first."""
    async with emptied(durable_dsn, partitions=2, connections=1):
        pass
    async with serving(durable_dsn, "a") as one, serving(durable_dsn, "b") as other:
        await until(lambda: sorted(one.serves + other.serves) == [1, 2] and one.serves != [1, 2])
        first, second = sorted((one, other), key=lambda each: each.serves)
        await until(lambda: all(len(each.engine.node.members()) == 2 for each in (one, other)))
        deployment = deployment_commands.DeployResources("default", (ORDER,))
        await second.engine.router.submit(deployment, ORIGIN)
        yield first, second


async def test_a_deployment_by_any_process_is_known_everywhere(two: tuple[Process, Process]) -> None:
    for each in two:
        assert sorted(map(partition_of, await each.start_in_each())) == [1, 2]


async def test_a_process_is_told_of_what_another_sent(two: tuple[Process, Process]) -> None:
    first, second = two
    partition = first.engine.node.find_local(PartitionId(1)).partition
    other = second.engine.node.find_local(PartitionId(2)).partition.state
    before = len(other.definitions)

    await partition.submit(deployment_commands.DeployResources("default", (resource(process("new").end()),)))

    await until(lambda: len(other.definitions) > before)


async def test_every_process_carries_out_every_command(two: tuple[Process, Process]) -> None:
    first, second = two
    keys = await first.start_in_each()
    jobs = [(await second.engine.router.activate(activation(), 0)).jobs[0] for _ in keys]

    for process_, job in zip(two, jobs, strict=True):
        await process_.engine.router.submit(completion_of(job.key), ORIGIN)

    assert sorted(job.instance.key for job in jobs) == sorted(keys)
    for each in two:
        for key in keys:
            await each.engine.router.await_completion(key, "default", 5)


async def test_one_activation_gets_the_jobs_of_all_partitions(two: tuple[Process, Process]) -> None:
    first, second = two
    for _ in range(5):
        await first.start_in_each()

    jobs = (await second.engine.router.activate(activation(50), 0)).jobs

    assert len({job.key for job in jobs}) == 10
    assert (await first.engine.router.activate(activation(50), 0)).jobs == ()


async def test_a_worker_waits_for_jobs_of_all_partitions(two: tuple[Process, Process]) -> None:
    first, second = two
    for number in (1, 2):
        waiting = asyncio.ensure_future(first.engine.router.activate(activation(), 60))
        await asyncio.sleep(0)

        key = await second.start()

        assert [job.instance.key for job in (await waiting).jobs] == [key], number


async def test_a_stream_has_the_jobs_of_all_processes(two: tuple[Process, Process]) -> None:
    first, second = two
    found: list[Key] = []

    async def write(job: ActivatedJob) -> None:
        found.append(job.instance.key)

    async def admit() -> None:
        pass

    waiting = await second.start_in_each()
    async with asyncio.TaskGroup() as tasks:
        stream = tasks.create_task(first.engine.streams.push(activation(8), write=write, admit=admit))
        await until(lambda: len(found) == len(waiting))
        coming = await first.start_in_each() + await second.start_in_each()
        await until(lambda: len(found) == len(waiting) + len(coming))
        stream.cancel()

    assert sorted(found) == sorted(waiting + coming)


async def test_jobs_of_another_process_that_no_worker_read_are_offered_again(
    two: tuple[Process, Process],
) -> None:
    first, second = two
    keys = [key for _ in range(3) for key in await second.start_in_each()]
    begun: list[ActivatedJob] = []

    async def write(job: ActivatedJob) -> None:
        begun.append(job)
        await asyncio.Event().wait()

    async def admit() -> None:
        pass

    stream = asyncio.ensure_future(first.engine.streams.push(activation(8), write=write, admit=admit))
    await until(lambda: begun)
    stream.cancel()
    await asyncio.wait((stream,))

    again = {job.instance.key for job in await all_jobs(second, len(keys) - 1)}
    assert again == set(keys) - {job.instance.key for job in begun}


async def test_refusals_are_the_same_from_everywhere(two: tuple[Process, Process]) -> None:
    keys = await two[0].start_in_each()
    for each in two:
        for key in keys:
            unknown = job_commands.CompleteJob("default", Key(key + 1_000))
            with pytest.raises(NotFound, match=f"no job with key {key + 1_000}"):
                await each.engine.router.submit(unknown, ORIGIN)
            with pytest.raises(DeadlineExceeded):
                await each.engine.router.await_completion(key, "default", 0.01)


async def test_a_repeat_may_come_by_another_process(two: tuple[Process, Process]) -> None:
    for number in range(6):
        origin = msgspec.structs.replace(
            ORIGIN, idempotency=IdempotencyKey("default", f"k-{number}", b"hash")
        )
        other = msgspec.structs.replace(
            ORIGIN, idempotency=IdempotencyKey("default", f"k-{number}", b"another")
        )

        answers = [await each.engine.router.submit(creation(), origin) for each in two]

        assert answers[0] == answers[1]
        for each in two:
            with pytest.raises(IdempotencyConflict):
                await each.engine.router.submit(creation(), other)


async def test_what_a_dead_process_had_goes_on_in_another(two: tuple[Process, Process]) -> None:
    dead, survivor = two
    keys = await dead.start_in_each()
    jobs = [job for _ in keys for job in (await dead.engine.router.activate(activation(), 0)).jobs]
    dead.running.cancel()

    await until(lambda: survivor.serves == [1, 2])

    for job in jobs:
        await survivor.engine.router.submit(completion_of(job.key), ORIGIN)
    for key in keys:
        await survivor.engine.router.await_completion(key, "default", 5)


async def test_commands_go_on_while_a_partition_is_handed_over(two: tuple[Process, Process]) -> None:
    leaving, staying = two
    keys = [await staying.start()]
    leaving.engine.stop()

    while staying.serves != [1, 2]:
        keys.append(await staying.start())
    keys += await staying.start_in_each()

    found = {job.instance.key for job in (await all_jobs(staying, len(keys)))}
    assert found == set(keys)


async def all_jobs(process_: Process, count: int) -> list[ActivatedJob]:
    jobs: list[ActivatedJob] = []
    while len(jobs) < count:
        jobs += (await process_.engine.router.activate(activation(100), 5)).jobs
    return jobs


async def test_there_is_no_way_to_who_went_away(two: tuple[Process, Process]) -> None:
    cluster = two[0].config.cluster
    address = f"{cluster.host}:{cluster.port}"
    async with Tunnels() as tunnels:
        tunnels.keep([address])

        tunnels.keep([])

        with pytest.raises(Unavailable, match="the partition's owner has gone"):
            tunnels.find(address)


async def test_only_those_who_know_the_secret_are_let_in(two: tuple[Process, Process]) -> None:
    cluster = two[0].config.cluster
    async with Tunnels() as tunnels:
        address = f"{cluster.host}:{cluster.port}"
        tunnels.keep([address])
        stranger = RemotePartition(PartitionId(1), tunnels.find(address), "guessed")

        with pytest.raises(Unauthenticated):
            await stranger.submit(creation())


@dataclass(frozen=True, slots=True)
class Teleport:
    """A command of a later version."""

    tenant_id: str


@pytest.mark.parametrize(
    ("command", "number"),
    [
        pytest.param(Teleport("default"), WIRE_FORMAT, id="unknown command"),
        pytest.param(creation(), WIRE_FORMAT + 1, id="later format"),
    ],
)
async def test_a_call_that_cannot_be_read_is_refused_and_nothing_happened(
    two: tuple[Process, Process], command: commands.Command, number: int
) -> None:
    first, second = two
    address = f"{HOST}:{first.config.cluster.port}"
    async with Tunnels() as tunnels:
        tunnels.keep([address])
        remote = RemotePartition(
            PartitionId(1), tunnels.find(address), "secret", written_format=lambda: number
        )

        with pytest.raises(Unavailable, match="this node cannot read the call") as refusal:
            await remote.submit(command, ORIGIN)

    assert refusal.value.is_untouched
    assert sorted(first.serves + second.serves) == [1, 2]


async def test_calls_of_a_version_without_numbers_are_carried_out(two: tuple[Process, Process]) -> None:
    first, _ = two
    address = f"{HOST}:{first.config.cluster.port}"
    async with Tunnels() as tunnels:
        tunnels.keep([address])
        remote = RemotePartition(PartitionId(1), tunnels.find(address), "secret", written_format=lambda: 0)

        answer = await remote.submit(creation(), ORIGIN)

    assert isinstance(answer, CreatedInstance)
