"""Threads that tenants use in turn: a tenant with much work always leaves a thread and a queue place to others."""

import asyncio
from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from server.platform.errors import ResourceExhausted
from server.platform.threads import Threads

P = ParamSpec("P")
T = TypeVar("T")


class TenantThreads:
    """A thread pool shared by tenants; at most `most_waiting` callers wait, and `most_of_one` of each tenant.

    A tenant occupies all threads but one at most. With `is_short` it may occupy all: others wait for the work that runs,
    not for what waits. A caller waits at most `longest_wait` seconds. `name` describes the work, in the plural.
    """

    def __init__(
        self,
        name: str,
        workers: int,
        *,
        most_waiting: int,
        most_of_one: int,
        is_short: bool = False,
        longest_wait: float | None = None,
    ) -> None:
        self._name = name
        self._workers = workers
        self._most_waiting = most_waiting
        self._most_of_one = most_of_one
        self._most_running = workers if is_short else max(workers - 1, 1)
        self._longest_wait = longest_wait
        self._threads = Threads(name, workers, most_waiting=workers)
        self._lines: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()
        self._running: Counter[str] = Counter()

    async def run(self, tenant_id: str, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run work in a thread; raises ResourceExhausted if too many callers wait, or this one too long.

        Work that has begun continues even if its caller is cancelled.
        """
        await self._turn(tenant_id)
        running = asyncio.ensure_future(self._threads.run(work, *args, **kwargs))
        running.add_done_callback(lambda _: self._leave(tenant_id))
        return await asyncio.shield(running)

    def close(self) -> None:
        self._threads.close()

    async def _turn(self, tenant_id: str) -> None:
        """Wait until the tenant may use a thread."""
        if sum(map(len, self._lines.values())) >= self._most_waiting:
            raise _exhausted(f"{self._most_waiting} {self._name} wait already")
        if len(self._lines.get(tenant_id, ())) >= self._most_of_one:
            raise _exhausted(f"{self._most_of_one} {self._name} of the tenant wait already")
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._lines.setdefault(tenant_id, deque()).append(turn)
        self._begin_next()
        try:
            async with asyncio.timeout(self._longest_wait):
                await self._waited(tenant_id, turn)
        except TimeoutError as error:
            raise _exhausted(
                f"too many {self._name} wait: none ran in {self._longest_wait:g} seconds"
            ) from error

    async def _waited(self, tenant_id: str, turn: asyncio.Future[None]) -> None:
        try:
            await turn
        except asyncio.CancelledError:
            self._give_up(tenant_id, turn)
            raise

    def _give_up(self, tenant_id: str, turn: asyncio.Future[None]) -> None:
        """Release the place or the thread of a cancelled caller."""
        if not turn.cancelled():
            self._leave(tenant_id)
            return
        if turn in self._lines.get(tenant_id, ()):
            self._take(tenant_id, turn)

    def _begin_next(self) -> None:
        """Assign free threads to the waiting tenants in turn."""
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
        """Take a turn out of its tenant's queue, and move the tenant behind the others."""
        line = self._lines[tenant_id]
        line.remove(turn)
        if line:
            self._lines.move_to_end(tenant_id)
        else:
            del self._lines[tenant_id]

    def _may_begin(self, tenant_id: str) -> bool:
        return self._running[tenant_id] < self._most_running

    def _leave(self, tenant_id: str) -> None:
        self._running[tenant_id] -= 1
        if not self._running[tenant_id]:
            del self._running[tenant_id]
        self._begin_next()


def _exhausted(detail: str) -> ResourceExhausted:
    return ResourceExhausted(detail, retry_after_secs="1")
