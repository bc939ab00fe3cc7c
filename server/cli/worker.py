"""A job worker: polls for jobs of one type, runs a handler for each, and reports the outcome.

The worker reports finished jobs even while it stops. Jobs that it activated but did not begin return to the
queue after their timeout.
"""

import asyncio
import socket
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from gnomon.engine.v1 import job_pb2
from gnomon.engine.v1 import job_service_pb2 as pb
from gnomon.engine.v1.job_service_pb2_grpc import JobServiceStub
from server.cli.session import Session
from server.platform.errors import InvalidState, NotFound

POLL = timedelta(seconds=30)
# Time for the response after the poll itself has ended.
_MARGIN_SECONDS = 10.0
_MILLISECOND = timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True)
class Completed:
    """The job is completed; `variables` is the JSON text of an object."""

    variables: bytes = b"{}"


@dataclass(frozen=True, slots=True)
class Failed:
    """The job failed; `retries` of None means one less than before."""

    message: str
    retries: int | None = None


@dataclass(frozen=True, slots=True)
class Thrown:
    """The job throws a BPMN error with this code."""

    error_code: str
    message: str


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """The engine withdrew the job before the worker completed it."""

    message: str


Outcome = Completed | Failed | Thrown
Reported = Completed | Failed | Thrown | Withdrawn
Handler = Callable[[job_pb2.ActivatedJob], Awaitable[Outcome]]
Observer = Callable[[job_pb2.ActivatedJob, Reported], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerOptions:
    """Options of a worker: it handles at most `most` jobs (None: no limit), each for at most `timeout`."""

    job_type: str
    concurrency: int = 8
    most: int | None = None
    timeout: timedelta = timedelta(minutes=5)
    name: str = field(default_factory=lambda: f"gnomon@{socket.gethostname()}")


class Worker:
    """A job worker; `run` polls until `most` jobs were activated or `stop` is called, then finishes running jobs."""

    def __init__(self, session: Session, options: WorkerOptions, handle: Handler, observe: Observer) -> None:
        self._session = session
        self._stub = JobServiceStub(session.channel)
        self._options = options
        self._handle = handle
        self._observe = observe
        self._free = options.concurrency
        self._freed = asyncio.Event()
        self._left = options.most or sys.maxsize
        self._polling: asyncio.Task[None] | None = None

    async def run(self) -> None:
        """Work until the end; raises an exception group with the ServiceError of a refused poll or report."""
        async with asyncio.TaskGroup() as tasks:
            self._polling = tasks.create_task(self._poll(tasks))

    def stop(self) -> None:
        if self._polling is not None:
            self._polling.cancel()

    async def _poll(self, tasks: asyncio.TaskGroup) -> None:
        while self._left:
            await self._room()
            jobs = await self._activated()
            self._left -= len(jobs)
            self._free -= len(jobs)
            for job in jobs:
                tasks.create_task(self._work(job))

    async def _room(self) -> None:
        while not self._free:
            self._freed.clear()
            await self._freed.wait()

    async def _activated(self) -> Sequence[job_pb2.ActivatedJob]:
        request = pb.ActivateJobsRequest(
            type=self._options.job_type,
            worker=self._options.name,
            timeout=self._options.timeout // _MILLISECOND,
            max_jobs_to_activate=min(self._free, self._left),
            request_timeout=POLL // _MILLISECOND,
        )
        seconds = POLL.total_seconds() + _MARGIN_SECONDS
        return (await self._session.call(self._stub.ActivateJobs, request, seconds=seconds)).jobs

    async def _work(self, job: job_pb2.ActivatedJob) -> None:
        try:
            self._observe(job, await self._report(job, await self._handle(job)))
        finally:
            self._free += 1
            self._freed.set()

    async def _report(self, job: job_pb2.ActivatedJob, outcome: Outcome) -> Reported:
        try:
            match outcome:
                case Completed(variables):
                    completion = pb.CompleteJobRequest(job_key=job.job_key, variables=variables)
                    await self._session.call(self._stub.CompleteJob, completion)
                case Failed(message, retries):
                    left = max(job.retries - 1, 0) if retries is None else retries
                    failure = pb.FailJobRequest(job_key=job.job_key, retries=left, error_message=message)
                    await self._session.call(self._stub.FailJob, failure)
                case Thrown(error_code, message):
                    error = pb.ThrowJobErrorRequest(
                        job_key=job.job_key, error_code=error_code, error_message=message
                    )
                    await self._session.call(self._stub.ThrowJobError, error)
        except (NotFound, InvalidState) as error:
            return Withdrawn(error.detail)
        return outcome
