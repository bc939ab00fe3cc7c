"""The loop of one partition.

Drain what waits (and what time brings), run the engine over it, hand everything that the batch produced to the ledger
in one commit, answer. While a batch is being committed the next one is processed; two commits never overlap, and no
answer leaves before its commit. A ledger that fails ends the partition: nothing may be answered on a guess.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import chain

from server.engine import State
from server.engine.answers import ActivatedJobs, Answer
from server.engine.commands import Command, YieldJobs
from server.engine.events import Event
from server.partition.config import PartitionConfig, QuotaConfig
from server.partition.due import Due
from server.partition.idempotency import Answers
from server.partition.origin import Origin
from server.partition.queue import FairQueue
from server.partition.quota import Quota
from server.partition.repeats import answer_repeats
from server.partition.residence import Residence
from server.partition.turn import Entry, Result, Turn, Turns
from server.partition.wire import COMMANDS
from server.platform.clock import Clock
from server.platform.errors import ServiceError, Unavailable
from server.store.entities import AuditEntry
from server.store.ports import Ledger, PartitionId

logger = logging.getLogger(__name__)

# Told what each committed turn brought, and once that there will be no more.
Observer = Callable[[Sequence[Event]], None]
Ending = Callable[[], None]

# A batch takes half of what is outstanding, so that the other half keeps the engine busy while it is committed.
LEAST_BATCH = 16
MOST_INCOMING = 1_000
RETRY_SECONDS = 0.2


class Partition:
    """Takes commands from anywhere in this process; `run` serves them until it is cancelled or told to stop."""

    def __init__(
        self,
        state: State,
        ledger: Ledger,
        clock: Clock,
        config: PartitionConfig,
        *,
        quota: Quota | None = None,
        due: Due | None = None,
    ) -> None:
        self.state = state
        self.quota = quota or Quota(QuotaConfig())
        self.observers: list[Observer] = []
        self.endings: list[Ending] = []
        self._ledger = ledger
        self._clock = clock
        self._config = config
        self._queue: FairQueue[Entry] = FairQueue(config.max_queued)
        self._in_hand: deque[Turn] = deque()
        self._turns = Turns(state, self.quota)
        self._residence = Residence(state, config.max_loaded_instances)
        self._work = asyncio.Event()
        self._due = due or Due()
        self._answers = Answers(config.max_kept_answers)
        self._catching_up = asyncio.Lock()
        self._came: dict[PartitionId, int] = {}
        self._opened = asyncio.Event()
        self._is_open = False
        self._is_draining = False
        self._is_ending = False
        self._is_suspended = False

    @property
    def id(self) -> PartitionId:
        return PartitionId(self.state.partition_id)

    @property
    def is_draining(self) -> bool:
        """Whether waiting for what has yet to happen is over."""
        return self._is_draining

    @property
    def is_open(self) -> bool:
        return self._is_open and not self._is_suspended

    async def submit(self, command: Command, origin: Origin | None = None) -> Answer:
        """The command's answer once it is committed; raises the refusal, or that there is no room.

        A command with a key is carried out even if its caller goes away, so that a repeat finds the answer.
        """
        key = origin.idempotency if origin else None
        if key is None:
            return await self._enqueue(command, origin)
        self._expect_open()
        answer = self._answers.find(key)
        if answer is None:
            answer = self._place(command, origin)
            self._answers.keep(key, answer)
        return await asyncio.shield(answer)

    async def settle(self) -> None:
        """Return when everything that is due by now has happened."""
        await self._enqueue(None)
        while self._due.has_come(self._clock.now()):
            await self._enqueue(None)

    async def catch_up(self) -> None:
        """Return when everything that other partitions sent by now has been carried out and committed."""
        async with self._catching_up:
            while incoming := await self._ledger.incoming(self._came, MOST_INCOMING):
                loop = asyncio.get_running_loop()
                entries = [
                    Entry(COMMANDS.unpack(each.command), loop.create_future(), incoming=each)
                    for each in incoming
                ]
                for entry, each in zip(entries, incoming, strict=True):
                    self._expect_open()
                    self._queue.put_urgent(entry)
                    self._came[each.source] = each.number
                self._work.set()
                outcomes = [entry.future for entry in entries if entry.future]
                for outcome in await asyncio.gather(*outcomes, return_exceptions=True):
                    if isinstance(outcome, BaseException):
                        logger.warning("an incoming command was refused", extra={"reason": str(outcome)})

    async def refresh_quota(self) -> None:
        """Take into account what is active in other partitions."""
        if self.quota.is_limited:
            self.quota.tell_of_others(await self._ledger.active_instances())

    async def note(self, entries: Sequence[AuditEntry]) -> None:
        """Return when these are in the audit log."""
        self._expect_open()
        noted: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._queue.put(Entry(None, noted, noted=entries))
        self._work.set()
        await noted

    async def _enqueue(self, command: Command | None, origin: Origin | None = None) -> Answer:
        future = self._place(command, origin)
        try:
            return await future
        except asyncio.CancelledError:
            if future.done() and not future.cancelled() and future.exception() is None:
                self._take_back(future.result())
            raise

    def _place(self, command: Command | None, origin: Origin | None) -> asyncio.Future[Answer]:
        self._expect_open()
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._queue.put(Entry(command, future, origin))
        self._work.set()
        return future

    def _expect_open(self) -> None:
        if not self.is_open or self._is_ending:
            raise Unavailable.untouched(f"partition {self.id} is not serving")

    def drain(self) -> None:
        """Let nobody wait any longer for what has yet to happen; commands are served until `run` ends."""
        self._is_draining = True
        for end in self.endings:
            end()

    def stop(self) -> None:
        """Take no more commands; `run` returns when those that wait have been carried out."""
        self.drain()
        self._is_ending = True
        self._work.set()

    async def run(self) -> None:
        """Serve until told to stop, until cancelled, or until a commit fails; what came meanwhile goes first."""
        try:
            for each in await self._ledger.incoming(self._came, MOST_INCOMING):
                self._queue.put_urgent(Entry(COMMANDS.unpack(each.command), incoming=each))
                self._came[each.source] = each.number
            self._is_open = True
            self._opened.set()
            async with asyncio.TaskGroup() as commits:
                await self._serve(commits)
        finally:
            self._is_open = False
            self._opened.set()
            self._refuse_everybody("the partition stopped serving")

    async def opened(self) -> None:
        """Return when `run` takes commands, or has ended before it did."""
        await self._opened.wait()

    async def _serve(self, commits: asyncio.TaskGroup) -> None:
        committing: asyncio.Task[None] | None = None
        while await self._work_to_do():
            turn = await self._turn(self._drain())
            if committing is not None:
                await committing
            committing = commits.create_task(self._commit(turn))

    async def _work_to_do(self) -> bool:
        """Wait for work; False when there will be no more."""
        while not self._queue and not self._due.has_come(self._clock.now()):
            if self._is_ending:
                return False
            self._work.clear()
            try:
                async with asyncio.timeout(self._seconds_until_due()):
                    await self._work.wait()
            except TimeoutError:
                continue
        return True

    def _seconds_until_due(self) -> float | None:
        instant = self._due.next
        return self._clock.seconds_until(instant) if instant is not None else None

    def _drain(self) -> list[Entry]:
        outstanding = len(self._queue) + sum(len(turn.entries) for turn in self._in_hand)
        most = min(self._config.max_batch, max(LEAST_BATCH, outstanding // 2))
        entries = [Entry(command) for command in self._due.take(self._clock.now(), most)]
        while self._queue and len(entries) < most:
            entry = self._queue.take()
            if entry.is_wanted:
                entries.append(entry)
        return entries

    async def _turn(self, entries: list[Entry]) -> Turn:
        try:
            await answer_repeats(entries, self._ledger)
        except Unavailable as refusal:
            _refuse((entry for entry in entries if entry.origin and entry.origin.idempotency), refusal.detail)
        wanted = list(filter(_is_wanted, entries))
        await self._bring_back(wanted)
        turn = self._turns.run(wanted, _to_the_millisecond(self._clock.now()))
        self._in_hand.append(turn)
        self._due.observe(turn.events)
        self._residence.touch(turn.batch.documents)
        if turn.postponed:
            await self._load(turn)
        return turn

    async def _bring_back(self, entries: Iterable[Entry]) -> None:
        """Have here what the entries name, so that they are carried out in their order; else they miss it and wait."""
        missing = self._residence.missing(entry.command for entry in entries if entry.command is not None)
        if missing:
            with suppress(Unavailable):
                self._residence.bring_back(await self._ledger.documents(missing))

    async def _load(self, turn: Turn) -> None:
        """Bring back what the turn missed, and let what it could not do have the next one."""
        try:
            self._residence.bring_back(await self._ledger.documents(turn.missing))
        except Unavailable as refusal:
            _refuse((entry for entry in turn.postponed if entry.incoming is None), refusal.detail)
            await asyncio.sleep(RETRY_SECONDS)
        self._queue.put_first(list(filter(_is_wanted, turn.postponed)))

    async def _commit(self, turn: Turn) -> None:
        if not turn.batch.is_empty:
            late = asyncio.get_running_loop().call_later(self._config.commit_seconds, self._suspend)
            try:
                await self._ledger.commit(turn.batch)
            finally:
                late.cancel()
            self._is_suspended = False
        for entry, result in turn.results:
            self._answer(entry, result)
        self._in_hand.popleft()
        self._residence.evict({key for turn in self._in_hand for key in turn.batch.documents})
        for observe in self.observers:
            observe(turn.events)

    def _suspend(self) -> None:
        """The commit takes too long: nobody waits for it any longer, and nobody new begins to."""
        self._is_suspended = True
        logger.warning("a commit takes too long", extra={"partition_id": self.id})
        self._refuse_callers("the store does not answer; whether the command counts is not known yet")

    def _answer(self, entry: Entry, result: Result) -> None:
        if entry.future is None:
            return
        if entry.future.done():
            self._take_back(result)
        elif isinstance(result, ServiceError):
            entry.future.set_exception(result)
        else:
            entry.future.set_result(result)

    def _take_back(self, answer: Result) -> None:
        """The caller went away: jobs that it will never see are offered again."""
        if isinstance(answer, ActivatedJobs) and answer.jobs:
            jobs = tuple((job.key, job.deadline) for job in answer.jobs)
            self._queue.put_urgent(Entry(YieldJobs(answer.jobs[0].instance.tenant_id, jobs)))
            self._work.set()

    def clock_moved(self) -> None:
        """Look again at what is due."""
        self._work.set()

    def _refuse_callers(self, reason: str) -> None:
        """What waits did not happen; of what was processed or is being committed nobody knows whether it counts."""
        waiting = self._queue.clear()
        _refuse((entry for entry in waiting if entry.incoming is None), reason)
        for entry in chain.from_iterable(turn.entries for turn in self._in_hand):
            if entry.incoming is None and entry.is_wanted:
                self._put_off(entry, reason)
        for entry in filter(_is_wanted, waiting):
            self._queue.put_urgent(entry)

    def _put_off(self, entry: Entry, reason: str) -> None:
        """Refuse the caller of what may count yet; a repeat waits for the outcome, it must not happen a second time."""
        told, key = entry.future, entry.origin.idempotency if entry.origin else None
        if key is not None:
            entry.future = asyncio.get_running_loop().create_future()
            self._answers.keep(key, entry.future)
        if told is not None:
            told.set_exception(Unavailable(reason))

    def _refuse_everybody(self, reason: str) -> None:
        _refuse(chain(*(turn.entries for turn in self._in_hand), self._queue.clear()), reason)
        self._in_hand.clear()
        for end in self.endings:
            end()


def _is_wanted(entry: Entry) -> bool:
    return entry.is_wanted


def _refuse(entries: Iterable[Entry], reason: str) -> None:
    for entry in entries:
        if entry.future is not None and not entry.future.done():
            entry.future.set_exception(Unavailable(reason))


def _to_the_millisecond(instant: datetime) -> datetime:
    """As the wire writes it, so that what was read can be searched for."""
    return instant.replace(microsecond=instant.microsecond // 1000 * 1000)
