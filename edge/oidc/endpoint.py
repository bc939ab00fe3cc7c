"""What all endpoints share: their methods, the headers of every answer, refusals as bodies."""

from collections.abc import Mapping
from dataclasses import dataclass

from aiohttp import web

from edge.oidc.admission import Admission
from edge.oidc.hosts import Hosts
from edge.oidc.manners import OWN_PAGES, Manner
from edge.oidc.refusal import Refused
from edge.oidc.tenant import keep_tenant_of_host, names_tenant
from edge.problem import Handler, answered
from server.platform.clock import Clock
from server.platform.errors import ServiceError

SECURITY_HEADERS = {
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Strict-Transport-Security": "max-age=31536000;includeSubDomains",
    "Referrer-Policy": "no-referrer",
    "X-Robots-Tag": "noindex, nofollow",
    "Content-Security-Policy": "frame-ancestors 'none'; object-src 'none';",
    "Cache-Control": "no-store",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Handlers by method; GET serves HEAD too."""

    handlers: Mapping[str, Handler]
    clock: Clock
    hosts: Hosts
    admission: Admission
    manner: Manner = OWN_PAGES

    async def serve(self, request: web.Request) -> web.StreamResponse:
        response = await answered(self._handle, request, self._refuse)
        for name, value in {**SECURITY_HEADERS, **self.manner.headers}.items():
            response.headers.setdefault(name, value)
        return response

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        try:
            return await self._dispatch(request)
        except Refused as refusal:
            return self._answer(refusal)

    async def _dispatch(self, request: web.Request) -> web.StreamResponse:
        if request.method == "OPTIONS":
            return self._options()
        handler = self.handlers.get("GET" if request.method == "HEAD" else request.method)
        if handler is None:
            raise self.manner.method_not_allowed(self._allow())
        self.manner.admit(request)
        if not names_tenant(request):
            keep_tenant_of_host(request, await self.hosts.tenant_at(request))
        await self.admission.expect(request)
        return await handler(request)

    def _refuse(self, error: ServiceError, _request: web.Request) -> web.Response:
        return self._answer(self.manner.refused(error))

    def _options(self) -> web.Response:
        preflight = self.manner.preflight
        methods = {"Access-Control-Allow-Methods": self._allow()} if preflight else {}
        return web.Response(status=204, headers={"Allow": self._allow(), **methods, **preflight})

    def _allow(self) -> str:
        head = ("HEAD",) if "GET" in self.handlers else ()
        return ", ".join((*self.handlers, *head, "OPTIONS"))

    def _answer(self, refusal: Refused) -> web.Response:
        now = self.clock.now()
        response = web.Response(
            status=refusal.status,
            body=refusal.body(now),
            content_type="application/json",
            headers=refusal.headers,
        )
        if seconds := refusal.seconds_to_wait(now):
            response.headers["Retry-After"] = str(seconds)
            response.headers["x-retry-not-before"] = str(int(now.timestamp()) + seconds)
        return response
