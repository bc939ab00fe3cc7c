from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from identity.administration.event_reader import MOST_AWAITED, EventFilter, EventReader
from identity.foundation.events.config import EventsConfig
from identity.foundation.events.event import KEPT_FOR, milliseconds_of
from identity.foundation.events.events import Events
from identity.foundation.events.kinds import EventType, Level
from identity.foundation.randomness import SystemRandomness
from identity.foundation.tenants import Tenant
from server.platform.clock import VirtualClock
from server.platform.records.memory import MemoryRecordStore
from tests.identity.crypto.keys.rings import ACME, NOON, UMBRELLA

TENANT = Tenant(ACME, "https://id.example.com/auth/v1/acme/")
OTHER = Tenant(UMBRELLA, "https://id.example.com/auth/v1/umbrella/")
ALL = EventFilter()


@dataclass
class Log:
    """Security events of a tenant, one a second; waiting advances the clock."""

    clock: VirtualClock = field(default_factory=lambda: VirtualClock(pinned=NOON))
    pauses: int = 0

    def __post_init__(self) -> None:
        store = MemoryRecordStore(self.clock)
        levels = EventsConfig().levels
        self.events = Events(store, levels, clock=self.clock, randomness=SystemRandomness())
        self.reader = EventReader(store, self.clock, self.pause)

    async def pause(self, seconds: float) -> None:
        self.pauses += 1
        self.clock.advance(timedelta(seconds=seconds))

    async def write(self, number: int, event_type: EventType = EventType.TEST) -> None:
        for data in range(number):
            await self.events.emit(ACME, event_type, data=data)
            self.clock.advance(timedelta(seconds=1))


@pytest.fixture
def log() -> Log:
    return Log()


async def between(log: Log, wanted: EventFilter = ALL, **bounds: int) -> list[int | None]:
    since, until = bounds.get("since", 0), bounds.get("until", 9_999)
    start = milliseconds_of(NOON)
    found = await log.reader.between(
        TENANT, start + since * 1000, start + until * 1000, wanted=wanted, most=bounds.get("most", 1000)
    )
    return [event.data for event in found]


async def test_a_range_has_its_beginning_and_not_its_end(log: Log) -> None:
    await log.write(5)

    assert await between(log, since=1, until=3) == [1, 2]


async def test_of_too_many_the_newest_are_listed(log: Log) -> None:
    await log.write(1005)

    assert await between(log, most=2) == [1003, 1004]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (EventFilter(level=Level.NOTICE), [0]),
        (EventFilter(level=Level.WARNING), []),
        (EventFilter(type="Test"), [0, 1]),
        (EventFilter(type="test"), []),
    ],
)
async def test_only_what_is_wanted_is_listed(log: Log, wanted: EventFilter, found: list[int]) -> None:
    await log.write(2)
    await log.write(1, EventType.FORCED_LOGOUT)

    assert await between(log, wanted) == found


async def test_the_latest_come_first_and_what_follows_begins_where_they_end(log: Log) -> None:
    await log.write(5)
    log.clock.advance(timedelta(days=3))
    await log.write(2)

    log.clock.advance(timedelta(seconds=1))
    latest = await log.reader.latest(TENANT, 3, wanted=ALL)
    await log.write(2)
    following = await log.reader.following(TENANT, latest.position, wanted=ALL)

    assert [event.data for event in latest.events] == [4, 0, 1]
    assert [event.data for event in following.events] == [0]


async def test_old_events_are_found_when_there_are_no_newer_ones(log: Log) -> None:
    await log.write(1)
    log.clock.advance(KEPT_FOR - timedelta(minutes=1))

    assert len((await log.reader.latest(TENANT, 3, wanted=ALL)).events) == 1
    assert (await log.reader.latest(TENANT, 0, wanted=ALL)).events == ()


async def test_an_event_is_told_of_when_its_place_is_settled(log: Log) -> None:
    await log.events.emit(ACME, EventType.TEST)
    before = await log.reader.following(TENANT, "", wanted=ALL)

    log.clock.advance(timedelta(milliseconds=1001))

    assert before.events == []
    assert len((await log.reader.following(TENANT, before.position, wanted=ALL)).events) == 1


async def test_following_waits_for_something_to_happen(log: Log) -> None:
    await log.events.emit(ACME, EventType.TEST)

    found = await log.reader.following(TENANT, "", wanted=ALL, wait=timedelta(seconds=15))

    assert (len(found.events), log.pauses) == (1, 2)


async def test_following_does_not_wait_for_ever(log: Log) -> None:
    found = await log.reader.following(TENANT, "", wanted=ALL, wait=timedelta(seconds=15))

    assert (found.events, log.pauses) == ([], 15)


async def test_what_is_not_wanted_is_passed_over_without_waiting(log: Log) -> None:
    await log.write(3 * MOST_AWAITED)
    await log.write(1, EventType.FORCED_LOGOUT)
    log.clock.advance(timedelta(seconds=1))

    found = await log.reader.following(
        TENANT, "", wanted=EventFilter(level=Level.NOTICE), wait=timedelta(seconds=15)
    )

    assert ([event.type for event in found.events], log.pauses) == ([EventType.FORCED_LOGOUT], 0)


async def test_nothing_is_told_twice_and_nothing_is_left_out(log: Log) -> None:
    await log.write(250)
    log.clock.advance(timedelta(seconds=1))
    position, told = "", []

    for _ in range(3):
        event_page = await log.reader.following(TENANT, position, wanted=ALL)
        position = event_page.position
        told += [event.data for event in event_page.events]

    assert told == list(range(250))


async def test_events_of_other_tenants_are_not_told(log: Log) -> None:
    await log.write(3)

    assert (await log.reader.latest(OTHER, 3, wanted=ALL)).events == []
