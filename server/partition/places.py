"""Bounds on waiting callers: one for all, and one for each tenant."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from server.platform.errors import ResourceExhausted


class Places:
    """At most `most` callers may wait, and `most_of_one` of each tenant; `waiters` names them in error messages."""

    def __init__(self, most: int, most_of_one: int, waiters: str) -> None:
        self._most = most
        self._most_of_one = most_of_one
        self._waiters = waiters
        self._taken: Counter[str] = Counter()
        self._count = 0

    @property
    def taken(self) -> int:
        return self._count

    def take(self, tenant_id: str) -> None:
        """Raises ResourceExhausted when a bound is reached."""
        if self._count >= self._most:
            raise ResourceExhausted(f"{self._most} {self._waiters} wait already")
        if self._taken[tenant_id] >= self._most_of_one:
            raise ResourceExhausted(f"{self._most_of_one} {self._waiters} of the tenant wait already")
        self._taken[tenant_id] += 1
        self._count += 1

    def free(self, tenant_id: str) -> None:
        self._count -= 1
        self._taken[tenant_id] -= 1
        if not self._taken[tenant_id]:
            del self._taken[tenant_id]

    @contextmanager
    def one(self, tenant_id: str) -> Iterator[None]:
        """Take a place while the block runs."""
        self.take(tenant_id)
        try:
            yield
        finally:
            self.free(tenant_id)
