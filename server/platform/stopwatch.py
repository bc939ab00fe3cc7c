"""How long a thread has worked, for what asks often."""

import time
from collections.abc import Callable


class ThreadStopwatch:
    """Tells the seconds that the calling thread has worked; always called by the same thread.

    A thread's own clock is a call into the kernel, which takes longer than a small command. So it is read once in
    `grain` seconds at the most, and in between the clock on the wall goes on from there: what it tells is too much by
    less than `grain`, never too little, and never less than before.
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
