"""Everything that waits for its turn in a partition: commands in the queue, and scheduled ones that are due."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress

from server.partition.due import Due
from server.partition.queue import FairQueue
from server.partition.turn import Entry, Growth
from server.platform.clock import Clock


class WaitingCommands:
    """True while something waits. Callers and other partitions put, the loop takes."""

    def __init__(self, queue: FairQueue[Entry], due: Due, clock: Clock) -> None:
        self._queue = queue
        self._due = due
        self._clock = clock
        self._changed = asyncio.Event()
        self._due_in_hand = 0

    def __bool__(self) -> bool:
        return bool(self._queue) or self._due.has_come(self._clock.now())

    @property
    def counts(self) -> Mapping[str, int]:
        """How many commands of each tenant are in the queue."""
        return self._queue.counts()

    @property
    def has_due(self) -> bool:
        """Whether a scheduled command is due that is not processed yet."""
        return bool(self._due_in_hand) or self._due.has_come(self._clock.now())

    @property
    def due_lag_seconds(self) -> float:
        """How long ago the earliest scheduled command became due that is not taken yet."""
        due = self._due.next
        return max((self._clock.now() - due).total_seconds(), 0.0) if due is not None else 0.0

    # Callers and other partitions

    def put(self, entry: Entry) -> None:
        """Raises ResourceExhausted when there is no room."""
        self._queue.put(entry)
        self._changed.set()

    def put_urgent(self, entries: Iterable[Entry]) -> None:
        """Have these served before all others; they have a bound elsewhere."""
        for entry in entries:
            self._queue.put_urgent(entry)
        self._changed.set()

    def wake(self) -> None:
        """Have the loop look again: the clock or the state of the partition has changed."""
        self._changed.set()

    # The loop

    async def change(self) -> None:
        """Return when there may be something to do: a command came, or a scheduled one is due."""
        self._changed.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(self._seconds_until_due()):
                await self._changed.wait()

    def _seconds_until_due(self) -> float | None:
        instant = self._due.next
        return self._clock.seconds_until(instant) if instant is not None else None

    def take(self, most: int) -> list[Entry]:
        """The next entries, `most` at the most; entries whose caller went away are dropped."""
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
        """Schedule what follows from events, and count scheduled commands that were taken and are processed now."""
        self._due.observe(growth.events)
        if self._due_in_hand:
            self._due_in_hand -= _due(taken) - _due(growth.left) - _due(growth.postponed)

    def put_left(self, left: Sequence[Entry]) -> None:
        """Put back what a turn left: commands of other partitions keep their order, others lead their tenant's line."""
        self._queue.put_first([entry for entry in left if entry.incoming is not None])
        self._queue.put_back([entry for entry in left if entry.incoming is None])

    def put_first(self, entries: Iterable[Entry]) -> None:
        """Put back, before all others, what had its turn already."""
        self._queue.put_first([entry for entry in entries if entry.is_wanted])

    def clear(self) -> list[Entry]:
        """Empty the queue; what was in it."""
        return self._queue.clear()


def _due(entries: Iterable[Entry]) -> int:
    return sum(entry.is_due for entry in entries)
