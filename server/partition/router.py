"""From a command to the partition that carries it out.

A key names its partition. New process instances and evaluations of decisions go round; those with a business id go
always to the same partition, and so do those with an idempotency key, whose repeats have to come to where the first one
is. What no key names and what concerns everybody, deployments, is the first partition's.
"""

import asyncio
import logging
from collections.abc import Iterator, Sequence
from contextlib import suppress
from hashlib import blake2b
from itertools import count

from server.engine import commands
from server.engine.answers import ActivatedJobs, Answer
from server.engine.keys import Key, partition_of
from server.partition.origin import Origin
from server.partition.port import PartitionPort, Partitions
from server.platform.errors import Unavailable
from server.store.entities import AuditEntry
from server.store.ports import PartitionId

logger = logging.getLogger(__name__)

FIRST = PartitionId(1)
# What a deployment waits at most until every other partition knows its definitions.
SPREAD_SECONDS = 5.0
RETRY_SECONDS = 0.5
# The next owner sees within a poll that a partition is free.
HAND_OVER_SECONDS = 1.5
LOOK_SECONDS = 0.05
NO_JOBS = ActivatedJobs(())


class Router:
    def __init__(self, partitions: Partitions) -> None:
        self.partitions = partitions
        self._turn = count()
        self._waiting: set[asyncio.Future[bool]] = set()
        self._is_draining = False

    async def submit(self, command: commands.Command, origin: Origin) -> Answer:
        """The command's answer once it is committed; raises the refusal, or Unavailable.

        A partition that is being handed over is waited for.
        """
        answer = await self._answer(command, origin)
        if isinstance(command, commands.DeployResources):
            await self._spread()
        return answer

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
        """Jobs as soon as there are any, none when there were none in so many seconds; none are waited for at 0."""
        ports = self._reachable()
        if len(ports) == 1 and seconds > 0:
            return await ports[0].activate(command, seconds)
        answer = await _first_jobs(ports, command)
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while not answer.jobs and not self._is_draining:
                    offering = await self._first_offering(command, seconds)
                    answer = await _first_jobs(offering, command)
        return answer

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
        match command:
            case commands.CreateProcessInstance(business_id=str(business_id)):
                return self._hashed(command.tenant_id, business_id)
            case commands.CreateProcessInstance() | commands.EvaluateDecision():
                key = origin.idempotency
                return self._next() if key is None else self._hashed(key.tenant_id, key.key)
            case commands.CancelProcessInstance() | commands.MigrateProcessInstance():
                return self._known(command.process_instance_key)
            case (
                commands.CompleteJob() | commands.FailJob() | commands.ThrowJobError() | commands.UpdateJob()
            ):
                return self._known(command.job_key)
            case commands.ResolveIncident():
                return self._known(command.incident_key)
            case _:
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
            done, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            return [waiting[task] for task in done if not task.cancelled() and task.result()]
        finally:
            self._waiting -= waiting.keys()
            for task in waiting:
                task.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)

    async def _spread(self) -> None:
        """Let every other partition learn of a deployment; one that stays away does when it comes back."""
        others = [partition_id for partition_id in self.partitions.ids if partition_id != FIRST]
        with suppress(TimeoutError):
            async with asyncio.timeout(SPREAD_SECONDS):
                outcomes = await asyncio.gather(*map(self._tell, others), return_exceptions=True)
                for outcome in outcomes:
                    if isinstance(outcome, BaseException):
                        raise outcome

    async def _tell(self, partition_id: PartitionId) -> None:
        """Return when the partition has caught up, wherever it is by then."""
        while True:
            with suppress(Unavailable):
                return await self.partitions.find(partition_id).catch_up()
            await asyncio.sleep(RETRY_SECONDS)


async def _first_jobs(ports: Sequence[PartitionPort], command: commands.ActivateJobs) -> ActivatedJobs:
    """Jobs of the first partition that has some: what is in hand when a caller goes away is one answer at most."""
    refusals: list[Unavailable] = []
    for port in ports:
        try:
            answer = await port.activate(command, 0)
        except Unavailable as refusal:
            refusals.append(refusal)
            continue
        if answer.jobs:
            return answer
    if refusals and len(refusals) == len(ports):
        raise refusals[0]
    return NO_JOBS


async def _offers(port: PartitionPort, command: commands.ActivateJobs, seconds: float) -> bool:
    """Wait at one partition; one that has gone may be elsewhere in a moment."""
    with suppress(Unavailable):
        return await port.await_offer(command, seconds)
    await asyncio.sleep(RETRY_SECONDS)
    return False
