"""The HTTP application."""

import asyncio
import re
from collections.abc import Callable, Sequence

from aiohttp import HttpVersion11, hdrs, web
from multidict import istr

from edge.config import EdgeConfig, Release
from edge.contract import routes
from edge.documentation import documentation_routes
from edge.gateway import MoreMetadata, handler_of, no_more
from edge.kept_documents import REVALIDATED, Document
from edge.navigation import opens_address
from edge.openapi import render
from edge.problem import SERVER, Handler, RefusalOf, guarded, problem
from edge.refusals import RefusalReports
from server.platform.channels import Channel
from server.platform.errors import NotFound, PayloadTooLarge

_VARIABLE = re.compile(r"\{([^{}]*)\}")

# RFC 6797 §7.2: sent over https only.
STRICT_TRANSPORT_SECURITY = ((istr("Strict-Transport-Security"), "max-age=31536000;includeSubDomains"),)

ChannelOf = Callable[[str], Channel]


def create_app(
    config: EdgeConfig,
    channel_of: ChannelOf,
    extra_routes: Sequence[web.RouteDef] = (),
    *,
    has_tls: bool = False,
    page_of: RefusalOf = problem,
    reports: RefusalReports | None = None,
    release: Release = Release.CAMUNDA_8_9,
    more: MoreMetadata = no_more,
) -> web.Application:
    """Create the application with every route of the contract.

    `channel_of` returns the channel to a service by its full name. `extra_routes` are added unchanged. `page_of`
    makes the response for a browser that opens an unknown address. There is no middleware: the steps of every request
    are compiled into its handler. With `has_tls`, clients reach the application by https, and responses carry
    Strict-Transport-Security (RFC 6797). Requests that are refused here are reported to `reports`. Answers and
    the OpenAPI document are those of `release`. Calls of the contract have the metadata of `more`, too.
    """
    app = web.Application(client_max_size=config.max_body_bytes)
    name_no_software(app, *(STRICT_TRANSPORT_SECURITY if has_tls else ()))
    for route in routes():
        channel = channel_of(route.policy.descriptor.containing_service.full_name)
        handler = handler_of(route, channel, config, reports, release=release, more=more)
        _add(app, route.method, route.path, handler)
    app.add_routes(extra_routes)
    _add(app, "GET", "/openapi.json", _document_handler(release))
    app.add_routes(documentation_routes())
    app.router.add_route("*", "/{path:.*}", guarded(_unknown_handler(page_of)))
    return app


def _add(app: web.Application, method: str, path: str, handler: Handler) -> None:
    # The router's own variables do not match braces, which ids may contain.
    variables = _VARIABLE.sub(r"{\1:[^/]+}", path)
    # RFC 9110 §9.1: every GET route serves HEAD as well.
    for verb in (method, "HEAD") if method == "GET" else (method,):
        app.router.add_route(verb, variables, guarded(handler), expect_handler=_expect)


def name_no_software(app: web.Application, *others: tuple[istr, str]) -> None:
    """Add our own Server header, and other constant headers, to every response."""
    always = ((hdrs.SERVER, SERVER), *others)

    async def add(_: web.Request, response: web.StreamResponse) -> None:
        headers = response.headers
        for name, value in always:
            headers[name] = value

    app.on_response_prepare.append(add)


async def _expect(request: web.Request) -> web.StreamResponse | None:
    """Answer 100 Continue (RFC 9110 §10.1.1), or refuse a body whose declared length is too large."""
    if (request.content_length or 0) > request.client_max_size:
        return problem(PayloadTooLarge("the body exceeds the configured size"), request)
    if request.version >= HttpVersion11 and request.headers["Expect"].lower() == "100-continue":
        await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        # aiohttp counts the size of the final response only.
        request.writer.output_size = 0
    return None


def _document_handler(release: Release) -> Handler:
    document: Document | None = None

    async def handle(request: web.Request) -> web.StreamResponse:
        nonlocal document
        if document is None:
            document = await asyncio.to_thread(_document, release)
        return document.response(request)

    return handle


def _document(release: Release) -> Document:
    return Document(render(release=release).encode(), caching=REVALIDATED)


def _unknown_handler(page_of: RefusalOf) -> Handler:
    """Handle an unknown path, and a method that a path does not support."""

    async def handle(request: web.Request) -> web.StreamResponse:
        error = NotFound(f"there is no {request.method} {request.rel_url.raw_path}")
        refusal = page_of(error, request) if opens_address(request) else problem(error, request)
        allowed = await _allowed_methods(request)
        if allowed:
            refusal.headers["Allow"] = ", ".join(sorted(allowed))
        return refusal

    return handle


async def _allowed_methods(request: web.Request) -> set[str]:
    resolved = [await resource.resolve(request) for resource in request.app.router.resources()]
    return {method for match, allowed in resolved for method in allowed if match is None}
