"""POST /events and /events/test: reads security events, and emits one as a test."""

from typing import Annotated, Literal

import msgspec
from aiohttp import web

from edge.oidc.access.administration_calls import written
from edge.oidc.access.body import read_json
from edge.oidc.access.browsers import Browsers
from edge.oidc.access.callers import caller_of
from edge.oidc.access.tenant import tenant_of
from edge.oidc.administration.event_document import EVENT, LEVELS, members
from edge.oidc.config import OidcConfig
from edge.oidc.openapi.operation import content, described, done
from edge.oidc.openapi.schemas import array
from edge.oidc.stubs import Stubs
from gnomon.identity.v1 import event_service_pb2 as pb

_Seconds = Annotated[int, msgspec.Meta(ge=0, le=9_999_999_999)]


class Range(msgspec.Struct, forbid_unknown_fields=True):
    """Times in Unix seconds."""

    since: _Seconds = msgspec.field(name="from")
    until: _Seconds | None = None
    level: Literal["info", "notice", "warning", "critical"] = "info"
    typ: str | None = None


class EventsEndpoint:
    def __init__(self, stubs: Stubs, config: OidcConfig, *, browsers: Browsers) -> None:
        self._events = stubs.events
        self._config = config
        self._browsers = browsers

    @described("Lists security events, newest first.", content(array(EVENT)), body=Range)
    async def list(self, request: web.Request) -> web.Response:
        sent = await read_json(request, Range, max_bytes=self._config.max_form_bytes)
        asked = pb.ListEventsRequest(
            tenant_id=tenant_of(request),
            caller=caller_of(request, self._browsers),
            until=sent.until,
            level=LEVELS[sent.level],
            typ=sent.typ or "",
            **{"from": sent.since},
        )
        found = await self._events.ListEvents(asked, timeout=self._config.call_timeout_seconds)
        return written([members(event) for event in found.events])

    @described("Emits a test event.", done())
    async def test(self, request: web.Request) -> web.Response:
        asked = pb.EmitTestEventRequest(
            tenant_id=tenant_of(request),
            caller=caller_of(request, self._browsers),
            peer_address=self._browsers.peer_address(request),
        )
        await self._events.EmitTestEvent(asked, timeout=self._config.call_timeout_seconds)
        return web.Response()
