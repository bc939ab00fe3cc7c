"""Threads for work that is too long for the event loop, with a bounded queue."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from server.platform.errors import ResourceExhausted

P = ParamSpec("P")
T = TypeVar("T")


class Threads:
    """A thread pool; `close` cancels waiting work. `name` describes the work, in the plural."""

    def __init__(self, name: str, workers: int, *, most_waiting: int) -> None:
        self._name = name
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix=name)
        self._most_waiting = most_waiting
        self._waiting = 0

    async def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run work in a thread; raises ResourceExhausted if `most_waiting` callers already wait."""
        if self._waiting >= self._most_waiting:
            raise ResourceExhausted(f"{self._most_waiting} {self._name} wait already")
        self._waiting += 1
        done = asyncio.wrap_future(self._pool.submit(work, *args, **kwargs))
        done.add_done_callback(self._leave)
        # A cancelled caller's work keeps its place, because its arguments stay in the pool's queue.
        return await asyncio.shield(done)

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _leave(self, _done: asyncio.Future[T]) -> None:
        self._waiting -= 1
