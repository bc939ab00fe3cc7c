"""What time brings: job deadlines and back-offs, earliest first.

An entry may have been overtaken; it is dropped, or the engine ignores its command. The entries follow from the events;
a partition that recovers takes them from its documents.
"""

import heapq
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from itertools import count

from server.engine import events
from server.engine.commands import EndJobBackOff, TimeOutJob
from server.engine.keys import Key
from server.engine.state import JobState, ProcessInstance

DueCommand = TimeOutJob | EndJobBackOff

# So many overtaken entries are kept at least before they are cleared away.
OVERTAKEN = 1_000


class Due:
    """One entry counts for each job: the latest."""

    def __init__(self) -> None:
        self._heap: list[tuple[datetime, int, DueCommand]] = []
        self._latest: dict[int, int] = {}  # by job key
        self._order = count()

    def __len__(self) -> int:
        return len(self._heap)

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
        """Take in what is due in a process instance that comes from its document."""
        for job in instance.jobs.values():
            if job.due is None:
                continue
            if job.state is JobState.ACTIVATED:
                self.expect(job.due, TimeOutJob(job.key, job.due))
            elif job.state is JobState.BACKING_OFF:
                self.expect(job.due, EndJobBackOff(job.key, job.due))

    def take(self, now: datetime, most: int) -> Iterator[DueCommand]:
        """Commands whose time has come, at most so many."""
        taken = 0
        while taken < most and self.has_come(now):
            _, order, command = heapq.heappop(self._heap)
            if self._latest.get(command.job_key) == order:
                del self._latest[command.job_key]
                taken += 1
                yield command

    def forget(self, job_key: Key) -> None:
        """Nothing is due for this job any more."""
        self._latest.pop(job_key, None)

    def expect(self, when: datetime, command: DueCommand) -> None:
        order = next(self._order)
        self._latest[command.job_key] = order
        heapq.heappush(self._heap, (when, order, command))
        if len(self._heap) > 2 * len(self._latest) + OVERTAKEN:
            self._heap = [entry for entry in self._heap if self._latest.get(entry[2].job_key) == entry[1]]
            heapq.heapify(self._heap)


def _deadline(due: Due, event: events.JobActivated | events.JobDeadlineUpdated) -> None:
    due.expect(event.deadline, TimeOutJob(event.key, event.deadline))


def _failure(due: Due, event: events.JobFailed) -> None:
    if event.offered_at is None:
        due.forget(event.key)
    else:
        due.expect(event.offered_at, EndJobBackOff(event.key, event.offered_at))


def _end(
    due: Due, event: events.JobCompleted | events.JobCanceled | events.JobErrorThrown | events.JobYielded
) -> None:
    due.forget(event.key)


_NOTES: Mapping[type[events.Event], Callable[..., None]] = {
    events.JobActivated: _deadline,
    events.JobDeadlineUpdated: _deadline,
    events.JobFailed: _failure,
    events.JobCompleted: _end,
    events.JobCanceled: _end,
    events.JobErrorThrown: _end,
    events.JobYielded: _end,
}
