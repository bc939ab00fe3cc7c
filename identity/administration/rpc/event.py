"""EventService."""

from datetime import timedelta

from gnomon.identity.v1 import event_service_pb2 as pb
from identity.access.rpc.admission import Admission
from identity.access.rpc.records import message_of
from identity.administration.event_reader import EventFilter, EventPage, EventReader
from identity.foundation.events.event import Event, milliseconds_of
from identity.foundation.events.events import Events
from identity.foundation.events.kinds import EventType, Level
from identity.foundation.tenants import Tenant
from server.platform.call import Call
from server.platform.clock import Clock

_LEVELS = {
    Level.INFO: pb.EVENT_LEVEL_INFO,
    Level.NOTICE: pb.EVENT_LEVEL_NOTICE,
    Level.WARNING: pb.EVENT_LEVEL_WARNING,
    Level.CRITICAL: pb.EVENT_LEVEL_CRITICAL,
}
_MILLISECONDS = 1000


class EventServicer:
    def __init__(self, admission: Admission, *, reader: EventReader, events: Events, clock: Clock) -> None:
        self._admission = admission
        self._reader = reader
        self._events = events
        self._clock = clock

    async def list_events(self, request: pb.ListEventsRequest, _call: Call) -> pb.ListEventsResponse:
        tenant, _ = await self._admission.of(request)
        since = getattr(request, "from") * _MILLISECONDS
        until = milliseconds_of(self._clock.now()) + 1
        if request.HasField("until"):
            until = min(until, request.until * _MILLISECONDS)
        wanted = EventFilter(_level(request.level), request.typ)
        found = await self._reader.between(tenant, since, until, wanted=wanted)
        return pb.ListEventsResponse(events=map(_event, reversed(found)))

    async def await_events(self, request: pb.AwaitEventsRequest, _call: Call) -> pb.AwaitEventsResponse:
        tenant, _ = await self._admission.of(request)
        event_page = await self._event_page(tenant, request, EventFilter(_level(request.level)))
        return pb.AwaitEventsResponse(events=map(_event, event_page.events), position=event_page.position)

    async def emit_test_event(
        self, request: pb.EmitTestEventRequest, _call: Call
    ) -> pb.EmitTestEventResponse:
        tenant, actor = await self._admission.of(request)
        ip = request.peer_address or None
        await self._events.emit(tenant.tenant_id, EventType.TEST, ip=ip, actor=actor)
        return pb.EmitTestEventResponse()

    async def _event_page(
        self, tenant: Tenant, request: pb.AwaitEventsRequest, wanted: EventFilter
    ) -> EventPage:
        if not request.after:
            return await self._reader.latest(tenant, request.latest, wanted=wanted)
        wait = timedelta(seconds=request.wait_secs)
        return await self._reader.following(tenant, request.after, wanted=wanted, wait=wait)


def _level(level: pb.EventLevel.ValueType) -> Level:
    return next((own for own, theirs in _LEVELS.items() if theirs == level), Level.INFO)


def _event(event: Event) -> pb.SecurityEvent:
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
