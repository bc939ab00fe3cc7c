"""The application for Prometheus, which serves GET /metrics only."""

import asyncio

from aiohttp import hdrs, web

from edge.app import name_no_software
from edge.problem import guarded, problem
from server.platform.errors import NotFound
from server.platform.metrics import Metrics


def exposition_app(metrics: Metrics) -> web.Application:
    async def read(request: web.Request) -> web.StreamResponse:
        write, media_type = metrics.exposition(request.headers.get(hdrs.ACCEPT, ""))
        # Writing some thousand lines would block the event loop too long.
        return web.Response(body=await asyncio.to_thread(write), headers={hdrs.CONTENT_TYPE: media_type})

    app = web.Application()
    name_no_software(app)
    app.router.add_get("/metrics", guarded(read))
    app.router.add_route("*", "/{path:.*}", guarded(_nothing_else))
    return app


async def _nothing_else(request: web.Request) -> web.StreamResponse:
    return problem(NotFound("there is GET /metrics and nothing else"), request)
