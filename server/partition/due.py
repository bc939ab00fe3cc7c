"""Scheduled commands of a partition: timers, job deadlines, back-offs and postponed work, earliest first.

An outdated entry is dropped, or the engine ignores its command. Entries are derived from events; a recovering
partition derives them from its documents.
"""

import heapq
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from itertools import count

from server.engine import batch_events, events
from server.engine.batch_commands import ContinueBatchOperation
from server.engine.batch_operations import BatchOperation
from server.engine.job_commands import EndJobBackOff, TimeOutJob
from server.engine.keys import Key
from server.engine.message_commands import ContinueMessage, ExpireMessage
from server.engine.message_events import (
    MessagePostponed,
    MessagePublished,
    MessageRemoved,
    MessageResumed,
)
from server.engine.messages import Message
from server.engine.process_instance import JobState, ProcessInstance
from server.engine.process_instance_commands import ContinueProcessInstance
from server.engine.signal_commands import ContinueBroadcast
from server.engine.signal_events import BroadcastEnded, BroadcastPostponed
from server.engine.signals import Broadcast
from server.engine.start_timer_events import StartTimerClosed, StartTimerOpened
from server.engine.start_timers import StartTimer
from server.engine.subscriptions import TimerSubscription
from server.engine.tenant_events import TenantPurged
from server.engine.timer_commands import TriggerStartTimer, TriggerTimer

DueCommand = (
    TimeOutJob
    | EndJobBackOff
    | ContinueProcessInstance
    | TriggerTimer
    | ContinueMessage
    | ExpireMessage
    | ContinueBroadcast
    | ContinueBatchOperation
    | TriggerStartTimer
)

# The due time for documents that have no time of their postponement.
AT_ONCE = datetime.min.replace(tzinfo=UTC)

# Outdated entries are removed when there are more than this.
OVERTAKEN = 1_000


class Due:
    """A heap of scheduled commands; of each timer, job, message, broadcast or process instance, the latest entry counts."""

    def __init__(self) -> None:
        self._heap: list[tuple[datetime, int, DueCommand]] = []
        self._latest: dict[Key, int] = {}
        self._order = count()

    def __len__(self) -> int:
        return len(self._heap)

    def clear(self) -> None:
        """Forget everything."""
        self._heap.clear()
        self._latest.clear()

    @property
    def next(self) -> datetime | None:
        return self._heap[0][0] if self._heap else None

    def has_come(self, now: datetime) -> bool:
        return bool(self._heap) and self._heap[0][0] <= now

    def observe(self, happened: Iterable[events.Event]) -> None:
        for event in happened:
            note = _NOTES.get(type(event))
            if note is not None:
                note(self, event)

    def adopt(self, instance: ProcessInstance) -> None:
        """Schedule the commands of a process instance that was read from its document."""
        tenant_id = instance.head.tenant_id
        if instance.work:
            self.expect(
                instance.postponed_at or AT_ONCE, ContinueProcessInstance(tenant_id, instance.head.key)
            )
        for subscription in instance.subscriptions.values():
            if isinstance(subscription, TimerSubscription):
                self.expect(subscription.due, TriggerTimer(tenant_id, subscription.key, subscription.due))
        for job in instance.jobs.values():
            if job.due is None:
                continue
            if job.state is JobState.ACTIVATED:
                self.expect(job.due, TimeOutJob(tenant_id, job.key, job.due))
            elif job.state is JobState.BACKING_OFF:
                self.expect(job.due, EndJobBackOff(tenant_id, job.key, job.due))

    def adopt_message(self, message: Message) -> None:
        """Schedule the command of a message that was read from its document."""
        if message.postponed_at is not None:
            self.expect(message.postponed_at, ContinueMessage(message.tenant_id, message.key))
        elif not message.is_expired:
            self.expect(message.expires_at, ExpireMessage(message.tenant_id, message.key))

    def adopt_broadcast(self, broadcast: Broadcast) -> None:
        """Schedule the command of a broadcast that was read from its document."""
        self.expect(broadcast.postponed_at or AT_ONCE, ContinueBroadcast(broadcast.tenant_id, broadcast.key))

    def adopt_batch_operation(self, operation: BatchOperation) -> None:
        """Schedule the command of a batch operation that was read from its document."""
        if operation.due is not None:
            self.expect(operation.due, ContinueBatchOperation(operation.tenant_id, operation.key))

    def adopt_start_timer(self, timer: StartTimer) -> None:
        """Schedule the command of a timer that was read from its document."""
        self.expect(timer.due, TriggerStartTimer(timer.tenant_id, timer.key, timer.due))

    def take(self, now: datetime, most: int) -> Iterator[DueCommand]:
        """Remove and return due commands, at most `most`."""
        taken = 0
        while taken < most and self.has_come(now):
            _, order, command = heapq.heappop(self._heap)
            if self._latest.get(_subject(command)) == order:
                del self._latest[_subject(command)]
                taken += 1
                yield command

    def forget(self, key: Key) -> None:
        """Drop the scheduled command of this job, process instance or other entity."""
        self._latest.pop(key, None)

    def expect(self, when: datetime, command: DueCommand) -> None:
        order = next(self._order)
        self._latest[_subject(command)] = order
        heapq.heappush(self._heap, (when, order, command))
        if len(self._heap) > 2 * len(self._latest) + OVERTAKEN:
            self._heap = [entry for entry in self._heap if self._latest.get(_subject(entry[2])) == entry[1]]
            heapq.heapify(self._heap)


def _subject(command: DueCommand) -> Key:
    """The key of the entity that the command is for."""
    return command.address.keys[0]


def _work(due: Due, event: events.WorkPostponed) -> None:
    due.expect(event.at, ContinueProcessInstance(event.instance.tenant_id, event.instance.key))


def _work_done(due: Due, event: events.WorkResumed) -> None:
    due.forget(event.instance.key)


def _timer(due: Due, event: events.SubscriptionOpened) -> None:
    timer = event.subscription
    if isinstance(timer, TimerSubscription):
        due.expect(timer.due, TriggerTimer(event.instance.tenant_id, timer.key, timer.due))


def _published(due: Due, event: MessagePublished | MessageResumed) -> None:
    if event.is_expired:
        due.forget(event.key)
    else:
        due.expect(event.expires_at, ExpireMessage(event.tenant_id, event.key))


def _postponed(due: Due, event: MessagePostponed) -> None:
    due.expect(event.at, ContinueMessage(event.tenant_id, event.key))


def _broadcast_postponed(due: Due, event: BroadcastPostponed) -> None:
    due.expect(event.at, ContinueBroadcast(event.tenant_id, event.key))


def _batch(due: Due, event: batch_events.BatchEvent) -> None:
    if event.due is None:
        due.forget(event.key)
    else:
        due.expect(event.due, ContinueBatchOperation(event.tenant_id, event.key))


def _start_timer(due: Due, event: StartTimerOpened) -> None:
    due.adopt_start_timer(event.timer)


def _timer_closed(due: Due, event: events.SubscriptionClosed) -> None:
    due.forget(event.key)


def _deadline(due: Due, event: events.JobActivated | events.JobDeadlineUpdated) -> None:
    due.expect(event.deadline, TimeOutJob(event.instance.tenant_id, event.key, event.deadline))


def _failure(due: Due, event: events.JobFailed) -> None:
    if event.offered_at is None:
        due.forget(event.key)
    else:
        due.expect(event.offered_at, EndJobBackOff(event.instance.tenant_id, event.key, event.offered_at))


def _end(
    due: Due,
    event: events.JobCompleted
    | events.JobCanceled
    | events.JobErrorThrown
    | events.JobYielded
    | MessageRemoved
    | BroadcastEnded
    | StartTimerClosed,
) -> None:
    due.forget(event.key)


def _purged(due: Due, event: TenantPurged) -> None:
    for key in event.subjects:
        due.forget(key)


_NOTES: Mapping[type[events.Event], Callable[..., None]] = {
    events.WorkPostponed: _work,
    events.WorkResumed: _work_done,
    events.SubscriptionOpened: _timer,
    events.SubscriptionClosed: _timer_closed,
    MessagePublished: _published,
    MessageResumed: _published,
    MessagePostponed: _postponed,
    MessageRemoved: _end,
    BroadcastPostponed: _broadcast_postponed,
    BroadcastEnded: _end,
    **dict.fromkeys(batch_events.BatchEvent.__subclasses__(), _batch),
    StartTimerOpened: _start_timer,
    StartTimerClosed: _end,
    TenantPurged: _purged,
    events.JobActivated: _deadline,
    events.JobDeadlineUpdated: _deadline,
    events.JobFailed: _failure,
    events.JobCompleted: _end,
    events.JobCanceled: _end,
    events.JobErrorThrown: _end,
    events.JobYielded: _end,
}
