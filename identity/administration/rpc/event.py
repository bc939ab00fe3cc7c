"""EventService."""

from collections.abc import Sequence
from datetime import timedelta

from gnomon.identity.v1 import event_service_pb2 as pb
from identity.access.callers import Actor
from identity.access.rpc.admission import Admission
from identity.access.rpc.operations import Operations
from identity.access.rpc.records import message_of
from identity.administration.event_reader import EventFilter, EventPage, EventReader
from identity.foundation.events.event import Event, milliseconds_of
from identity.foundation.events.events import Events
from identity.foundation.events.kinds import EventType, Level
from identity.foundation.tenants import Tenant
from server.platform.clock import Clock

_LEVELS = {
    Level.INFO: pb.EVENT_LEVEL_INFO,
    Level.NOTICE: pb.EVENT_LEVEL_NOTICE,
    Level.WARNING: pb.EVENT_LEVEL_WARNING,
    Level.CRITICAL: pb.EVENT_LEVEL_CRITICAL,
}
_MILLISECONDS = 1000


class EventServicer(Operations):
    def __init__(self, admission: Admission, *, reader: EventReader, events: Events, clock: Clock) -> None:
        self._reader = reader
        self._events = events
        self._clock = clock
        super().__init__(
            admission,
            {
                pb.ListEventsRequest: self._between,
                pb.AwaitEventsRequest: self._following,
                pb.EmitTestEventRequest: self._test,
            },
            shows={Event: _message, EventPage: _page},
        )

    async def _between(self, tenant: Tenant, request: pb.ListEventsRequest) -> Sequence[Event]:
        since = getattr(request, "from") * _MILLISECONDS
        until = milliseconds_of(self._clock.now()) + 1
        if request.HasField("until"):
            until = min(until, request.until * _MILLISECONDS)
        wanted = EventFilter(_level(request.level), request.typ)
        return (await self._reader.between(tenant, since, until, wanted=wanted))[::-1]

    async def _following(self, tenant: Tenant, request: pb.AwaitEventsRequest) -> EventPage:
        wanted = EventFilter(_level(request.level))
        if not request.after:
            return await self._reader.latest(tenant, request.latest, wanted=wanted)
        wait = timedelta(seconds=request.wait_secs)
        return await self._reader.following(tenant, request.after, wanted=wanted, wait=wait)

    async def _test(self, tenant: Tenant, peer_address: str, actor: Actor) -> None:
        await self._events.emit(tenant.tenant_id, EventType.TEST, ip=peer_address or None, actor=actor)


def _level(level: pb.EventLevel.ValueType) -> Level:
    return next((own for own, theirs in _LEVELS.items() if theirs == level), Level.INFO)


def _page(page: EventPage) -> pb.AwaitEventsResponse:
    return pb.AwaitEventsResponse(events=map(_message, page.events), position=page.position)


def _message(event: Event) -> pb.SecurityEvent:
    return message_of(
        pb.SecurityEvent,
        event,
        {"typ": "type"},
        id=event.event_id,
        position=event.id,
        timestamp=milliseconds_of(event.at),
        level=_LEVELS[event.level],
        actor=None if event.actor is None else message_of(pb.EventActor, event.actor),
    )
