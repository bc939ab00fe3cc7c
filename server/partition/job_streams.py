"""Streams of jobs: one activation after another for one worker, and its jobs written before the next.

A worker that does not read keeps one job, the one that is being written: the others in hand are offered again a second
after they were activated, and nothing more is activated until the worker reads. Jobs in hand are also offered again
when the stream ends. A job whose write has begun may have arrived: it comes back by its deadline.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import NoReturn

from server.engine.answers import ActivatedJob
from server.engine.commands import ActivateJobs
from server.partition.config import JobsConfig
from server.partition.meter import UNMEASURED, Meter
from server.partition.places import Places
from server.partition.router import Router
from server.platform.errors import Unavailable

# Most jobs that a stream has in hand.
MOST_IN_HAND = 32
# How long a worker has to read those; less where the jobs have less time.
PATIENCE_SECONDS = 1.0
# How often the caller of a stream is checked while there are no jobs.
REVIEW_SECONDS = 10.0

Write = Callable[[ActivatedJob], Awaitable[None]]
Admit = Callable[[], Awaitable[None]]


class JobStreams:
    """All streams of a process."""

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
        """How many streams are open."""
        return self._places.taken

    def drain(self) -> None:
        """End all streams; one that writes ends when its worker has read what is being written."""
        self._is_draining = True
        for wait in self._waits:
            wait.reschedule(0)

    async def push(self, command: ActivateJobs, *, write: Write, admit: Admit) -> NoReturn:
        """Write jobs until cancelled, at most `command.max_jobs` in hand.

        `write` returns when the worker has room for more; `admit` raises when the worker may have no more jobs. Raises
        ResourceExhausted when there is no room for a stream, and Unavailable when the process stops.
        """
        with self._places.one(command.tenant_id):
            most = command.max_jobs
            while True:
                jobs = await self._activated(replace(command, max_jobs=most))
                were_read = await self._pushed(command, jobs, write=write, admit=admit)
                # A slow worker finds its way back to the most, so that few jobs are given back in vain.
                most = min(2 * most, command.max_jobs) if were_read else 1

    async def _activated(self, command: ActivateJobs) -> deque[ActivatedJob]:
        """Jobs as soon as there are any; none when it is time for a review."""
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
        """Whether the worker read all of them in time."""
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
