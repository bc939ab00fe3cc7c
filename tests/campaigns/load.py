"""Clients that start process instances and work them off, each command repeated under its key until it is answered."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import TypeVar

from tests.campaigns.api import Api, Job, NotAnswered, Refused, until_answered
from tests.campaigns.book import Book
from tests.campaigns.model import JOBS, RETRIES, SMALL_PREFIX, Story, small

T = TypeVar("T")

DRAIN_SECONDS = 90.0
JOBS_AT_ONCE = 8
# Of the jobs, by their keys, these fail once: some raise an incident, some are offered again.
RAISES_EVERY = 13
FAILS_EVERY = 11
DEPLOYS_EVERY = 200
"""Acknowledged commands between two deployments."""
# Every other message is published before its process instance waits for it, the others probably after it.
LATER_SECONDS = 2.0
LOOK_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class Size:
    """`most_open` process instances are under way at once, so that workers keep up with starters."""

    starters: int = 8
    workers: int = 4
    most_open: int = 60


async def deploy(api: Api, stories: Sequence[Story]) -> None:
    for story in stories:
        for name, content in story.files.items():
            await until_answered(partial(api.deploy, name, content))


@asynccontextmanager
async def under_load(
    api: Api, book: Book, name: str, size: Size = Size(), *, stories: Sequence[Story] = (JOBS,)
) -> AsyncIterator[None]:
    """Load runs while the block does; then everything that was started is worked off. `name` is part of the keys."""
    termination, drained = asyncio.Event(), asyncio.Event()
    async with asyncio.TaskGroup() as tasks:
        clients = _Clients(api, book, name, stories, tasks)
        starters = [
            tasks.create_task(clients.keep_starting(termination, size.most_open))
            for _ in range(size.starters)
        ]
        workers = [
            tasks.create_task(clients.keep_working(job_type, drained))
            for story in stories
            for job_type in story.jobs
            for _ in range(size.workers)
        ]
        deployer = tasks.create_task(clients.keep_deploying(termination))
        yield
        termination.set()
        book.look_again()
        try:
            async with asyncio.timeout(DRAIN_SECONDS):
                await asyncio.gather(*starters, deployer)
                await book.until(lambda: book.open_jobs == book.open_messages == 0)
                await clients.see_ends()
        except TimeoutError:
            left = f"{book.open_jobs} jobs and {book.open_messages} messages"
            book.surprises.append(f"all was not done within {DRAIN_SECONDS:g} s: {left} are left")
            for client in (*starters, *workers, deployer):
                client.cancel()
        drained.set()


class _Clients:
    def __init__(
        self, api: Api, book: Book, name: str, stories: Sequence[Story], tasks: asyncio.TaskGroup
    ) -> None:
        self._api = api
        self._book = book
        self._name = name
        self._stories = stories
        self._tasks = tasks
        self._numbers = count()

    async def keep_starting(self, termination: asyncio.Event, most_open: int) -> None:
        while not termination.is_set():
            await self._begin(next(self._numbers))
            await self._book.until(lambda: self._book.open_instances < most_open or termination.is_set())

    async def keep_deploying(self, termination: asyncio.Event) -> None:
        numbers = count()
        while not termination.is_set():
            await self._deploy(f"{SMALL_PREFIX}{self._name}-{next(numbers)}")
            await self._book.more(DEPLOYS_EVERY, unless=termination.is_set)

    async def keep_working(self, job_type: str, drained: asyncio.Event) -> None:
        while not drained.is_set():
            jobs = await until_answered(lambda: self._api.activate(job_type, JOBS_AT_ONCE))
            await asyncio.gather(*(self._work_on(job) for job in jobs))

    async def _deploy(self, process_id: str) -> None:
        await until_answered(lambda: self._api.deploy(f"{process_id}.bpmn", small(process_id)))
        self._book.deployed.add(process_id)

    async def see_ends(self) -> None:
        """Return when no process instance is active."""
        for story in self._stories:
            while await until_answered(partial(self._api.count, story.process_id, "ACTIVE")):  # noqa: ASYNC110  # a search says it
                await asyncio.sleep(LOOK_SECONDS)

    async def _begin(self, number: int) -> None:
        """Start the next process in turn, and publish the message that it waits for, now or later."""
        turn, place = divmod(number, len(self._stories))
        story, reference = self._stories[place], f"start-{self._name}-{number}"
        instance = await self._answered(
            reference,
            lambda: self._api.start(story.process_id, idempotency_key=reference),
            lambda answer: answer,
        )
        self._book.start(reference, instance, story)
        if story.message:
            seconds = LATER_SECONDS * (turn % 2)
            self._tasks.create_task(self._publish(story.message, reference, instance, seconds))

    async def _publish(self, message: str, reference: str, instance: int, seconds: float) -> None:
        await asyncio.sleep(seconds)
        key = f"publish-{reference}"
        self._book.messages[instance] = await self._answered(
            key, lambda: self._api.publish(message, reference, idempotency_key=key), lambda answer: answer
        )
        self._book.look_again()

    async def _work_on(self, job: Job) -> None:
        try:
            if job.retries == RETRIES and job.key % RAISES_EVERY == 0:
                await self._raise_and_resolve(job)
            elif job.retries == RETRIES and job.key % FAILS_EVERY == 0:
                await self._fail(job, 1)
            else:
                await self._complete(job)
        except Refused as refusal:
            self._book.surprises.append(f"job {job.key} with {job.retries} retries: {refusal}")

    async def _complete(self, job: Job) -> None:
        key = f"complete-{job.key}"
        await self._done(key, lambda: self._api.complete(job.key, idempotency_key=key), job.key)
        self._book.completed[job.key] = job.process_instance_key

    async def _fail(self, job: Job, retries: int) -> bool:
        """False when the job's time was over before it could fail: it is offered again."""
        key = f"fail-{job.key}"
        try:
            await self._done(
                key, lambda: self._api.fail(job.key, retries=retries, idempotency_key=key), job.key
            )
        except Refused:
            return False
        self._book.failed[job.key] = retries
        return True

    async def _raise_and_resolve(self, job: Job) -> None:
        if not await self._fail(job, 0):
            return
        update = f"update-{job.key}"
        await self._done(update, lambda: self._api.give_retries(job.key, idempotency_key=update), job.key)
        for incident in await until_answered(lambda: self._api.incidents_of(job.key)):
            await self._resolve(job, incident)

    async def _resolve(self, job: Job, incident: int) -> None:
        key = f"resolve-{incident}"
        await self._done(key, lambda: self._api.resolve(incident, idempotency_key=key), incident)
        self._book.incidents[incident] = job.key

    async def _done(self, key: str, attempt: Callable[[], Awaitable[None]], entity: int) -> None:
        await self._answered(key, attempt, lambda _: entity)

    async def _answered(
        self, key: str, attempt: Callable[[], Awaitable[T]], entity_of: Callable[[T], int]
    ) -> T:
        loop, book = asyncio.get_running_loop(), self._book
        begun = loop.time()

        async def counted() -> T:
            nonlocal begun
            begun = loop.time()
            try:
                return await attempt()
            except NotAnswered:
                book.retries += 1
                raise

        answer = await until_answered(counted)
        book.acknowledge(key, entity_of(answer), begun=begun, ended=loop.time())
        return answer
