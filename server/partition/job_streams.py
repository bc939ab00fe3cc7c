"""Job streams: repeated activations for one worker, each written before the next.

A worker that does not read keeps one job, the one that is being written. The other jobs are offered again one
second after their activation, and nothing more is activated until the worker reads. Jobs that were not
written are also offered again when the stream ends. A job whose write has begun may have arrived, so it is
offered again at its deadline.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import NoReturn

from server.engine.answers import ActivatedJob
from server.engine.job_commands import ActivateJobs
from server.partition.config import JobsConfig
from server.partition.meter import UNMEASURED, Meter
from server.partition.places import Places
from server.partition.router import Router
from server.platform.errors import Unavailable

# The most activated jobs that a stream holds.
MOST_IN_HAND = 32
# The time a worker has to read those jobs; less if their time-out is shorter.
PATIENCE_SECONDS = 1.0
# The interval between permission checks of a stream's caller while there are no jobs.
REVIEW_SECONDS = 10.0

Write = Callable[[ActivatedJob], Awaitable[None]]
Admit = Callable[[], Awaitable[None]]


class JobStreams:
    """All job streams of a process."""

    def __init__(
        self,
        router: Router,
        config: JobsConfig,
        *,
        meter: Meter = UNMEASURED,
        review_seconds: float = REVIEW_SECONDS,
    ) -> None:
        self._router = router
        self._places = Places(config.max_streams, config.max_tenant_streams, "streams of jobs")
        self._meter = meter
        self._review_seconds = review_seconds
        self._waits: set[asyncio.Timeout] = set()
        self._is_draining = False

    @property
    def open(self) -> int:
        """The number of open streams."""
        return self._places.taken

    def drain(self) -> None:
        """End all streams; a stream that is writing ends after that write."""
        self._is_draining = True
        for wait in self._waits:
            wait.reschedule(0)

    async def push(self, command: ActivateJobs, *, write: Write, admit: Admit) -> NoReturn:
        """Write jobs until cancelled, holding at most `command.max_jobs`.

        `write` returns when the worker has room for more; `admit` raises when the worker may have no more
        jobs. Raises ResourceExhausted when there are too many streams, and Unavailable when the process
        stops.
        """
        with self._places.one(command.tenant_id):
            most = command.max_jobs
            while True:
                jobs = await self._activated(replace(command, max_jobs=most))
                were_read = await self._pushed(command, jobs, write=write, admit=admit)
                # A slow worker gets one job and then doubling numbers, so that few jobs are activated in
                # vain.
                most = min(2 * most, command.max_jobs) if were_read else 1

    async def _activated(self, command: ActivateJobs) -> deque[ActivatedJob]:
        """Wait for jobs and return them; returns none when the caller is to be checked again."""
        if self._is_draining:
            raise Unavailable.untouched("the server is about to stop")
        try:
            async with asyncio.timeout(None) as wait:
                self._waits.add(wait)
                try:
                    return deque((await self._router.activate(command, self._review_seconds)).jobs)
                finally:
                    self._waits.discard(wait)
        except TimeoutError:
            raise Unavailable.untouched("the server is about to stop") from None

    async def _pushed(
        self, command: ActivateJobs, jobs: deque[ActivatedJob], *, write: Write, admit: Admit
    ) -> bool:
        """Write the jobs, and return whether the worker read all of them in time."""
        clock = asyncio.get_running_loop().time
        until = clock() + min(PATIENCE_SECONDS, command.timeout.total_seconds())
        in_time = True
        try:
            await admit()
            while jobs:
                writing = asyncio.ensure_future(write(jobs.popleft()))
                try:
                    await asyncio.wait((writing,), timeout=until - clock())
                    if not writing.done():
                        in_time = False
                        await self._give_back(command.tenant_id, jobs)
                    await writing
                except asyncio.CancelledError:
                    writing.cancel()
                    await asyncio.gather(writing, return_exceptions=True)
                    raise
                self._meter.pushed()
        finally:
            await self._give_back(command.tenant_id, jobs)
        return in_time

    async def _give_back(self, tenant_id: str, jobs: deque[ActivatedJob]) -> None:
        unread = list(jobs)
        jobs.clear()
        if unread:
            await self._router.give_back(tenant_id, unread)
