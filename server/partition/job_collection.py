"""A job activation over several partitions, each asked in turn for as many jobs as still fit into the response.

Activated jobs are held while the next partition is asked. If the caller goes away then, they are offered
again at once; jobs that cannot be returned are offered again at their deadlines.
"""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

from server.engine.answers import MAX_ANSWER_OCTETS, ActivatedJob, ActivatedJobs
from server.engine.job_commands import ActivateJobs, YieldJobs
from server.partition.port import PartitionPort
from server.platform.errors import ServiceError, Unavailable

# The longest time for returning jobs.
GIVE_BACK_SECONDS = 2.0


async def collected(ports: Sequence[PartitionPort], command: ActivateJobs) -> ActivatedJobs:
    """The jobs that these partitions offer now; raises Unavailable when none can be reached."""
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
    """Offer jobs again that no worker received; those of unreachable partitions are offered again at their deadlines."""
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
    """The command for the rest of the answer after these jobs; None when the answer is full."""
    if not jobs:
        return command
    octets = MAX_ANSWER_OCTETS - sum(job.octets for job in jobs)
    if len(jobs) >= command.max_jobs or octets <= 0:
        return None
    return replace(command, max_jobs=command.max_jobs - len(jobs), max_octets=octets)
