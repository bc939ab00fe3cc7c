"""The stopwatch of a thread tells its work, and reads the thread's clock rarely."""

import pytest

from server.platform.stopwatch import ThreadStopwatch

GRAIN = 0.005


class Clocks:
    """The clock on the wall and that of a thread, with the number of times that the latter was read."""

    def __init__(self) -> None:
        self.wall = 100.0
        self.thread = 1.0
        self.reads = 0
        self.stopwatch = ThreadStopwatch(grain=GRAIN, worked=self.worked, elapsed=lambda: self.wall)

    def worked(self) -> float:
        self.reads += 1
        return self.thread

    def work(self, seconds: float) -> None:
        self.wall += seconds
        self.thread += seconds

    def wait(self, seconds: float) -> None:
        self.wall += seconds


def test_work_counts() -> None:
    clocks = Clocks()
    began = clocks.stopwatch()
    for _ in range(100):
        clocks.work(0.001)
        clocks.stopwatch()
    assert clocks.stopwatch() - began == pytest.approx(0.1)


def test_the_time_of_others_does_not_count() -> None:
    clocks = Clocks()
    began = clocks.stopwatch()
    clocks.wait(10.0)
    assert clocks.stopwatch() - began == 0.0


def test_short_waits_count_as_work_until_the_next_reading_of_the_threads_clock() -> None:
    clocks = Clocks()
    began = clocks.stopwatch()
    for _ in range(1000):
        clocks.wait(GRAIN / 10)
        assert 0.0 <= clocks.stopwatch() - began < GRAIN


def test_time_never_goes_back() -> None:
    clocks = Clocks()
    told = clocks.stopwatch()
    for _ in range(100):
        clocks.wait(GRAIN * 0.9)
        clocks.work(GRAIN * 0.3)
        told, before = clocks.stopwatch(), told
        assert told >= before


def test_the_threads_clock_is_read_once_in_a_grain() -> None:
    clocks = Clocks()
    clocks.reads = 0
    for _ in range(1000):
        clocks.work(GRAIN / 100)
        clocks.stopwatch()
    assert clocks.reads <= 1000 / 100
