"""Timers of start events, each in the home partition of its process definition."""

from collections.abc import Iterator
from datetime import datetime

import msgspec

from server.engine.journal import Journal
from server.engine.keys import Key
from server.engine.messages import home_of
from server.engine.starts import Start


def timers_home(process_definition_key: Key, homes: int) -> int:
    """The home partition of the timers of a process definition, among the first `homes` partitions."""
    return home_of("", str(process_definition_key), homes)


# Tenant id, process id.
Name = tuple[str, str]


class StartTimer(msgspec.Struct, frozen=True, omit_defaults=True):
    """A timer start event of the latest version of a process.

    `repetitions` is the number of remaining firings, -1 for no end. `interval` is the time between them: a
    duration or a cron expression.
    """

    key: Key
    tenant_id: str
    process_definition_id: str
    process_definition_key: Key
    element_id: str
    due: datetime
    repetitions: int = 1
    interval: str = ""

    @property
    def name(self) -> Name:
        return self.tenant_id, self.process_definition_id

    @property
    def start(self) -> Start:
        return Start(self.process_definition_key, self.element_id)


class KnownStartTimers:
    """The active timers, and an index by process."""

    def __init__(self) -> None:
        self.timers: dict[Key, StartTimer] = {}
        self._keys: dict[Name, dict[Key, None]] = {}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, KnownStartTimers) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]  # mutable

    def of(self, name: Name) -> Iterator[StartTimer]:
        """The timers of a process, in the order of their keys; the caller may close each while iterating."""
        return (self.timers[key] for key in sorted(self._keys.get(name, ())))

    def open(self, timer: StartTimer, journal: Journal) -> None:
        """Add a timer, or replace the one with its key."""
        earlier = self.timers.get(timer.key)
        if earlier is None:
            journal.note(self._forget, timer)
        else:
            journal.note(self.take_in, earlier)
        self.take_in(timer)

    def close(self, timer: StartTimer, journal: Journal) -> None:
        journal.note(self.take_in, timer)
        self._forget(timer)

    def take_in(self, timer: StartTimer) -> None:
        """Add a timer that was read from the store or set."""
        self.timers[timer.key] = timer
        self._keys.setdefault(timer.name, {})[timer.key] = None

    def _forget(self, timer: StartTimer) -> None:
        del self.timers[timer.key]
        keys = self._keys[timer.name]
        del keys[timer.key]
        if not keys:
            del self._keys[timer.name]
