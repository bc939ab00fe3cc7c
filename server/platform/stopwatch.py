"""A thread's CPU time, for frequent readings."""

import time
from collections.abc import Callable


class ThreadStopwatch:
    """Returns the CPU seconds of the calling thread, which must always be the same.

    Reading the thread's CPU clock is a system call that takes longer than a small command. It is therefore
    read at most once per `grain` seconds; in between, the wall clock extrapolates. Readings are at most
    `grain` too high, never too low, and never decrease.
    """

    def __init__(
        self,
        *,
        grain: float = 0.025,
        worked: Callable[[], float] = time.thread_time,
        elapsed: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._grain = grain
        self._worked = worked
        self._elapsed = elapsed
        self._read_at = elapsed()
        self._read = self._told = worked()

    def __call__(self) -> float:
        now = self._elapsed()
        if now - self._read_at >= self._grain:
            self._read_at, self._read = now, self._worked()
        self._told = max(self._told, self._read + now - self._read_at)
        return self._told
