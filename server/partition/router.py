"""From a command to the partition that carries it out.

A key names its partition. New process instances and evaluations of decisions go round; those with a business id always
go to the same partition, and so do those with an idempotency key, because a repeat has to reach the partition of the
first one. Messages go to the home partition of their correlation key. Commands that no key names go to the first partition, and so do deployments, which concern all of them.
"""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Awaitable, Coroutine, Iterable, Iterator, Sequence
from contextlib import suppress
from hashlib import blake2b
from itertools import count

from server.engine import commands
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
# How long a deployment, or another change that all partitions need, waits at most until every other one knows it.
SPREAD_SECONDS = 5.0
_BACK_OFF = BackOff(0.5, 2.0)
# The next owner sees within a poll that a partition is free.
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
        """The command's answer once it is committed; raises the refusal, or Unavailable.

        A command that a node of the deployment cannot carry out yet is refused as InvalidState. A partition that is
        being handed over is waited for. The command of the first partition holds for all: the answer comes when every
        partition knows of it, or after `spread_seconds` without those that do not. So a process instance that begins
        after the answer sees it in any partition.
        """
        self._expect_carried_out(command)
        answer = self._answer(command, origin)
        return self._spread(answer) if isinstance(command.address, First) else answer

    def _expect_carried_out(self, command: commands.Command) -> None:
        """Raises InvalidState."""
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

    async def activate(self, command: commands.ActivateJobs, seconds: float) -> ActivatedJobs:
        """Jobs of all partitions as soon as there are any; an empty answer after `seconds`, and at once when that is 0."""
        ports = self._reachable()
        if len(ports) == 1:
            return await ports[0].activate(command, seconds)
        answer = await collected(ports, command)
        clock = asyncio.get_running_loop().time
        until = clock() + seconds
        # Only the wait ends when its time is over: jobs that are in hand then are the answer.
        while not answer.jobs and not self._is_draining and (left := until - clock()) > 0:
            answer = await collected(await self._first_offering(command, left), command)
        return answer

    async def give_back(self, tenant_id: str, jobs: Iterable[ActivatedJob]) -> None:
        """Offer activated jobs again that no worker has; those that cannot be reached come back by their deadlines."""
        of_partition = defaultdict[PartitionId, list[ActivatedJob]](list)
        for job in jobs:
            of_partition[self._known(job.key)].append(job)
        in_hand: list[tuple[PartitionPort, Sequence[ActivatedJob]]] = []
        for partition_id, its_jobs in of_partition.items():
            with suppress(Unavailable):
                in_hand.append((self.partitions.find(partition_id), its_jobs))
        await give_back(tenant_id, in_hand)

    def drain(self) -> None:
        """Let nobody wait any longer for what has yet to happen."""
        self._is_draining = True
        for waiting in self._waiting:
            waiting.cancel()

    async def await_completion(self, key: Key, tenant_id: str, seconds: float) -> None:
        """Return when the process instance has completed; raises when it was cancelled, or still runs by then."""
        await self.partitions.find(self._known(key)).await_completion(key, tenant_id, seconds)

    async def note(self, entries: Sequence[AuditEntry]) -> None:
        """Return when these are in the audit log."""
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
        """The key's partition; a key that none of ours made is refused by the first."""
        partition_id = PartitionId(partition_of(key))
        return partition_id if partition_id in self.partitions.ids else FIRST

    def _hashed(self, *texts: str) -> PartitionId:
        digest = blake2b("\0".join(texts).encode(), digest_size=8).digest()
        ids = self.partitions.ids
        return ids[int.from_bytes(digest) % len(ids)]

    def _next(self) -> PartitionId:
        """The next partition that somebody owns, or any when there is none."""
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
        """Every partition that somebody owns, each time beginning with another; raises Unavailable when there is none."""
        ports: list[PartitionPort] = []
        for partition_id in self._rotated():
            with suppress(Unavailable):
                ports.append(self.partitions.find(partition_id))
        if not ports:
            raise Unavailable("no partition has an owner at the moment")
        return ports

    async def _first_offering(
        self, command: commands.ActivateJobs, seconds: float
    ) -> Sequence[PartitionPort]:
        """The partitions that have jobs for this activation, as soon as one has; none when it is time to look again."""
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
        """Wait for a change, then until every other partition knows it; one that stays away does when it comes back."""
        answer = await changed
        late = {partition_id for partition_id in self.partitions.ids if partition_id != FIRST}
        try:
            async with asyncio.timeout(self._spread_seconds), asyncio.TaskGroup() as telling:
                for partition_id in list(late):
                    telling.create_task(self._tell(partition_id, late))
        except TimeoutError:
            # The change is committed, and its commands are in the outbox of each partition.
            facts = {"partition_ids": sorted(late), "seconds": self._spread_seconds}
            logger.warning("partitions do not know a change yet", extra=facts)
        return answer

    async def _tell(self, partition_id: PartitionId, late: set[PartitionId]) -> None:
        """Return when the partition has caught up, wherever it is by then; it is not late any more."""
        pauses = Pauses(_BACK_OFF)
        while True:
            try:
                await self.partitions.find(partition_id).catch_up()
            except ServiceError as refusal:
                facts = {"partition_id": partition_id, "reason": refusal.detail}
                logger.info("a partition does not know a change yet", extra=facts)
            except Exception:
                logger.exception("a partition cannot catch up", extra={"partition_id": partition_id})
            else:
                late.remove(partition_id)
                return
            await pauses.after_failure()


async def _offers(port: PartitionPort, command: commands.ActivateJobs, seconds: float) -> bool:
    """Wait at one partition; one that has gone may be elsewhere in a moment."""
    with suppress(Unavailable):
        return await port.await_offer(command, seconds)
    await Pauses(_BACK_OFF).after_failure()
    return False
