"""A partition of this process, with the callers that wait there for jobs and completions."""

from collections.abc import Awaitable, Callable, Sequence

from server.engine.answers import ActivatedJobs, Answer
from server.engine.commands import Command
from server.engine.formats import ClusterFormat
from server.engine.job_commands import ActivateJobs
from server.engine.keys import Key
from server.engine.process_instance_commands import DeleteProcessInstance
from server.partition.compilation import Compilation
from server.partition.completion_waiters import CompletionWaiters
from server.partition.config import InstancesConfig, JobsConfig
from server.partition.job_waiters import JobWaiters
from server.partition.origin import Origin
from server.partition.partition import Partition
from server.partition.port import Member
from server.store.entities import AuditEntry
from server.store.ports import PartitionId, Store


async def _at_once() -> None:
    """Return at once."""


class LocalPartition:
    """A partition of this process.

    `hidden` returns when the store no longer finds process instances whose deletion is committed.
    """

    def __init__(
        self,
        partition: Partition,
        store: Store,
        jobs: JobsConfig,
        instances: InstancesConfig,
        hidden: Callable[[], Awaitable[None]] = _at_once,
    ) -> None:
        self.partition = partition
        self._hidden = hidden
        self._compilation = Compilation(partition.state)
        self._jobs = JobWaiters(partition, jobs)
        self._completions = CompletionWaiters(partition, store, instances)

    @property
    def waiting_activations(self) -> int:
        return self._jobs.waiting

    @property
    def waiting_completions(self) -> int:
        return self._completions.waiting + self.partition.waiting_for_listeners

    async def submit(self, command: Command, origin: Origin | None = None) -> Answer:
        await self._compilation.prepare(command)
        answer = await self.partition.submit(command, origin)
        if isinstance(command, DeleteProcessInstance):
            await self._hidden()
        return answer

    async def activate(self, command: ActivateJobs, seconds: float) -> ActivatedJobs:
        if seconds > 0:
            return await self._jobs.activate(command, seconds)
        return await self._jobs.activate_now(command)

    async def await_offer(self, command: ActivateJobs, seconds: float) -> bool:
        return await self._jobs.await_offer(command, seconds)

    async def await_completion(self, key: Key, tenant_id: str, seconds: float) -> None:
        await self._completions.completed(key, tenant_id, seconds)

    async def catch_up(self) -> None:
        await self.partition.catch_up()

    async def note(self, entries: Sequence[AuditEntry]) -> None:
        await self.partition.note(entries)


class OnlyPartition:
    """The only partition of a process without other processes, as all partitions."""

    def __init__(self, local: LocalPartition, host: str, port: int) -> None:
        self.ids = (local.partition.id,)
        self.format = ClusterFormat()
        self.message_homes = 1
        self._local = local
        self._host = host
        self._port = port

    def find(self, _: PartitionId) -> LocalPartition:
        return self._local

    def members(self) -> Sequence[Member]:
        partition = self._local.partition
        return (Member("embedded", self._host, self._port, ((partition.id, partition.is_open),)),)
