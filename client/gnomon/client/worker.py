"""Worker that activates jobs by long polling and runs a handler for each.

A worker never holds more than `max_jobs` jobs: it asks for as many as it can take, with one poll at a time.
At most `concurrency` handlers run at once; the other jobs wait for their turn.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from gnomon.client.back_off import BackOff
from gnomon.client.calls import Calls, is_transient
from gnomon.client.completions import SENDERS, Completions
from gnomon.client.errors import BpmnError, DeadlineExceeded, JobFailure, RequestFailed
from gnomon.client.jobs import Job, Variables, encoded
from gnomon.engine.v1 import job_service_pb2 as pb

if TYPE_CHECKING:
    from gnomon.engine.v1.job_service_pb2_grpc import JobServiceAsyncStub

logger = logging.getLogger(__name__)

Handler = Callable[[Job], Awaitable[Variables | None]]

# Most jobs that one activation may ask for, by the contract.
MAX_JOBS = 10_000
# Milliseconds that a poll waits for a job, and additional seconds for its answer.
_POLL_MILLISECONDS = 20_000
_POLL_MARGIN_SECONDS = 10
_HAND_BACK_SECONDS = 5
# Longest text of an incident that a failed handler causes; the contract allows 65,536 characters.
_LONGEST_MESSAGE = 10_000


@dataclass(frozen=True, slots=True)
class WorkerSettings:
    """Bounds of a worker; `answer_seconds` is the deadline of a completion, a failure or a BPMN error."""

    job_type: str
    name: str = "gnomon.client"
    max_jobs: int = 32
    concurrency: int = 32
    job_timeout: timedelta = timedelta(minutes=5)
    retry_back_off: timedelta = timedelta(seconds=1)
    end_timeout: timedelta = timedelta(seconds=30)
    answer_seconds: float = 30.0
    fetch_variables: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not 1 <= self.max_jobs <= MAX_JOBS:
            raise ValueError(f"max_jobs: expected 1 to {MAX_JOBS}, found {self.max_jobs}")
        if not 1 <= self.concurrency <= self.max_jobs:
            raise ValueError(
                f"concurrency: expected 1 to max_jobs ({self.max_jobs}), found {self.concurrency}"
            )
        if self.job_timeout < timedelta(milliseconds=1):
            raise ValueError(f"job_timeout: expected at least 1 ms, found {self.job_timeout}")


class Worker:
    """A running worker of one job type; `Client.worker` makes it."""

    def __init__(
        self, stub: "JobServiceAsyncStub", calls: Calls, handler: Handler, settings: WorkerSettings
    ) -> None:
        self._stub = stub
        self._calls = calls
        self._handler = handler
        self._settings = settings
        self._completions = Completions(stub, calls, seconds=settings.answer_seconds)
        self._turns = asyncio.Semaphore(settings.concurrency)
        self._polling: asyncio.Task[None] | None = None
        self._handling: set[asyncio.Task[None]] = set()
        self._changed = asyncio.Event()
        self._is_ending = False

    @property
    def jobs_in_hand(self) -> int:
        """Jobs that were activated and not answered yet."""
        return len(self._handling)

    async def run(self) -> None:
        """Work until `end`; raises RequestFailed when the server refuses to activate jobs."""
        async with asyncio.TaskGroup() as senders:
            sending = [senders.create_task(self._completions.send()) for _ in range(SENDERS)]
            try:
                async with asyncio.TaskGroup() as tasks:
                    self._polling = tasks.create_task(self._poll(tasks))
                    if self._is_ending:
                        self._polling.cancel()
            finally:
                for each in sending:
                    each.cancel()

    async def end(self) -> None:
        """Activate no more jobs and let running handlers finish.

        Jobs whose handler has not begun are handed back at once. Handlers that still run after `end_timeout` are
        cancelled, and their jobs are handed back with the same number of retries.
        """
        self._is_ending = True
        if self._polling:
            self._polling.cancel()
        # Jobs that wait for a turn see that the worker ends.
        for _ in range(self.jobs_in_hand):
            self._turns.release()
        if self._handling:
            await asyncio.wait(self._handling, timeout=self._settings.end_timeout.total_seconds())
        for task in tuple(self._handling):
            task.cancel()

    async def _poll(self, tasks: asyncio.TaskGroup) -> None:
        back_off = BackOff()
        failures = 0
        while True:
            places = await self._free_places()
            try:
                jobs = await self._activate(places)
            except RequestFailed as error:
                if not (is_transient(error) or isinstance(error, DeadlineExceeded)):
                    raise
                failures += 1
                logger.warning(
                    "activation failed", extra={"job_type": self._settings.job_type, "error": str(error)}
                )
                await asyncio.sleep(back_off.seconds(failures))
                continue
            failures = 0
            for job in jobs:
                self._take(tasks, job)

    async def _free_places(self) -> int:
        while (places := self._settings.max_jobs - self.jobs_in_hand) <= 0:
            self._changed.clear()
            await self._changed.wait()
        return places

    async def _activate(self, places: int) -> list[Job]:
        settings = self._settings
        request = pb.ActivateJobsRequest(
            type=settings.job_type,
            worker=settings.name,
            timeout=_milliseconds(settings.job_timeout),
            max_jobs_to_activate=places,
            request_timeout=_POLL_MILLISECONDS,
            fetch_variable=settings.fetch_variables,
        )
        seconds = _POLL_MILLISECONDS / 1000 + _POLL_MARGIN_SECONDS
        answer = await self._calls.once(self._stub.ActivateJobs, request, seconds=seconds)
        return [Job.of(job) for job in answer.jobs]

    def _take(self, tasks: asyncio.TaskGroup, job: Job) -> None:
        expires_at = asyncio.get_running_loop().time() + self._settings.job_timeout.total_seconds()
        task = tasks.create_task(self._handle(job, expires_at))
        self._handling.add(task)
        task.add_done_callback(self._release)

    def _release(self, task: "asyncio.Task[None]") -> None:
        self._handling.discard(task)
        self._changed.set()

    async def _handle(self, job: Job, expires_at: float) -> None:
        try:
            async with self._turns:
                # The server offers an expired job to others.
                if asyncio.get_running_loop().time() >= expires_at:
                    return
                if self._is_ending:
                    await self._hand_back(job)
                    return
                await self._run(job)
        except asyncio.CancelledError:
            await self._hand_back(job)
            raise
        except RequestFailed as error:
            # The job was cancelled, or the server offers it again after its deadline.
            logger.warning("job not answered", extra={"job_key": job.key, "error": str(error)})

    async def _run(self, job: Job) -> None:
        try:
            completion = pb.CompleteJobRequest(job_key=job.key, variables=encoded(await self._handler(job)))
        except BpmnError as error:
            await self._throw(job, error)
        except Exception as error:
            logger.exception("handler failed", extra={"job_key": job.key})
            await self._fail(job, error)
        else:
            await self._completions.complete(completion)

    async def _throw(self, job: Job, error: BpmnError) -> None:
        request = pb.ThrowJobErrorRequest(
            job_key=job.key,
            error_code=error.code,
            error_message=error.message,
            variables=error.variables,
        )
        await self._calls.command(self._stub.ThrowJobError, request, seconds=self._settings.answer_seconds)

    async def _fail(self, job: Job, error: Exception) -> None:
        retries, back_off = job.retries - 1, self._settings.retry_back_off
        text = f"{type(error).__name__}: {error}"
        if isinstance(error, JobFailure):
            text = error.message
            retries = retries if error.retries is None else error.retries
            back_off = back_off if error.back_off is None else error.back_off
        request = pb.FailJobRequest(
            job_key=job.key,
            retries=max(retries, 0),
            error_message=text[:_LONGEST_MESSAGE],
            retry_back_off=_milliseconds(back_off),
        )
        await self._calls.command(self._stub.FailJob, request, seconds=self._settings.answer_seconds)

    async def _hand_back(self, job: Job) -> None:
        request = pb.FailJobRequest(
            job_key=job.key, retries=job.retries, error_message="the worker ended before the job"
        )
        try:
            await self._calls.command(self._stub.FailJob, request, seconds=_HAND_BACK_SECONDS)
        except RequestFailed as error:
            logger.warning("job not handed back", extra={"job_key": job.key, "error": str(error)})


def _milliseconds(duration: timedelta) -> int:
    return duration // timedelta(milliseconds=1)
