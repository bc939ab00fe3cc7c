"""The clock of the database: nodes with other system clocks follow it, also while the database is away."""

import logging
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest

from server.platform.clock import DatabaseClock, VirtualClock
from server.platform.errors import Unavailable
from server.platform.postgres.database_time import MEASUREMENTS, correct, following

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


@dataclass
class Monotonic:
    seconds: float = 5_000.0

    def __call__(self) -> float:
        return self.seconds


@dataclass
class Told:
    """A database whose statements take the seconds of `trips`, before and after it reads its clock, then no time."""

    monotonic: Monotonic
    ahead: timedelta = timedelta()
    trips: list[tuple[float, float]] = field(default_factory=list)
    is_away: bool = False

    async def fetch(self, _text: str, *_arguments: object) -> list[tuple[datetime]]:
        if self.is_away:
            raise Unavailable("the database does not answer")
        there, back = self.trips.pop(0) if self.trips else (0.0, 0.0)
        self.monotonic.seconds += there
        found = true_time(self.monotonic) + self.ahead
        self.monotonic.seconds += back
        return [(found,)]

    async def execute(self, _text: str) -> str:
        raise AssertionError("nothing is executed")


def true_time(monotonic: Monotonic) -> datetime:
    return NOON + timedelta(seconds=monotonic.seconds - 5_000)


@pytest.fixture
def monotonic() -> Monotonic:
    return Monotonic()


@pytest.fixture
def database(monotonic: Monotonic) -> Told:
    return Told(monotonic)


@pytest.fixture
def clock(monotonic: Monotonic) -> DatabaseClock:
    """The clock of a node whose system clock is an hour fast and stands still."""
    return DatabaseClock(VirtualClock(pinned=NOON + HOUR), monotonic=monotonic)


def test_an_uncorrected_clock_is_the_system_clock(clock: DatabaseClock) -> None:
    assert (clock.now(), clock.offset) == (NOON + HOUR, timedelta())


async def test_a_node_with_a_fast_clock_has_the_databases_time(clock: DatabaseClock, database: Told) -> None:
    await correct(clock, database)

    assert (clock.now(), clock.offset) == (NOON, -HOUR)


async def test_the_time_goes_on_between_corrections(
    clock: DatabaseClock, database: Told, monotonic: Monotonic
) -> None:
    await correct(clock, database)

    monotonic.seconds += 90

    assert clock.now() == NOON + timedelta(seconds=90)
    assert clock.seconds_until(NOON + timedelta(seconds=100)) == 10
    assert clock.seconds_until(NOON) == 0


async def test_of_several_measurements_the_shortest_counts(
    clock: DatabaseClock, monotonic: Monotonic
) -> None:
    slow_and_uneven = Told(
        monotonic, trips=[(0.75, 0.25), (0.5, 0.0), (0.125, 0.125), (0.0, 0.5), (0.0, 1.0)]
    )

    await correct(clock, slow_and_uneven)

    assert clock.now() == true_time(monotonic)


async def test_a_measurement_that_the_clock_does_not_contradict_changes_nothing(
    clock: DatabaseClock, database: Told, monotonic: Monotonic
) -> None:
    await correct(clock, database)
    imprecise = Told(monotonic, ahead=timedelta(milliseconds=40), trips=[(0.05, 0.05)] * MEASUREMENTS)

    await correct(clock, imprecise)

    assert clock.now() == true_time(monotonic)


async def test_a_correction_to_an_earlier_time_lets_the_clock_stand_still(
    clock: DatabaseClock, database: Told, monotonic: Monotonic
) -> None:
    await correct(clock, database)
    before = clock.now()
    database.ahead = -timedelta(seconds=5)

    await correct(clock, database)

    assert clock.now() == before
    monotonic.seconds += 4
    assert clock.now() == before
    monotonic.seconds += 3
    assert clock.now() == before + timedelta(seconds=2)


async def test_a_step_is_logged(
    clock: DatabaseClock, database: Told, caplog: pytest.LogCaptureFixture
) -> None:
    await correct(clock, database)
    caplog.clear()
    database.ahead = timedelta(seconds=30)

    with caplog.at_level(logging.WARNING):
        await correct(clock, database)

    [record] = caplog.records
    assert record.__dict__["correction_seconds"] == 30


async def test_the_last_time_holds_while_the_database_is_away(
    clock: DatabaseClock, database: Told, monotonic: Monotonic
) -> None:
    await correct(clock, database)
    database.is_away = True
    monotonic.seconds += 60

    with pytest.raises(Unavailable):
        await correct(clock, database)

    assert clock.now() == true_time(monotonic)


async def test_nothing_is_served_before_the_first_correction(clock: DatabaseClock, database: Told) -> None:
    database.is_away = True

    with pytest.raises(Unavailable):
        async with following(clock, database):
            raise AssertionError("the time is unknown")
