from dataclasses import dataclass
from datetime import timedelta

from identity.foundation.events.config import EventsConfig
from identity.foundation.events.event import EVENTS, KEPT_FOR, Event
from identity.foundation.events.events import Events
from identity.foundation.events.kinds import EVENT_KINDS, EventType, Level
from identity.foundation.randomness import SystemRandomness
from server.platform.call import TenantId
from server.platform.clock import VirtualClock
from server.platform.errors import Unavailable
from server.platform.records import Kind, RecordStore
from server.platform.records.memory import MemoryRecords, MemoryRecordStore
from tests.identity.crypto.keys.rings import ACME, NOON, UMBRELLA


def emitting(store: RecordStore, clock: VirtualClock, config: EventsConfig | None = None) -> Events:
    levels = (config or EventsConfig()).levels
    return Events(store, levels, clock=clock, randomness=SystemRandomness())


async def test_events_of_a_tenant_come_in_their_order_and_end_after_a_month() -> None:
    clock = VirtualClock(pinned=NOON)
    store = MemoryRecordStore(clock)
    events = emitting(store, clock)
    for number in range(20):
        await events.emit(ACME, EventType.JWKS_ROTATED, data=number)
        clock.advance(timedelta(milliseconds=1))
    await events.emit(UMBRELLA, EventType.JWKS_ROTATED, ip="192.0.2.1", text="t")

    found = await store.of(EVENTS).page(ACME)

    assert [event.data for event in found] == list(range(20))
    clock.pin(NOON + KEPT_FOR)
    assert len(await store.of(EVENTS).page(ACME)) == 19
    (other,) = await store.of(EVENTS).page(UMBRELLA)
    assert (other.ip, other.data, other.text) == ("192.0.2.1", None, "t")


async def test_the_level_is_the_configured_one() -> None:
    clock = VirtualClock(pinned=NOON)
    store = MemoryRecordStore(clock)

    await emitting(store, clock, EventsConfig(level_jwks_rotate=Level.CRITICAL)).emit(
        ACME, EventType.JWKS_ROTATED
    )

    assert [event.level for event in await store.of(EVENTS).page(ACME)] == [Level.CRITICAL]


def test_every_type_has_its_row_and_its_level() -> None:
    assert set(EventType) == EVENT_KINDS.keys() == EventsConfig().levels.keys()
    assert len({kind.number for kind in EVENT_KINDS.values()}) == len(EVENT_KINDS)
    assert [level.severity for level in Level] == [0, 1, 2, 3]


@dataclass
class Away:
    """A store that is unavailable."""

    clock: VirtualClock

    def of(self, kind: Kind[Event]) -> "Unreachable":
        return Unreachable(kind, self.clock)


class Unreachable(MemoryRecords[Event]):
    async def insert(self, record: Event) -> Event:
        raise Unavailable(f"the database does not take {record.type}")


async def test_an_event_that_cannot_be_kept_stops_nobody() -> None:
    clock = VirtualClock(pinned=NOON)

    await emitting(Away(clock), clock).emit(TenantId("acme"), EventType.JWKS_ROTATED)  # type: ignore[arg-type]  # of events alone
