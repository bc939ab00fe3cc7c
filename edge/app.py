"""The HTTP application and its listener."""

import re
from collections.abc import Callable, Sequence

from aiohttp import HttpVersion11, web

from edge.config import EdgeConfig
from edge.contract import JSON, routes
from edge.gateway import handler_of
from edge.openapi import render
from edge.problem import Handler, guarded, problem
from server.platform.channels import Channel
from server.platform.errors import NotFound, PayloadTooLarge

_VARIABLE = re.compile(r"\{([^{}]*)\}")

ChannelOf = Callable[[str], Channel]


def create_app(
    config: EdgeConfig, channel_of: ChannelOf, extra_routes: Sequence[web.RouteDef] = ()
) -> web.Application:
    """Every route of the contract; `channel_of` answers with the channel to a service, by its full name.

    `extra_routes` answer for themselves, whatever happens. There is no middleware: what every request needs is compiled into its handler.
    """
    app = web.Application(client_max_size=config.max_body_bytes)
    for route in routes():
        channel = channel_of(route.policy.descriptor.containing_service.full_name)
        _add(app, route.method, route.path, handler_of(route, channel, config))
    app.add_routes(extra_routes)
    _add(app, "GET", "/openapi.json", _document_handler())
    app.router.add_route("*", "/{path:.*}", guarded(_no_operation))
    return app


def _add(app: web.Application, method: str, path: str, handler: Handler) -> None:
    # The router's own variables do not match braces, which ids may have.
    variables = _VARIABLE.sub(r"{\1:[^/]+}", path)
    # RFC 9110 §9.1: what answers GET answers HEAD.
    for verb in (method, "HEAD") if method == "GET" else (method,):
        app.router.add_route(verb, variables, guarded(handler), expect_handler=_expect)


async def _expect(request: web.Request) -> web.StreamResponse | None:
    """Ask for the body (RFC 9110 §10.1.1) unless its length alone is a reason to refuse it."""
    if (request.content_length or 0) > request.client_max_size:
        return problem(PayloadTooLarge("the body exceeds the configured size"), request)
    if request.version >= HttpVersion11 and request.headers["Expect"].lower() == "100-continue":
        await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        # What aiohttp counts is the answer itself.
        request.writer.output_size = 0
    return None


def _document_handler() -> Handler:
    document = ""

    async def handle(_: web.Request) -> web.StreamResponse:
        nonlocal document
        document = document or render()
        return web.Response(text=document, content_type=JSON)

    return handle


async def _no_operation(request: web.Request) -> web.StreamResponse:
    """Answer for a path that is not ours, or a method that its path does not have."""
    refusal = problem(NotFound(f"there is no {request.method} {request.rel_url.raw_path}"), request)
    allowed = await _allowed_methods(request)
    if allowed:
        refusal.headers["Allow"] = ", ".join(sorted(allowed))
    return refusal


async def _allowed_methods(request: web.Request) -> set[str]:
    resolved = [await resource.resolve(request) for resource in request.app.router.resources()]
    return {method for match, allowed in resolved for method in allowed if match is None}


class EdgeServer:
    """Listens for an application; `start` answers with the port."""

    def __init__(self, app: web.Application, config: EdgeConfig) -> None:
        self._config = config
        self._runner = web.AppRunner(
            app,
            # A client that goes away takes its call with it.
            handler_cancellation=True,
            # The body's bound is that of the bytes on the wire; nobody needs to send them packed.
            auto_decompress=False,
            access_log=None,
            # It is waited for twice: before the handlers are cancelled, and after.
            shutdown_timeout=config.shutdown_seconds / 2,
        )

    async def start(self) -> int:
        await self._runner.setup()
        config = self._config
        site = web.TCPSite(self._runner, config.host, config.port, reuse_port=config.reuse_port or None)
        await site.start()
        port: int = self._runner.addresses[0][1]
        return port

    async def stop(self) -> None:
        """Take no more connections, let requests end for `shutdown_seconds`, then cut them."""
        await self._runner.cleanup()
