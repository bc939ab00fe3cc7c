"""One partition, the only writer of its state: takes commands, and answers when they are committed.

    callers ──► Admission ──► WaitingCommands ──► Loop ──► Commits ──► Replies ──► callers
                └► Repeats ─────┤                     └──────► Inbox, observers
    outbox  ──► Inbox ──────────┘

Every part asks `Lifecycle` which operations are allowed. A failed ledger ends the partition, because no caller may
be answered while the outcome is unknown.
"""

import asyncio
import logging
from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence

from server.engine import State
from server.engine.answers import Answer
from server.engine.commands import Command
from server.engine.events import Event
from server.partition.admission import Admission
from server.partition.commits import Commits
from server.partition.config import InstancesConfig, PartitionConfig, QuotaConfig
from server.partition.due import Due
from server.partition.idempotency import Answers
from server.partition.inbox import Inbox
from server.partition.incoming_commands import IncomingCommands
from server.partition.lifecycle import Lifecycle, Move, Operation, PartitionState
from server.partition.loaded_instances import LoadedInstances
from server.partition.loop import Loop
from server.partition.meter import UNMEASURED, Meter
from server.partition.origin import Origin
from server.partition.queue import FairQueue
from server.partition.quota import Quota
from server.partition.repeats import Repeats
from server.partition.replies import Replies
from server.partition.transition_waiters import TransitionWaiters
from server.partition.turn import Entry, Turn, Turns
from server.partition.waiting_commands import WaitingCommands
from server.platform.clock import Clock
from server.store.entities import AuditEntry
from server.store.ports import Ledger, PartitionId

logger = logging.getLogger(__name__)

# Called with the events of each committed turn. An `Ending` is called once when there will be no more.
Observer = Callable[[Sequence[Event]], None]
Ending = Callable[[], None]
# Called with the partitions that a committed turn sent commands to.
Sent = Callable[[PartitionId, Collection[PartitionId]], None]


class Partition:
    """Accepts commands from anywhere in this process; `run` executes them until cancelled or stopped.

    The first `careful` commits have one command each.
    """

    def __init__(
        self,
        state: State,
        ledger: Ledger,
        clock: Clock,
        config: PartitionConfig,
        *,
        instances: InstancesConfig | None = None,
        quota: Quota | None = None,
        due: Due | None = None,
        stopwatch: Callable[[], float] | None = None,
        meter: Meter = UNMEASURED,
        careful: int = 0,
    ) -> None:
        self.state = state
        self.quota = quota or Quota(QuotaConfig())
        self.observers: list[Observer] = []
        self.endings: list[Ending] = []
        self.senders: list[Sent] = []
        self._meter = meter
        self.lifecycle = Lifecycle(self.id)
        queue: FairQueue[Entry] = FairQueue(
            config.max_queued,
            config.max_tenant_queued,
            most_octets=config.max_queued_bytes,
            most_octets_of_one=config.max_tenant_queued_bytes,
        )
        self._due = due or Due()
        self._pending = WaitingCommands(queue, self._due, clock)
        turns = Turns(state, self.quota, seconds=config.turn_seconds, stopwatch=stopwatch)
        self._commits = Commits(
            ledger, turns, config, committed=self._committed, late=self._suspend, careful=careful
        )
        self._loaded = LoadedInstances(state, config.max_loaded_instances)
        self._loop = Loop(
            self.lifecycle,
            self._pending,
            self._commits,
            ledger=ledger,
            loaded=self._loaded,
            quota=self.quota,
            clock=clock,
            meter=meter,
        )
        self._inbox = Inbox(self.lifecycle, self._pending, IncomingCommands(ledger))
        answers = Answers(config.max_kept_answers, config.max_kept_answer_bytes)
        self.observers.append(answers.observe)
        self._transitions = TransitionWaiters(instances or InstancesConfig())
        self.endings.append(self._transitions.refuse)
        self._repeats = Repeats(ledger, self._pending, state.removed_tenants)
        self._replies = Replies(
            self._pending,
            self._loop,
            self._commits,
            answers=answers,
            repeats=self._repeats,
            transitions=self._transitions,
        )
        self._admission = Admission(
            self.lifecycle,
            self._pending,
            self._replies,
            answers=answers,
            repeats=self._repeats,
            meter=meter,
        )
        self._opened = asyncio.Event()

    # Properties

    @property
    def id(self) -> PartitionId:
        return PartitionId(self.state.partition_id)

    @property
    def is_open(self) -> bool:
        """Whether the partition accepts commands."""
        return self.lifecycle.allows(Operation.COMMAND)

    @property
    def is_draining(self) -> bool:
        """Whether the partition is stopping, so that no call may wait for a job or completion."""
        return self.lifecycle.is_draining

    @property
    def queued(self) -> Mapping[str, int]:
        """The number of waiting commands of each tenant."""
        return self._pending.counts

    @property
    def is_careful(self) -> bool:
        """Whether each commit has one command, because an earlier one was too large."""
        return self._commits.careful > 0

    @property
    def unreadable_sources(self) -> int:
        """The number of partitions that sent a command this version cannot read."""
        return self._inbox.unreadable_sources

    @property
    def waiting_for_listeners(self) -> int:
        """The number of callers that wait for the listeners of user tasks."""
        return self._transitions.waiting

    @property
    def due_lag_seconds(self) -> float:
        """The time since the earliest timer that has not fired was due."""
        return self._pending.due_lag_seconds

    # Callers; each call raises Unavailable in a state that does not allow it

    def submit(self, command: Command, origin: Origin | None = None) -> Coroutine[None, None, Answer]:
        """The command's answer once it is committed; raises the rejection, or ResourceExhausted when the queue is full."""
        return self._admission.submit(command, origin)

    async def settle(self) -> None:
        """Return when everything that is due now has been handled and committed."""
        await self._admission.settle()

    async def note(self, entries: Sequence[AuditEntry]) -> None:
        """Return when these entries are committed to the audit log."""
        await self._admission.note(entries)

    async def catch_up(self) -> None:
        """Return when everything that other partitions have sent is committed."""
        await self._inbox.catch_up()

    def clock_moved(self) -> None:
        """Check again which scheduled commands are due."""
        self._pending.wake()

    # The owner

    async def run(self) -> None:
        """Serve until stopped, cancelled, or a commit fails; commands of other partitions come first."""
        try:
            await self._inbox.take()
            self.lifecycle.move(Move.OPEN)
            self._opened.set()
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._commits.run(tasks))
                looking_up = tasks.create_task(self._repeats.run())
                await self._loop.run()
                looking_up.cancel()
                self._commits.end()
            self.lifecycle.move(Move.CLOSE)
        finally:
            if self.lifecycle.state is not PartitionState.CLOSED:
                self.lifecycle.move(Move.FAIL)
            self._end("the partition stopped serving")

    def _end(self, reason: str) -> None:
        self._opened.set()
        self._replies.end(reason)
        self._inbox.refuse(reason)
        self._end_waits()

    def forget(self) -> None:
        """Release the memory of a partition that has ended while its process goes on.

        The garbage collector does not: a recovery of another partition may have exempted this one.
        """
        self.state.clear()
        self._due.clear()

    async def opened(self) -> None:
        """Return when the partition accepts commands, or `run` has ended before that."""
        await self._opened.wait()

    def drain(self) -> None:
        """End calls that wait for jobs or completions; commands are served until `run` ends."""
        self.lifecycle.move(Move.DRAIN)
        self._end_waits()

    def stop(self) -> None:
        """Accept no more commands; `run` returns when the waiting ones have been executed."""
        self.lifecycle.move(Move.STOP)
        self._end_waits()
        self._pending.wake()

    def _end_waits(self) -> None:
        for end in self.endings:
            end()

    # Commits

    def _committed(self, turn: Turn) -> None:
        if self.lifecycle.is_suspended:
            self.lifecycle.move(Move.RESUME)
        if turn.batch.answers:
            self._replies.keep_final(turn.events)
        for entry, result in turn.results:
            if entry.incoming is not None:
                self._inbox.settle(entry.incoming, result)
            self._replies.answer(entry, result)
        self._loaded.evict(self._commits.touched())
        self._transitions.observe(turn.events)
        for observe in self.observers:
            observe(turn.events)
        if turn.batch.outgoing:
            targets = {command.target for command in turn.batch.outgoing}
            for report in self.senders:
                report(self.id, targets)
        self._meter.committed(turn)

    def _suspend(self) -> None:
        """Handle a late commit: refuse the callers that wait for it, and new callers until it ends."""
        self.lifecycle.move(Move.SUSPEND)
        logger.warning("a commit takes too long", extra={"partition_id": self.id})
        self._replies.refuse_callers(
            "the commit timed out and its outcome is unknown; retry with the same Idempotency-Key"
        )
