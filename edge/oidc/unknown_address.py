"""The error page for addresses without a route, also outside the provider's prefix."""

from aiohttp import web

from edge.language_of_request import keep_language
from edge.oidc.access.refusal import refused
from edge.oidc.access.request_policy import SECURITY_HEADERS
from edge.oidc.pages import PageAssets, Pages
from edge.problem import RefusalOf
from server.platform.clock import Clock
from server.platform.errors import ServiceError


def unknown_address_page(clock: Clock) -> RefusalOf:
    """Return the function that renders the page. Its stylesheet is a route of the provider."""
    pages = Pages(PageAssets(), clock)

    def page_of(error: ServiceError, request: web.Request) -> web.StreamResponse:
        keep_language(request)
        response = pages.refusal(request, refused(error))
        for name, value in SECURITY_HEADERS.items():
            response.headers.setdefault(name, value)
        return response

    return page_of
