"""A partition that runs, over a store whose commits wait for the test, under a clock that stands still."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection, Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from datetime import timedelta
from typing import Any, Protocol, TypeVar

from server.bpmn.builder import ProcessBuilder, process
from server.engine import State, deployment_commands, job_commands, process_instance_commands
from server.engine.answers import ActivatedJobs, CreatedInstance
from server.engine.commands import Command
from server.engine.documents import Pages
from server.engine.keys import Key
from server.engine.pages import DocumentId
from server.engine.process_instance import ProcessInstance
from server.engine.variables import Variables
from server.partition.config import InstancesConfig, JobsConfig, PartitionConfig
from server.partition.job_waiters import JobWaiters
from server.partition.partition import Partition
from server.partition.quota import Quota
from server.platform.clock import VirtualClock
from server.platform.query import Clauses, Page, Query, Statistic
from server.store.ports import (
    Batch,
    E,
    IncomingCommand,
    Ledger,
    PartitionId,
    Reservation,
    S,
    Store,
    StoredAnswer,
)
from tests.durable import EPOCH
from tests.server.engine.scenario import resource
from tests.waits import until

MINUTE = timedelta(minutes=1)

T = TypeVar("T")


class Backing(Ledger, Store, Protocol):
    """Where the rows are: everything that a partition commits to, and everything that is read."""


# Opens an empty one.
NewBacking = Callable[[], AbstractAsyncContextManager[Backing]]


class HeldStore:
    """Commits at once, unless `hold` was called: then each waits for `release`.

    `failure` is what the next commit raises, `unreadable` what reading documents and answers does. `outbox` are commands
    that other partitions sent.
    """

    def __init__(self, rows: Backing) -> None:
        self.batches: list[Batch] = []
        self.outbox: list[IncomingCommand] = []
        self.failure: Exception | None = None
        self.unreadable: Exception | None = None
        self.committing = 0
        self._rows = rows
        self._gate: asyncio.Semaphore | None = None
        self.reading = 0
        self._reads = asyncio.Event()
        self._reads.set()

    @property
    def active(self) -> Counter[str]:
        """By how many process instances each tenant's have grown."""
        return sum((Counter(batch.active_instances) for batch in self.batches), Counter[str]())

    def hold(self) -> None:
        self._gate = asyncio.Semaphore(0)

    def release(self, commits: int = 1) -> None:
        assert self._gate is not None
        for _ in range(commits):
            self._gate.release()

    def hold_reads(self) -> None:
        self._reads.clear()

    async def commit(self, batch: Batch) -> None:
        assert not self.committing, "two commits overlap"
        self.committing += 1
        try:
            if self._gate is not None:
                await self._gate.acquire()
            if self.failure is not None:
                raise self.failure
            await self._rows.commit(batch)
            self.batches.append(batch)
            self.outbox = [each for each in self.outbox if each not in batch.taken]
        finally:
            self.committing -= 1

    async def documents(self, ids: Collection[DocumentId]) -> Mapping[DocumentId, Pages]:
        if self.unreadable is not None:
            raise self.unreadable
        return await self._rows.documents(ids)

    async def answers(self, keys: Collection[tuple[str, str]]) -> Sequence[StoredAnswer]:
        self.reading += 1
        await self._reads.wait()
        if self.unreadable is not None:
            raise self.unreadable
        return await self._rows.answers(keys)

    def let_read(self) -> None:
        self._reads.set()

    async def incoming(self, after: Mapping[PartitionId, int], most: int) -> Sequence[IncomingCommand]:
        return [each for each in self.outbox if each.number > after.get(each.source, 0)][:most]

    async def reserve(self, wanted: Mapping[str, int], most: int) -> Reservation:
        if self.unreadable is not None:
            raise self.unreadable
        return await self._rows.reserve(wanted, most)

    async def get(self, entity: type[E], key: Key, *, tenant_id: str) -> E | None:
        return await self._rows.get(entity, key, tenant_id=tenant_id)

    async def search(self, entity: type[E], query: Query, *, tenant_id: str) -> Page[E]:
        return await self._rows.search(entity, query, tenant_id=tenant_id)

    async def statistics(
        self, statistic: Statistic[S], clauses: Clauses = (), *, tenant_id: str
    ) -> Sequence[S]:
        return await self._rows.statistics(statistic, clauses, tenant_id=tenant_id)


class Harness:
    """`spawn` begins something that the test looks at later."""

    def __init__(
        self,
        rows: Backing,
        config: PartitionConfig,
        *,
        jobs: JobsConfig,
        clock: VirtualClock,
        quota: Quota | None,
        instances: InstancesConfig | None,
        careful: int = 0,
    ) -> None:
        self.clock = clock
        self.store = HeldStore(rows)
        self.partition = Partition(
            State(),
            self.store,
            self.clock,
            config,
            instances=instances,
            quota=quota,
            stopwatch=lambda: 0.0,
            careful=careful,
        )
        self.waiters = JobWaiters(self.partition, jobs)
        self.running: asyncio.Task[None] | None = None
        self._tasks: list[asyncio.Task[Any]] = []

    @property
    def state(self) -> State:
        return self.partition.state

    async def submit(self, command: Command) -> Any:
        return await self.partition.submit(command)

    def spawn(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        task = asyncio.ensure_future(work)
        self._tasks.append(task)
        return task

    async def deploy(self, *builders: ProcessBuilder) -> None:
        await self.submit(
            deployment_commands.DeployResources("default", tuple(resource(each) for each in builders))
        )

    async def start(self, **variables: str) -> Key:
        answer = await self.submit(creation(variables))
        assert isinstance(answer, CreatedInstance)
        return answer.head.key

    async def advance(self, by: timedelta) -> None:
        self.clock.advance(by)
        self.partition.clock_moved()
        await self.partition.settle()

    def wait_for_jobs(
        self, most: int = 1, seconds: float = 60, job_type: str = "a"
    ) -> asyncio.Task[ActivatedJobs]:
        return self.spawn(self.waiters.activate(activation(most, job_type=job_type), seconds))

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        if self.running is not None:
            self.running.cancel()
        for task in filter(None, [*self._tasks, self.running]):
            with suppress(BaseException):
                await task


class Serving:
    """Opens harnesses over one kind of backing, each with process `order` deployed: one job of type `a`.

    `examples` is how many of them a property may take.
    """

    def __init__(self, new_backing: NewBacking, examples: int) -> None:
        self.examples = examples
        self._new_backing = new_backing

    @asynccontextmanager
    async def __call__(
        self,
        config: PartitionConfig | None = None,
        *,
        jobs: JobsConfig | None = None,
        clock: VirtualClock | None = None,
        quota: Quota | None = None,
        instances: InstancesConfig | None = None,
        careful: int = 0,
    ) -> AsyncIterator[Harness]:
        clock = clock or VirtualClock(pinned=EPOCH)
        async with self._new_backing() as rows:
            harness = Harness(
                rows,
                config or PartitionConfig(),
                jobs=jobs or JobsConfig(),
                clock=clock,
                quota=quota,
                instances=instances,
                careful=careful,
            )
            harness.running = asyncio.ensure_future(harness.partition.run())
            try:
                await until(lambda: harness.partition.is_open)
                await harness.deploy(process("order").service_task("a", type="a").end())
                harness.store.batches.clear()
                yield harness
            finally:
                await harness.stop()


def creation(variables: Variables | None = None, process_id: str = "order") -> Command:
    return process_instance_commands.CreateProcessInstance(
        tenant_id="default", process_definition_id=process_id, variables=variables or {}
    )


def activation(most: int = 1, timeout: timedelta = MINUTE, job_type: str = "a") -> job_commands.ActivateJobs:
    return job_commands.ActivateJobs(
        tenant_id="default", type=job_type, worker="w", timeout=timeout, max_jobs=most
    )


def completion(instance: ProcessInstance) -> Command:
    (job,) = instance.jobs.values()
    return completion_of(job.key)


def completion_of(job_key: Key) -> Command:
    return job_commands.CompleteJob("default", job_key)
