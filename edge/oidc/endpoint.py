"""What all endpoints share: their methods, the headers of every answer, refusals as bodies, who may read them."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

import grpc
from aiohttp import web

from edge.oidc.refusal import Refused, refused, refused_by_protocol
from server.platform.channels import error_of
from server.platform.clock import Clock
from server.platform.errors import ServiceError

Handler = Callable[[web.Request], Awaitable[web.Response]]

SECURITY_HEADERS = {
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Strict-Transport-Security": "max-age=31536000;includeSubDomains",
    "Referrer-Policy": "no-referrer",
    "X-Robots-Tag": "noindex, nofollow",
    "Content-Security-Policy": "frame-ancestors 'none'; object-src 'none';",
    "Cache-Control": "no-store",
}

_ANY_ORIGIN = {"Access-Control-Allow-Origin": "*"}

# RFC 6749 §5.1: beside Cache-Control, for caches of HTTP/1.0.
_NO_CACHE = {"Pragma": "no-cache"}

_PREFLIGHT_SECONDS = "7200"


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Handlers by method; GET serves HEAD too. Public documents may be read by pages of any origin."""

    handlers: Mapping[str, Handler]
    clock: Clock
    is_protocol: bool = False
    is_public_document: bool = False

    async def serve(self, request: web.Request) -> web.Response:
        try:
            response = await self._handle(request)
        except Refused as refusal:
            response = self._answer(refusal)
        for name, value in self._shared_headers().items():
            response.headers.setdefault(name, value)
        return response

    async def _handle(self, request: web.Request) -> web.Response:
        if request.method == "OPTIONS":
            return self._options()
        handler = self.handlers.get("GET" if request.method == "HEAD" else request.method)
        if handler is None:
            raise self._method_not_allowed()
        try:
            return await handler(request)
        except grpc.RpcError as failure:
            raise self._refused(error_of(failure)) from failure

    def _refused(self, error: ServiceError) -> Refused:
        return refused_by_protocol(error) if self.is_protocol else refused(error)

    def _method_not_allowed(self) -> Refused:
        error = "invalid_request" if self.is_protocol else "MethodNotAllowed"
        message = f"expected {self._allow()}"
        return Refused(405, error, message, is_oauth=self.is_protocol, headers={"Allow": self._allow()})

    def _options(self) -> web.Response:
        cors = {"Access-Control-Allow-Methods": self._allow(), "Access-Control-Max-Age": _PREFLIGHT_SECONDS}
        return web.Response(
            status=204, headers={"Allow": self._allow()} | (cors if self.is_public_document else {})
        )

    def _allow(self) -> str:
        head = ("HEAD",) if "GET" in self.handlers else ()
        return ", ".join((*self.handlers, *head, "OPTIONS"))

    def _shared_headers(self) -> Mapping[str, str]:
        own = (_ANY_ORIGIN if self.is_public_document else {}) | (_NO_CACHE if self.is_protocol else {})
        return SECURITY_HEADERS | own

    def _answer(self, refusal: Refused) -> web.Response:
        body = refusal.body(self.clock.now())
        return web.Response(
            status=refusal.status, body=body, content_type="application/json", headers=refusal.headers
        )
