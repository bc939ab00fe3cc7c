"""Everything that waits for its turn in a partition: queued commands, and scheduled commands that are due."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress

from server.partition.due import Due
from server.partition.queue import FairQueue
from server.partition.turn import Entry, Growth
from server.platform.clock import Clock


class WaitingCommands:
    """True while a command waits. Callers and other partitions put commands, the loop takes them."""

    def __init__(self, queue: FairQueue[Entry], due: Due, clock: Clock) -> None:
        self._queue = queue
        self._due = due
        self._clock = clock
        self._changed = asyncio.Event()
        self._due_in_hand = 0

    def __bool__(self) -> bool:
        return bool(self._queue) or self._due.has_come(self._clock.now())

    @property
    def is_expecting(self) -> bool:
        """Whether an accepted command is not in the queue yet."""
        return self._queue.reserved > 0

    @property
    def counts(self) -> Mapping[str, int]:
        """The number of queued commands by tenant."""
        return self._queue.counts()

    @property
    def has_due(self) -> bool:
        """Whether a due command is not processed yet."""
        return bool(self._due_in_hand) or self._due.has_come(self._clock.now())

    @property
    def due_lag_seconds(self) -> float:
        """The time since the earliest due command that was not taken became due."""
        due = self._due.next
        return max((self._clock.now() - due).total_seconds(), 0.0) if due is not None else 0.0

    # Callers and other partitions

    def put(self, entry: Entry) -> None:
        """Add an entry; raises ResourceExhausted when the queue is full."""
        self._queue.put(entry)
        self._changed.set()

    def expect(self, entry: Entry) -> None:
        """Take the place of an entry that comes when it is looked up; raises ResourceExhausted when the queue is full."""
        self._queue.reserve(entry)

    def put_expected(self, entry: Entry) -> None:
        """Add an expected entry, unless it is answered already."""
        self._queue.release(entry)
        if entry.is_wanted:
            self._queue.add(entry)
        self._changed.set()

    def put_urgent(self, entries: Iterable[Entry]) -> None:
        """Put entries before all others; they are bounded elsewhere."""
        for entry in entries:
            self._queue.put_urgent(entry)
        self._changed.set()

    def wake(self) -> None:
        """Wake the loop after a change of the clock or of the partition's state."""
        self._changed.set()

    # The loop

    async def change(self) -> None:
        """Return when a command has arrived or a scheduled one may be due."""
        self._changed.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(self._seconds_until_due()):
                await self._changed.wait()

    def _seconds_until_due(self) -> float | None:
        instant = self._due.next
        return self._clock.seconds_until(instant) if instant is not None else None

    def take(self, most: int) -> list[Entry]:
        """The next entries, at most `most`; entries whose callers went away are dropped."""
        for command in self._due.take(self._clock.now(), most - self._due_in_hand):
            self._queue.add(Entry(command, is_due=True))
            self._due_in_hand += 1
        entries: list[Entry] = []
        room = most
        while self._queue and room > 0:
            entry = self._queue.take()
            if entry.is_wanted:
                entries.append(entry)
                room -= entry.share
        return entries

    def note_processed(self, growth: Growth, taken: Iterable[Entry]) -> None:
        """Schedule commands for the events, and update the count of due commands that are taken but not processed."""
        self._due.observe(growth.events)
        if self._due_in_hand:
            self._due_in_hand -= _due(taken) - _due(growth.left) - _due(growth.postponed)

    def put_left(self, left: Sequence[Entry]) -> None:
        """Put back what a turn left: commands of other partitions come first, others lead their tenant's queue."""
        self._queue.put_first([entry for entry in left if entry.incoming is not None])
        self._queue.put_back([entry for entry in left if entry.incoming is None])

    def put_first(self, entries: Iterable[Entry]) -> None:
        """Put back entries before all others."""
        self._queue.put_first([entry for entry in entries if entry.is_wanted])

    def clear(self) -> list[Entry]:
        """Empty the queue, and return its entries."""
        return self._queue.clear()


def _due(entries: Iterable[Entry]) -> int:
    return sum(entry.is_due for entry in entries)
