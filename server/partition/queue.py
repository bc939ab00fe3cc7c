"""What waits for a partition: bounded, and fair among tenants.

The tenants that wait are served in turns, one command each, so that one that sends a thousand delays the others by one.
"""

from collections import OrderedDict, deque
from typing import Generic, Protocol, TypeVar

from server.platform.errors import ResourceExhausted


class Waiting(Protocol):
    @property
    def tenant_id(self) -> str: ...


W = TypeVar("W", bound=Waiting)


class FairQueue(Generic[W]):
    """At most so many wait; `urgent` ones go before all others and have no bound of their own."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._urgent: deque[W] = deque()
        self._lines: OrderedDict[str, deque[W]] = OrderedDict()
        self._count = 0

    def __len__(self) -> int:
        return self._count + len(self._urgent)

    def put(self, entry: W) -> None:
        """Raises ResourceExhausted when there is no room."""
        if self._count >= self._most:
            raise ResourceExhausted(f"{self._most} commands wait already")
        line = self._lines.get(entry.tenant_id)
        if line is None:
            line = self._lines[entry.tenant_id] = deque()
        line.append(entry)
        self._count += 1

    def put_first(self, entries: list[W]) -> None:
        """Put back, in their order, what had its turn already."""
        self._urgent.extendleft(reversed(entries))

    def put_urgent(self, entry: W) -> None:
        self._urgent.append(entry)

    def take(self) -> W:
        """Take the next one; there has to be one."""
        if self._urgent:
            return self._urgent.popleft()
        tenant_id, line = next(iter(self._lines.items()))
        entry = line.popleft()
        self._count -= 1
        if line:
            self._lines.move_to_end(tenant_id)
        else:
            del self._lines[tenant_id]
        return entry

    def clear(self) -> list[W]:
        """Empty the queue; what was in it."""
        return [self.take() for _ in range(len(self))]
