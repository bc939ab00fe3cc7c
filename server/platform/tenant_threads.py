"""Threads for work of tenants, which take turns: one that asks for much leaves a thread and a place to the others."""

import asyncio
from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from server.platform.errors import ResourceExhausted
from server.platform.threads import Threads

P = ParamSpec("P")
T = TypeVar("T")


class TenantThreads:
    """At most `most_waiting` callers wait for a thread, and `most_of_one` of each tenant.

    A tenant has all threads but one at a time. The name is that of the work, in plural.
    """

    def __init__(self, name: str, workers: int, *, most_waiting: int, most_of_one: int) -> None:
        self._name = name
        self._workers = workers
        self._most_waiting = most_waiting
        self._most_of_one = most_of_one
        self._threads = Threads(name, workers, most_waiting=workers)
        self._lines: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()
        self._running: Counter[str] = Counter()

    async def run(self, tenant_id: str, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Raises ResourceExhausted when too many wait already. Work that has begun goes on without its caller."""
        await self._turn(tenant_id)
        running = asyncio.ensure_future(self._threads.run(work, *args, **kwargs))
        running.add_done_callback(lambda _: self._leave(tenant_id))
        return await asyncio.shield(running)

    def close(self) -> None:
        self._threads.close()

    async def _turn(self, tenant_id: str) -> None:
        """Return when a thread is the tenant's."""
        if sum(map(len, self._lines.values())) >= self._most_waiting:
            raise ResourceExhausted(f"{self._most_waiting} {self._name} wait already")
        if len(self._lines.get(tenant_id, ())) >= self._most_of_one:
            raise ResourceExhausted(f"{self._most_of_one} {self._name} of the tenant wait already")
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._lines.setdefault(tenant_id, deque()).append(turn)
        self._begin_next()
        try:
            await turn
        except asyncio.CancelledError:
            self._give_up(tenant_id, turn)
            raise

    def _give_up(self, tenant_id: str, turn: asyncio.Future[None]) -> None:
        """Free the place or the thread of a caller that is gone."""
        if not turn.cancelled():
            self._leave(tenant_id)
            return
        if turn in self._lines.get(tenant_id, ()):
            self._take(tenant_id, turn)

    def _begin_next(self) -> None:
        """Give free threads to the tenants that wait, one each in turn."""
        while self._running.total() < self._workers:
            tenant_id = next(filter(self._may_begin, self._lines), None)
            if tenant_id is None:
                return
            turn = self._lines[tenant_id][0]
            self._take(tenant_id, turn)
            if not turn.cancelled():
                self._running[tenant_id] += 1
                turn.set_result(None)

    def _take(self, tenant_id: str, turn: asyncio.Future[None]) -> None:
        """Take a turn out of its line; other tenants come before the rest of it."""
        line = self._lines[tenant_id]
        line.remove(turn)
        if line:
            self._lines.move_to_end(tenant_id)
        else:
            del self._lines[tenant_id]

    def _may_begin(self, tenant_id: str) -> bool:
        return self._running[tenant_id] < max(self._workers - 1, 1)

    def _leave(self, tenant_id: str) -> None:
        self._running[tenant_id] -= 1
        if not self._running[tenant_id]:
            del self._running[tenant_id]
        self._begin_next()
