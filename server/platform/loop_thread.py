"""Runs a coroutine in a thread with its own event loop, which a busy main loop cannot starve.

The interpreter switches threads every few milliseconds, so the thread continues while the process computes.
Data that both threads share must be replaced as a whole.
"""

import asyncio
import logging
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextlib import suppress
from types import TracebackType
from typing import Self

logger = logging.getLogger(__name__)

# Wait this long for the thread to end; as a daemon, it does not keep the process alive.
JOIN_SECONDS = 5.0

Work = Callable[[], Coroutine[None, None, None]]
_Begun = tuple[asyncio.AbstractEventLoop, "asyncio.Task[None] | None"]


class LoopThread:
    """Runs `work` in a thread of this name during the `async with` block, and cancels it at the end of the block."""

    def __init__(self, name: str, work: Work) -> None:
        self._name = name
        self._work = work
        self._begun: Future[_Begun] = Future()
        self._ended: Future[None] = Future()

    async def __aenter__(self) -> Self:
        threading.Thread(target=self._run, name=self._name, daemon=True).start()
        self._loop, self._task = await asyncio.wrap_future(self._begun)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(RuntimeError):  # the loop is closed if the work has already ended
            self._loop.call_soon_threadsafe(self._cancel)
        ended = asyncio.wrap_future(self._ended)
        await asyncio.wait((ended,), timeout=JOIN_SECONDS)
        if not ended.done():
            logger.error("a thread does not end", extra={"name_of_thread": self._name})

    def _cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()

    def _run(self) -> None:
        try:
            asyncio.run(self._main())
        except Exception as error:
            if not self._begun.done():
                self._begun.set_exception(error)
            logger.exception("a thread failed", extra={"name_of_thread": self._name})
        finally:
            self._ended.set_result(None)

    async def _main(self) -> None:
        self._begun.set_result((asyncio.get_running_loop(), asyncio.current_task()))
        with suppress(asyncio.CancelledError):
            await self._work()
