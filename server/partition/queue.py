"""Queue of a partition: bounded, and fair among tenants.

Waiting tenants take turns, one command each, so a tenant with a thousand commands delays the others by one.
Each tenant has its own bounds, in commands and in octets, so one tenant cannot fill the queue. Slices of
postponed work yield to the commands of their tenant.
"""

import sys
from collections import Counter, OrderedDict, deque
from collections.abc import Mapping
from typing import Final, Generic, Protocol, TypeVar

from server.platform.errors import ResourceExhausted


class TenantEntry(Protocol):
    @property
    def tenant_id(self) -> str: ...

    @property
    def octets(self) -> int: ...

    @property
    def is_slice(self) -> bool:
        """Whether it continues work that an earlier command postponed."""
        ...


COMMANDS_PER_SLICE: Final = 16
"""The number of commands of a tenant that precede a slice of its postponed work, while that many wait."""

W = TypeVar("W", bound=TenantEntry)


class FairQueue(Generic[W]):
    """At most `most` entries wait, and `most_of_one` of each tenant; `urgent` entries come first and are not bounded.

    They have at most `most_octets` together, and `most_octets_of_one` of each tenant. An entry that is larger
    than that waits alone. `reserve` takes the place of an entry that comes later, and `release` gives it up.
    """

    def __init__(
        self,
        most: int,
        most_of_one: int,
        *,
        most_octets: int = sys.maxsize,
        most_octets_of_one: int = sys.maxsize,
    ) -> None:
        self._most = most
        self._most_of_one = most_of_one
        self._most_octets = most_octets
        self._most_octets_of_one = most_octets_of_one
        self._octets = 0
        self._octets_of: Counter[str] = Counter()
        self._urgent: deque[W] = deque()
        self._lines: OrderedDict[str, _Line[W]] = OrderedDict()
        self._count = 0
        self._reserved: Counter[str] = Counter()

    @property
    def reserved(self) -> int:
        """The number of entries that come later."""
        return self._reserved.total()

    def __len__(self) -> int:
        return self._count + len(self._urgent)

    def counts(self) -> Mapping[str, int]:
        """The number of entries by tenant, with those that come later; urgent ones count under the empty id."""
        waiting = {tenant_id: len(line) for tenant_id, line in self._lines.items()}
        return Counter(waiting) + self._reserved + Counter({"": len(self._urgent)})

    def put(self, entry: W) -> None:
        """Add an entry; raises ResourceExhausted when a bound is reached."""
        self._expect_room(entry)
        self.add(entry)

    def reserve(self, entry: W) -> None:
        """Take the place of an entry; raises ResourceExhausted when a bound is reached."""
        self._expect_room(entry)
        self._reserved[entry.tenant_id] += 1
        self._weigh(entry, 1)

    def release(self, entry: W) -> None:
        """Give up the place of an entry, before it is added or because it does not come."""
        self._reserved[entry.tenant_id] -= 1
        if not self._reserved[entry.tenant_id]:
            del self._reserved[entry.tenant_id]
        self._weigh(entry, -1)

    def _expect_room(self, entry: W) -> None:
        tenant_id = entry.tenant_id
        if self._count + self.reserved >= self._most:
            raise ResourceExhausted(f"{self._most} commands wait already")
        line = self._lines.get(tenant_id)
        commands = len(line.commands) if line is not None else 0
        if commands + self._reserved[tenant_id] >= self._most_of_one:
            raise ResourceExhausted(f"{self._most_of_one} commands of the tenant wait already")
        if self._octets and self._octets + entry.octets > self._most_octets:
            raise ResourceExhausted(f"commands with {self._octets} bytes wait already")
        waiting = self._octets_of[tenant_id]
        if waiting and waiting + entry.octets > self._most_octets_of_one:
            raise ResourceExhausted(f"commands of the tenant with {waiting} bytes wait already")

    def add(self, entry: W) -> None:
        """Add an entry that is bounded elsewhere."""
        self._line(entry.tenant_id).put(entry)
        self._note(entry, 1)

    def put_back(self, entries: list[W]) -> None:
        """Put back entries that could not be served; their tenants come next, in the order of the entries."""
        for entry in reversed(entries):
            self._line(entry.tenant_id).put_back(entry)
            self._lines.move_to_end(entry.tenant_id, last=False)
            self._note(entry, 1)

    def put_first(self, entries: list[W]) -> None:
        """Put entries back before all others, in their order."""
        self._urgent.extendleft(reversed(entries))

    def put_urgent(self, entry: W) -> None:
        self._urgent.append(entry)

    def take(self) -> W:
        """Remove and return the next entry; the queue must not be empty."""
        if self._urgent:
            return self._urgent.popleft()
        tenant_id, line = next(iter(self._lines.items()))
        entry = line.take()
        self._note(entry, -1)
        if line:
            self._lines.move_to_end(tenant_id)
        else:
            del self._lines[tenant_id]
        return entry

    def _line(self, tenant_id: str) -> "_Line[W]":
        line = self._lines.get(tenant_id)
        if line is None:
            line = self._lines[tenant_id] = _Line()
        return line

    def _note(self, entry: W, sign: int) -> None:
        self._count += sign
        self._weigh(entry, sign)

    def _weigh(self, entry: W, sign: int) -> None:
        if entry.octets:
            self._octets += sign * entry.octets
            self._octets_of[entry.tenant_id] += sign * entry.octets
            if not self._octets_of[entry.tenant_id]:
                del self._octets_of[entry.tenant_id]

    def clear(self) -> list[W]:
        """Empty the queue, and return its entries."""
        return [self.take() for _ in range(len(self))]


class _Line(Generic[W]):
    """The waiting entries of one tenant: after `COMMANDS_PER_SLICE` commands, or when none waits, comes one slice."""

    __slots__ = ("_passed", "_slices", "commands")

    def __init__(self) -> None:
        self.commands: deque[W] = deque()
        self._slices: deque[W] = deque()
        # The number of commands since the last slice.
        self._passed = 0

    def __len__(self) -> int:
        return len(self.commands) + len(self._slices)

    def put(self, entry: W) -> None:
        (self._slices if entry.is_slice else self.commands).append(entry)

    def put_back(self, entry: W) -> None:
        """Put back an entry that was taken; the latest one first."""
        if entry.is_slice:
            self._slices.appendleft(entry)
            self._passed = COMMANDS_PER_SLICE
        else:
            self.commands.appendleft(entry)
            self._passed = max(self._passed - 1, 0)

    def take(self) -> W:
        if self._slices and (not self.commands or self._passed >= COMMANDS_PER_SLICE):
            self._passed = 0
            return self._slices.popleft()
        self._passed += 1
        return self.commands.popleft()
