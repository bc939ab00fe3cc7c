"""Routes commands to partitions.

A key names its partition. New process instances and decision evaluations are distributed round-robin, except
that those with a business id always go to the same partition, and so do those with an idempotency key,
because a repeat must reach the partition of the first command. Messages go to the home partition of their
correlation key. Deployments, which concern all partitions, and commands without a key go to the first
partition.
"""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Awaitable, Coroutine, Iterable, Iterator, Sequence
from contextlib import suppress
from hashlib import blake2b
from itertools import count

from server.engine import commands, job_commands
from server.engine.addresses import Anywhere, First, Hashed, Here, HomeOf, OwnersOf
from server.engine.answers import ActivatedJob, ActivatedJobs, Answer
from server.engine.formats import feature_of
from server.engine.keys import Key, partition_of
from server.engine.messages import home_of
from server.partition.job_collection import collected, give_back
from server.partition.origin import Origin
from server.partition.port import PartitionPort, Partitions
from server.platform.back_off import BackOff, Pauses
from server.platform.errors import InvalidState, ServiceError, Unavailable
from server.store.entities import AuditEntry
from server.store.ports import PartitionId

logger = logging.getLogger(__name__)

FIRST = PartitionId(1)
# The longest time that a deployment, or another change for all partitions, waits until all others have
# adopted it.
SPREAD_SECONDS = 5.0
_BACK_OFF = BackOff(0.5, 2.0)
# The next owner notices a free partition within one poll.
HAND_OVER_SECONDS = 1.5
LOOK_SECONDS = 0.05


class Router:
    def __init__(self, partitions: Partitions, *, spread_seconds: float = SPREAD_SECONDS) -> None:
        self.partitions = partitions
        self._spread_seconds = spread_seconds
        self._turn = count()
        self._waiting: set[asyncio.Future[bool]] = set()
        self._is_draining = False

    def submit(self, command: commands.Command, origin: Origin) -> Coroutine[None, None, Answer]:
        """The command's answer once it is committed; raises the rejection, or Unavailable.

        Raises InvalidState for a command that a node of the deployment does not support yet. Waits for a
        partition that is being handed over. A command to the first partition concerns all partitions: it is
        answered when every partition has adopted the change, or after `spread_seconds`. A process instance
        that is created after the answer therefore sees the change in any partition.
        """
        self._expect_carried_out(command)
        answer = self._answer(command, origin)
        return self._spread(answer) if isinstance(command.address, First) else answer

    def _expect_carried_out(self, command: commands.Command) -> None:
        """Raises InvalidState for a command that a node of the deployment does not support yet."""
        reason = self.partitions.format.shortfall(feature_of(command), type(command).__name__)
        if reason:
            raise InvalidState(reason)

    async def _answer(self, command: commands.Command, origin: Origin) -> Answer:
        clock = asyncio.get_running_loop().time
        until = clock() + HAND_OVER_SECONDS
        while True:
            try:
                port = self.partitions.find(self._partition(command, origin))
                return await port.submit(command, origin)
            except Unavailable as refusal:
                if not refusal.is_untouched or clock() > until:
                    raise
            await asyncio.sleep(LOOK_SECONDS)

    async def activate(self, command: job_commands.ActivateJobs, seconds: float) -> ActivatedJobs:
        """Wait for jobs of all partitions and return them; empty after `seconds`, and at once when that is 0."""
        ports = self._reachable()
        if len(ports) == 1:
            return await ports[0].activate(command, seconds)
        answer = await collected(ports, command)
        clock = asyncio.get_running_loop().time
        until = clock() + seconds
        # The time limit ends only the wait: jobs that are activated then are the answer.
        while not answer.jobs and not self._is_draining and (left := until - clock()) > 0:
            answer = await collected(await self._first_offering(command, left), command)
        return answer

    async def give_back(self, tenant_id: str, jobs: Iterable[ActivatedJob]) -> None:
        """Offer jobs again that no worker received; those of unreachable partitions are offered again at their deadlines."""
        of_partition = defaultdict[PartitionId, list[ActivatedJob]](list)
        for job in jobs:
            of_partition[self._known(job.key)].append(job)
        in_hand: list[tuple[PartitionPort, Sequence[ActivatedJob]]] = []
        for partition_id, its_jobs in of_partition.items():
            with suppress(Unavailable):
                in_hand.append((self.partitions.find(partition_id), its_jobs))
        await give_back(tenant_id, in_hand)

    def drain(self) -> None:
        """End the calls that wait for jobs."""
        self._is_draining = True
        for waiting in self._waiting:
            waiting.cancel()

    async def await_completion(self, key: Key, tenant_id: str, seconds: float) -> None:
        """Return when the process instance has completed; raises an error when it was terminated, or still runs after `seconds`."""
        await self.partitions.find(self._known(key)).await_completion(key, tenant_id, seconds)

    async def note(self, entries: Sequence[AuditEntry]) -> None:
        """Return when these entries are committed to the audit log."""
        await self._reachable()[0].note(entries)

    def _partition(self, command: commands.Command, origin: Origin) -> PartitionId:
        match command.address:
            case OwnersOf(keys):
                return self._known(keys[0])
            case Hashed(texts):
                return self._hashed(*texts)
            case HomeOf(tenant_id, correlation_key):
                return PartitionId(home_of(tenant_id, correlation_key, self.partitions.message_homes))
            case Anywhere():
                key = origin.idempotency
                return self._next() if key is None else self._hashed(key.tenant_id, key.key)
            case Here() | First():
                return FIRST

    def _known(self, key: Key) -> PartitionId:
        """The partition of a key; an unknown partition's key goes to the first, which rejects it."""
        partition_id = PartitionId(partition_of(key))
        return partition_id if partition_id in self.partitions.ids else FIRST

    def _hashed(self, *texts: str) -> PartitionId:
        digest = blake2b("\0".join(texts).encode(), digest_size=8).digest()
        ids = self.partitions.ids
        return ids[int.from_bytes(digest) % len(ids)]

    def _next(self) -> PartitionId:
        """The next partition that has an owner, or the first when none has."""
        for partition_id in self._rotated():
            with suppress(Unavailable):
                self.partitions.find(partition_id)
                return partition_id
        return FIRST

    def _rotated(self) -> Iterator[PartitionId]:
        ids = self.partitions.ids
        first = next(self._turn) % len(ids)
        return iter((*ids[first:], *ids[:first]))

    def _reachable(self) -> Sequence[PartitionPort]:
        """Every partition that has an owner, starting with another one each time; raises Unavailable when none has."""
        ports: list[PartitionPort] = []
        for partition_id in self._rotated():
            with suppress(Unavailable):
                ports.append(self.partitions.find(partition_id))
        if not ports:
            raise Unavailable("no partition has an owner at the moment")
        return ports

    async def _first_offering(
        self, command: job_commands.ActivateJobs, seconds: float
    ) -> Sequence[PartitionPort]:
        """Wait until a partition offers jobs for this activation, and return the offering ones; none when it is time to ask again."""
        waiting = {asyncio.ensure_future(_offers(port, command, seconds)): port for port in self._reachable()}
        self._waiting |= waiting.keys()
        try:
            done, _ = await asyncio.wait(waiting, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            return [waiting[task] for task in done if not task.cancelled() and task.result()]
        finally:
            self._waiting -= waiting.keys()
            for task in waiting:
                task.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)

    async def _spread(self, changed: Awaitable[Answer]) -> Answer:
        """Wait for a change, then until all other partitions have adopted it; unreachable ones adopt it later."""
        answer = await changed
        late = {partition_id for partition_id in self.partitions.ids if partition_id != FIRST}
        try:
            async with asyncio.timeout(self._spread_seconds), asyncio.TaskGroup() as telling:
                for partition_id in list(late):
                    telling.create_task(self._tell(partition_id, late))
        except TimeoutError:
            # The change is committed, and its commands are in the outbox of each partition.
            facts = {"partition_ids": sorted(late), "seconds": self._spread_seconds}
            logger.warning("partitions have not adopted a change yet", extra=facts)
        return answer

    async def _tell(self, partition_id: PartitionId, late: set[PartitionId]) -> None:
        """Return when the partition has caught up, wherever it runs then, and remove it from `late`."""
        pauses = Pauses(_BACK_OFF)
        while True:
            try:
                await self.partitions.find(partition_id).catch_up()
            except ServiceError as refusal:
                facts = {"partition_id": partition_id, "reason": refusal.detail}
                logger.info("a partition has not adopted a change yet", extra=facts)
            except Exception:
                logger.exception("a partition cannot catch up", extra={"partition_id": partition_id})
            else:
                late.remove(partition_id)
                return
            await pauses.after_failure()


async def _offers(port: PartitionPort, command: job_commands.ActivateJobs, seconds: float) -> bool:
    """Wait for an offer of one partition; pause when it is unreachable, because it may soon be elsewhere."""
    with suppress(Unavailable):
        return await port.await_offer(command, seconds)
    await Pauses(_BACK_OFF).after_failure()
    return False
