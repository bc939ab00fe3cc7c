"""The loop of one partition.

Drain what waits (and what time brings), run the engine over it, have everything that came of it committed, answer. A
ledger that fails ends the partition: nothing may be answered on a guess.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from itertools import chain

from server.engine import State
from server.engine.answers import ActivatedJobs, Answer
from server.engine.commands import Command, YieldJobs
from server.engine.events import Event
from server.partition.commits import Commits
from server.partition.config import PartitionConfig, QuotaConfig
from server.partition.due import Due
from server.partition.idempotency import Answers
from server.partition.origin import Origin
from server.partition.queue import FairQueue
from server.partition.quota import Quota
from server.partition.repeats import answer_repeats
from server.partition.residence import Residence
from server.partition.turn import Entry, Growth, Result, Turn, Turns
from server.partition.wire import COMMANDS
from server.platform.clock import Clock, to_the_millisecond
from server.platform.errors import ServiceError, Unavailable
from server.store.entities import AuditEntry
from server.store.ports import Ledger, PartitionId

logger = logging.getLogger(__name__)

# Told what each committed turn brought, and once that there will be no more.
Observer = Callable[[Sequence[Event]], None]
Ending = Callable[[], None]

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
        self._drained: list[Entry] = []
        turns = Turns(state, self.quota)
        self._commits = Commits(ledger, turns, config, committed=self._committed, late=self._suspend)
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
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._commits.run(tasks))
                await self._serve()
                self._commits.end()
        finally:
            self._is_open = False
            self._opened.set()
            self._refuse_everybody("the partition stopped serving")

    async def opened(self) -> None:
        """Return when `run` takes commands, or has ended before it did."""
        await self._opened.wait()

    async def _serve(self) -> None:
        while await self._work_to_do():
            if self._commits.room > 0:
                self._drained = self._drain(self._commits.room)
                await self._process(self._drained)
                self._drained = []
            else:
                await self._commits.taken()

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

    def _drain(self, most: int) -> list[Entry]:
        entries = [Entry(command) for command in self._due.take(self._clock.now(), most)]
        while self._queue and len(entries) < most:
            entry = self._queue.take()
            if entry.is_wanted:
                entries.append(entry)
        return entries

    async def _process(self, entries: list[Entry]) -> None:
        try:
            await answer_repeats(entries, self._ledger)
        except Unavailable as refusal:
            _refuse((entry for entry in entries if entry.origin and entry.origin.idempotency), refusal.detail)
        await self._bring_back(filter(_is_wanted, entries))
        wanted = list(filter(_is_wanted, entries))
        if not wanted:
            return
        growth = self._commits.grow(wanted, now=to_the_millisecond(self._clock.now()))
        self._due.observe(growth.events)
        self._residence.touch(growth.touched)
        if growth.postponed:
            await self._load(growth)

    async def _bring_back(self, entries: Iterable[Entry]) -> None:
        """Have here what the entries name, so that they are carried out in their order; else they miss it and wait."""
        missing = self._residence.missing(entry.command for entry in entries if entry.command is not None)
        if missing:
            with suppress(Unavailable):
                self._residence.bring_back(await self._ledger.documents(missing))

    async def _load(self, growth: Growth) -> None:
        """Bring back what was missed, and let what could not be done have the next turn."""
        self._drained = growth.postponed
        try:
            self._residence.bring_back(await self._ledger.documents(growth.missing))
        except Unavailable as refusal:
            _refuse((entry for entry in growth.postponed if entry.incoming is None), refusal.detail)
            await asyncio.sleep(RETRY_SECONDS)
        self._queue.put_first(list(filter(_is_wanted, growth.postponed)))

    def _committed(self, turn: Turn) -> None:
        self._is_suspended = False
        for entry, result in turn.results:
            self._answer(entry, result)
        self._residence.evict(self._commits.touched())
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
        _refuse((entry for entry in (*self._drained, *waiting) if entry.incoming is None), reason)
        for entry in self._commits.entries():
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
        _refuse(chain(self._commits.entries(), self._drained, self._queue.clear()), reason)
        self._commits.give_up()
        for end in self.endings:
            end()


def _is_wanted(entry: Entry) -> bool:
    return entry.is_wanted


def _refuse(entries: Iterable[Entry], reason: str) -> None:
    for entry in entries:
        if entry.future is not None and not entry.future.done():
            entry.future.set_exception(Unavailable(reason))
