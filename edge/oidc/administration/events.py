"""POST /events/test: emits a security event as a test."""

from aiohttp import web

from edge.oidc.access.browsers import Browsers
from edge.oidc.access.callers import caller_of
from edge.oidc.access.tenant import tenant_of
from edge.oidc.config import OidcConfig
from edge.oidc.openapi.operation import described, done
from edge.oidc.stubs import Stubs
from gnomon.identity.v1 import event_service_pb2 as pb


class EventsEndpoint:
    def __init__(self, stubs: Stubs, config: OidcConfig, *, browsers: Browsers) -> None:
        self._events = stubs.events
        self._config = config
        self._browsers = browsers

    @described("Emits a test event.", done())
    async def test(self, request: web.Request) -> web.Response:
        asked = pb.EmitTestEventRequest(
            tenant_id=tenant_of(request),
            caller=caller_of(request, self._browsers),
            peer_address=self._browsers.peer_address(request),
        )
        await self._events.EmitTestEvent(asked, timeout=self._config.call_timeout_seconds)
        return web.Response()
