"""The loop of one partition.

Drain what waits (and what time brings), run the engine over it, hand everything that the batch produced to the store
in one commit, answer. While a batch is being committed the next one is processed; two commits never overlap, and no
answer leaves before its commit. A store that fails ends the partition: nothing may be answered on a guess.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain

from server.engine import Outcome, State, process
from server.engine.answers import DONE, ActivatedJobs, Answer
from server.engine.commands import Command, YieldJobs
from server.engine.events import Event
from server.engine.rejection import Rejected, RejectionType
from server.partition.config import PartitionConfig
from server.partition.due import Due
from server.partition.idempotency import Answers, IdempotencyKey
from server.platform.clock import Clock
from server.platform.errors import (
    Internal,
    InvalidArgument,
    InvalidState,
    NotFound,
    ResourceExhausted,
    ServiceError,
    Unavailable,
)
from server.store.ports import Batch, Store
from server.store.projection import project

logger = logging.getLogger(__name__)

# Told what each committed turn brought, and once that there will be no more.
Observer = Callable[[Sequence[Event]], None]
Ending = Callable[[], None]


@dataclass(slots=True)
class _Entry:
    """A command that waits, with the future of its answer; no command stands for a barrier."""

    command: Command | None
    future: asyncio.Future[Answer] | None


@dataclass(slots=True)
class _Turn:
    """What one batch came to."""

    entries: list[_Entry]
    events: list[Event] = field(default_factory=list)
    batch: Batch = field(default_factory=Batch)
    results: list[tuple[_Entry, Answer | ServiceError]] = field(default_factory=list)


class Partition:
    """Takes commands from anywhere in this process; `run` serves them until it is cancelled."""

    def __init__(self, state: State, store: Store, clock: Clock, config: PartitionConfig) -> None:
        self.state = state
        self.observers: list[Observer] = []
        self.endings: list[Ending] = []
        self._store = store
        self._clock = clock
        self._config = config
        self._queue: deque[_Entry] = deque()
        self._turns: deque[_Turn] = deque()
        self._work = asyncio.Event()
        self._due = Due()
        self._answers = Answers(config.max_kept_answers)
        self._is_open = False
        self._is_draining = False

    @property
    def is_draining(self) -> bool:
        """Whether waiting for what has yet to happen is over."""
        return self._is_draining

    @property
    def is_open(self) -> bool:
        return self._is_open

    async def submit(self, command: Command, key: IdempotencyKey | None = None) -> Answer:
        """The command's answer once it is committed; raises the refusal, or that there is no room.

        A command with a key is carried out even if its caller goes away, so that a repeat finds the answer.
        """
        if key is None:
            return await self._enqueue(command)
        answer = self._answers.find(key)
        if answer is None:
            answer = self._place(command)
            self._answers.keep(key, answer)
        return await asyncio.shield(answer)

    async def settle(self) -> None:
        """Return when everything that is due by now has happened."""
        await self._enqueue(None)
        while self._due.has_come(self._clock.now()):
            await self._enqueue(None)

    async def _enqueue(self, command: Command | None) -> Answer:
        future = self._place(command)
        try:
            return await future
        except asyncio.CancelledError:
            if future.done() and not future.cancelled() and future.exception() is None:
                self._take_back(future.result())
            raise

    def _place(self, command: Command | None) -> asyncio.Future[Answer]:
        if not self._is_open:
            raise Unavailable("the partition is not serving")
        if len(self._queue) >= self._config.max_queued:
            raise ResourceExhausted(f"{self._config.max_queued} commands wait already")
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._queue.append(_Entry(command, future))
        self._work.set()
        return future

    def drain(self) -> None:
        """Let nobody wait any longer for what has yet to happen; commands are served until `run` ends."""
        self._is_draining = True
        for end in self.endings:
            end()

    async def run(self) -> None:
        """Serve until cancelled, or until a commit fails."""
        self._is_open = True
        try:
            async with asyncio.TaskGroup() as commits:
                await self._serve(commits)
        finally:
            self._is_open = False
            self._refuse_waiting()

    async def _serve(self, commits: asyncio.TaskGroup) -> None:
        committing: asyncio.Task[None] | None = None
        while True:
            await self._work_to_do()
            turn = self._process(self._drain())
            if committing is not None:
                await committing
            committing = commits.create_task(self._commit(turn))

    async def _work_to_do(self) -> None:
        while not self._queue and not self._due.has_come(self._clock.now()):
            self._work.clear()
            try:
                async with asyncio.timeout(self._seconds_until_due()):
                    await self._work.wait()
            except TimeoutError:
                continue

    def _seconds_until_due(self) -> float | None:
        instant = self._due.next
        return self._clock.seconds_until(instant) if instant is not None else None

    def _drain(self) -> list[_Entry]:
        most = self._config.max_batch
        entries = [_Entry(command, None) for command in self._due.take(self._clock.now(), most)]
        while self._queue and len(entries) < most:
            entry = self._queue.popleft()
            if entry.future is None or not entry.future.cancelled():
                entries.append(entry)
        return entries

    def _process(self, entries: list[_Entry]) -> _Turn:
        turn = _Turn(entries)
        self._turns.append(turn)
        now = _to_the_millisecond(self._clock.now())
        for entry in entries:
            try:
                outcome = process(self.state, entry.command, now) if entry.command else Outcome([], DONE)
            except Rejected as rejected:
                turn.results.append((entry, _REFUSALS[rejected.type](rejected.reason)))
                continue
            except Exception:
                logger.exception("command failed", extra={"command": type(entry.command).__name__})
                turn.results.append((entry, Internal()))
                continue
            for event in outcome.events:
                project(event, now, turn.batch.changes)
            turn.events += outcome.events
            turn.results.append((entry, outcome.answer))
        self._due.observe(turn.events)
        return turn

    async def _commit(self, turn: _Turn) -> None:
        if turn.batch.changes:
            await self._store.commit(turn.batch)
        for entry, result in turn.results:
            self._answer(entry, result)
        self._turns.popleft()
        for observe in self.observers:
            observe(turn.events)

    def _answer(self, entry: _Entry, result: Answer | ServiceError) -> None:
        if entry.future is None:
            return
        if entry.future.cancelled():
            self._take_back(result)
        elif isinstance(result, ServiceError):
            entry.future.set_exception(result)
        else:
            entry.future.set_result(result)

    def _take_back(self, answer: Answer | ServiceError) -> None:
        """The caller went away: jobs that it will never see are offered again."""
        if isinstance(answer, ActivatedJobs) and answer.jobs:
            jobs = tuple((job.key, job.deadline) for job in answer.jobs)
            self._queue.append(_Entry(YieldJobs(answer.jobs[0].instance.tenant_id, jobs), None))
            self._work.set()

    def clock_moved(self) -> None:
        """Look again at what is due."""
        self._work.set()

    def _refuse_waiting(self) -> None:
        """What waits, and what was processed or is being committed: nobody knows whether it counts."""
        for entry in chain(*(turn.entries for turn in self._turns), self._queue):
            if entry.future is not None and not entry.future.done():
                entry.future.set_exception(Unavailable("the partition stopped serving"))
        self._turns.clear()
        self._queue.clear()
        for end in self.endings:
            end()


def _to_the_millisecond(instant: datetime) -> datetime:
    """As the wire writes it, so that what was read can be searched for."""
    return instant.replace(microsecond=instant.microsecond // 1000 * 1000)


_REFUSALS: dict[RejectionType, type[ServiceError]] = {
    RejectionType.INVALID_ARGUMENT: InvalidArgument,
    RejectionType.NOT_FOUND: NotFound,
    RejectionType.INVALID_STATE: InvalidState,
}
