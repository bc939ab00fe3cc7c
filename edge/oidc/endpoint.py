"""What all endpoints share: their methods, the headers of every answer, refusals as bodies."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

import grpc
from aiohttp import web

from edge.oidc.admission import Admission
from edge.oidc.hosts import Hosts
from edge.oidc.manners import OWN_PAGES, Manner
from edge.oidc.refusal import Refused
from edge.oidc.tenant import keep_tenant_of_host, names_tenant
from server.platform.channels import error_of
from server.platform.clock import Clock

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

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
        try:
            response: web.StreamResponse = await self._handle(request)
        except Refused as refusal:
            response = self._answer(refusal)
        for name, value in {**SECURITY_HEADERS, **self.manner.headers}.items():
            response.headers.setdefault(name, value)
        return response

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        if request.method == "OPTIONS":
            return self._options()
        handler = self.handlers.get("GET" if request.method == "HEAD" else request.method)
        if handler is None:
            raise self.manner.method_not_allowed(self._allow())
        self.manner.admit(request)
        try:
            if not names_tenant(request):
                keep_tenant_of_host(request, await self.hosts.tenant_at(request))
            await self.admission.expect(request)
            return await handler(request)
        except grpc.RpcError as failure:
            raise self.manner.refused(error_of(failure)) from failure

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
