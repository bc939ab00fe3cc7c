"""Places for searches, statistics and lists that run in a process, so that no tenant and no user takes all of them.

A search beyond a bound waits for its turn, and is refused when it has waited too long. Tenants take turns at
free places; the searches of one user keep their order.
"""

import asyncio
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TypeVar

from server.platform.call import Call
from server.platform.errors import QuotaExhausted

T = TypeVar("T")

User = tuple[str, str]

RETRY_SECONDS = 1


@dataclass(frozen=True, slots=True)
class SearchesConfig:
    """[searches]: searches, statistics and lists that a process runs at a time, over every protocol: at most `max_running`, at most `max_tenant_running` in one tenant, and at most `max_user_running` of one user or client there.

    Further ones wait for `wait_seconds`, at most `max_tenant_waiting` in one tenant. Then they are refused with
    429 and `Retry-After`.
    """

    max_running: int = 10
    max_tenant_running: int = 6
    max_user_running: int = 4
    max_tenant_waiting: int = 500
    wait_seconds: float = 5.0

    def __post_init__(self) -> None:
        for name in ("max_running", "max_tenant_running", "max_user_running"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name}: expected at least 1, found {getattr(self, name)}")


@dataclass(slots=True, eq=False)
class _Waiting:
    user: User
    begun: asyncio.Future[None]


class SearchPlaces:
    """The places of one process."""

    def __init__(self, config: SearchesConfig) -> None:
        self._config = config
        self._tenants: Counter[str] = Counter()
        self._users: Counter[User] = Counter()
        self._lines: OrderedDict[str, deque[_Waiting]] = OrderedDict()

    @asynccontextmanager
    async def place(self, call: Call) -> AsyncIterator[None]:
        """A place for the block; raises QuotaExhausted if there is none in time."""
        user = (call.tenant_id, call.principal.subject)
        if self._has_place(user):
            self._take(user)
        else:
            await self._wait(user)
        try:
            yield
        finally:
            self._leave(user)

    async def _wait(self, user: User) -> None:
        tenant_id, most = user[0], self._config.max_tenant_waiting
        if len(self._lines.get(tenant_id, ())) >= most:
            raise _exhausted(f"{most} searches of the tenant wait already")
        waiting = _Waiting(user, asyncio.get_running_loop().create_future())
        self._lines.setdefault(tenant_id, deque()).append(waiting)
        try:
            async with asyncio.timeout(self._config.wait_seconds):
                await waiting.begun
        except TimeoutError as error:
            self._give_up(waiting)
            detail = (
                f"searches of the user or tenant took all of its places for {self._config.wait_seconds:g} s"
            )
            raise _exhausted(detail) from error
        except asyncio.CancelledError:
            self._give_up(waiting)
            raise

    def _give_up(self, waiting: _Waiting) -> None:
        """Leave the line, or the place that came at the same moment."""
        if waiting.begun.cancelled():
            self._remove(waiting)
        else:
            self._leave(waiting.user)

    def _has_place(self, user: User) -> bool:
        config = self._config
        return (
            self._users[user] < config.max_user_running
            and self._tenants[user[0]] < config.max_tenant_running
            and self._tenants.total() < config.max_running
        )

    def _take(self, user: User) -> None:
        self._users[user] += 1
        self._tenants[user[0]] += 1

    def _leave(self, user: User) -> None:
        _subtract(self._users, user)
        _subtract(self._tenants, user[0])
        while (waiting := self._next()) is not None:
            self._remove(waiting)
            self._take(waiting.user)
            waiting.begun.set_result(None)

    def _next(self) -> _Waiting | None:
        """The first waiting search that has a place, of the tenant whose turn it is."""
        for tenant_id, line in self._lines.items():
            if self._tenants[tenant_id] < self._config.max_tenant_running:
                may_begin = (each for each in line if not each.begun.done() and self._has_place(each.user))
                found = next(may_begin, None)
                if found is not None:
                    return found
        return None

    def _remove(self, waiting: _Waiting) -> None:
        """Take a search out of its tenant's line, and move the tenant behind the others."""
        tenant_id = waiting.user[0]
        line = self._lines[tenant_id]
        line.remove(waiting)
        if line:
            self._lines.move_to_end(tenant_id)
        else:
            del self._lines[tenant_id]


def _subtract(counts: Counter[T], item: T) -> None:
    counts[item] -= 1
    if not counts[item]:
        del counts[item]


def _exhausted(detail: str) -> QuotaExhausted:
    return QuotaExhausted(detail, retry_after_secs=str(RETRY_SECONDS))
