"""What time brings: job deadlines and back-offs, earliest first.

An entry may have been overtaken; the engine then ignores its command. The entries follow from the events, so a
partition that recovers fills this from its documents.
"""

import heapq
from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import count

from server.engine import events
from server.engine.commands import Command, EndJobBackOff, TimeOutJob


class Due:
    def __init__(self) -> None:
        self._heap: list[tuple[datetime, int, Command]] = []
        self._order = count()

    @property
    def next(self) -> datetime | None:
        return self._heap[0][0] if self._heap else None

    def has_come(self, now: datetime) -> bool:
        return bool(self._heap) and self._heap[0][0] <= now

    def observe(self, happened: Iterable[events.Event]) -> None:
        for event in happened:
            if isinstance(event, events.JobActivated | events.JobDeadlineUpdated):
                self._push(event.deadline, TimeOutJob(event.key, event.deadline))
            elif isinstance(event, events.JobFailed) and event.offered_at is not None:
                self._push(event.offered_at, EndJobBackOff(event.key, event.offered_at))

    def take(self, now: datetime, most: int) -> Iterator[Command]:
        """Commands whose time has come, at most so many."""
        for _ in range(most):
            if not self.has_come(now):
                return
            yield heapq.heappop(self._heap)[2]

    def _push(self, when: datetime, command: Command) -> None:
        heapq.heappush(self._heap, (when, next(self._order), command))
