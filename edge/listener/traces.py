"""The span of a request over HTTP (OpenTelemetry's semantic conventions), which continues the trace of its client."""

from collections.abc import Awaitable, Callable

from aiohttp import web
from opentelemetry.trace import SpanKind, Status, StatusCode

from edge.problem import REQUEST_ID
from server.platform.tracing import Tracer

Handler = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]

_FAULT = 500


def traced(handle: Handler, tracer: Tracer) -> Handler:
    async def trace(request: web.BaseRequest) -> web.StreamResponse:
        with tracer.span(request.method, SpanKind.SERVER, carrier=request.headers) as span:
            response = await handle(request)
            route = _route(request)
            if route:
                span.update_name(f"{request.method} {route}")
                span.set_attribute("http.route", route)
            span.set_attribute("http.request.method", request.method)
            span.set_attribute("http.response.status_code", response.status)
            span.set_attribute("gnomon.request_id", request.get(REQUEST_ID, ""))
            if response.status >= _FAULT:
                span.set_status(Status(StatusCode.ERROR))
        return response

    return trace


def _route(request: web.BaseRequest) -> str:
    """Return the template of the path, empty without a route: concrete paths hold keys and names of users."""
    resource = request.match_info.route.resource if isinstance(request, web.Request) else None
    return resource.canonical if resource is not None else ""
