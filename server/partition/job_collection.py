"""One activation answered from several partitions, each asked in turn for what the answer still has room for.

Jobs are in hand while the next partition is asked. When the caller goes away then, they are offered again at once; what
cannot be given back comes back by the deadline of each job.
"""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

from server.engine.answers import MAX_ANSWER_OCTETS, ActivatedJob, ActivatedJobs
from server.engine.commands import ActivateJobs, YieldJobs
from server.partition.port import PartitionPort
from server.platform.errors import ServiceError, Unavailable

# How long jobs are given back at most.
GIVE_BACK_SECONDS = 2.0


async def collected(ports: Sequence[PartitionPort], command: ActivateJobs) -> ActivatedJobs:
    """The jobs that these partitions have at the moment; raises Unavailable when none can be reached."""
    in_hand: list[tuple[PartitionPort, Sequence[ActivatedJob]]] = []
    refusals: list[Unavailable] = []
    try:
        for port in ports:
            rest = _rest(command, [*_jobs(in_hand)])
            if rest is None:
                break
            try:
                in_hand.append((port, (await port.activate(rest, 0)).jobs))
            except Unavailable as refusal:
                refusals.append(refusal)
            except ServiceError:
                if not any(_jobs(in_hand)):
                    raise
                break
    except asyncio.CancelledError:
        await give_back(command.tenant_id, in_hand)
        raise
    if refusals and len(refusals) == len(ports):
        raise refusals[0]
    return ActivatedJobs(tuple(_jobs(in_hand)))


async def give_back(tenant_id: str, in_hand: Sequence[tuple[PartitionPort, Sequence[ActivatedJob]]]) -> None:
    """Offer jobs again that no worker has; those of a partition that is away come back by their deadlines."""
    giving = [
        port.submit(YieldJobs(tenant_id, tuple((job.key, job.deadline) for job in jobs)))
        for port, jobs in in_hand
        if jobs
    ]
    with suppress(TimeoutError):
        async with asyncio.timeout(GIVE_BACK_SECONDS):
            await asyncio.gather(*giving, return_exceptions=True)


def _jobs(in_hand: Sequence[tuple[PartitionPort, Sequence[ActivatedJob]]]) -> Iterator[ActivatedJob]:
    return (job for _, jobs in in_hand for job in jobs)


def _rest(command: ActivateJobs, jobs: Sequence[ActivatedJob]) -> ActivateJobs | None:
    """The rest of the command: as much as the answer has room for beside these jobs; None when it is full."""
    if not jobs:
        return command
    octets = MAX_ANSWER_OCTETS - sum(job.octets for job in jobs)
    if len(jobs) >= command.max_jobs or octets <= 0:
        return None
    return replace(command, max_jobs=command.max_jobs - len(jobs), max_octets=octets)
