"""EventService."""

from collections.abc import Sequence
from datetime import timedelta

from gnomon.identity.v1 import event_service_pb2 as pb
from identity.access.callers import Actor
from identity.access.rpc.admission import Admission
from identity.access.rpc.operations import Operations, named
from identity.administration.event_reader import EventFilter, EventPage, EventReader, Readmit
from identity.foundation.events.event import Event, milliseconds_of
from identity.foundation.events.events import Events
from identity.foundation.events.kinds import EventType, Level
from identity.foundation.tenants import Tenant
from server.platform.clock import Clock

_MILLISECONDS = 1000


class EventServicer(Operations):
    def __init__(self, admission: Admission, *, reader: EventReader, events: Events, clock: Clock) -> None:
        self._reader = reader
        self._events = events
        self._clock = clock
        super().__init__(
            admission,
            {
                pb.ListEventsRequest: named(self._between, since="from"),
                pb.AwaitEventsRequest: named(self._following, wait="wait_secs"),
                pb.EmitTestEventRequest: self._test,
            },
            names={"typ": "type", "id": "event_id", "position": "id", "timestamp": "milliseconds"},
        )

    async def _between(
        self, tenant: Tenant, since: int, until: int | None, typ: str, level: Level = Level.INFO
    ) -> Sequence[Event]:
        end = milliseconds_of(self._clock.now()) + 1
        if until is not None:
            end = min(end, until * _MILLISECONDS)
        wanted = EventFilter(level, typ)
        return (await self._reader.between(tenant, since * _MILLISECONDS, end, wanted=wanted))[::-1]

    async def _following(
        self,
        tenant: Tenant,
        after: str,
        *,
        readmit: Readmit,
        latest: int,
        wait: timedelta,
        level: Level = Level.INFO,
    ) -> EventPage:
        wanted = EventFilter(level)
        if not after:
            return await self._reader.latest(tenant, latest, wanted=wanted)
        return await self._reader.following(tenant, after, wanted=wanted, wait=wait, readmit=readmit)

    async def _test(self, tenant: Tenant, peer_address: str, actor: Actor) -> None:
        await self._events.emit(tenant.tenant_id, EventType.TEST, ip=peer_address or None, actor=actor)
