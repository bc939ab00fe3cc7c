"""The start page of the deployment, the entry page of each tenant, and files for browsers and robots.

Redirects have no host, so the Host header cannot change their target.
"""

from collections.abc import Awaitable

import grpc
import orjson
from aiohttp import hdrs, web

from edge.navigation import opens_address
from edge.oidc.access.browsers import Browsers
from edge.oidc.access.refusal import Refused
from edge.oidc.access.tenant import issuer_path, names_tenant, tenant_of
from edge.oidc.config import OidcConfig
from edge.oidc.openapi.operation import Caller, described, page, redirect
from edge.oidc.pages import Pages
from edge.oidc.pages.entry import EntryFacts, entry_page, start_page
from edge.oidc.prefix import PREFIX
from edge.oidc.stubs import Stubs
from gnomon.identity.v1.discovery_service_pb2 import GetMetadataRequest
from gnomon.identity.v1.password_reset_service_pb2 import CheckPasswordResetRequest
from gnomon.identity.v1.session_service_pb2 import GetSessionRequest
from server.platform.channels import error_of
from server.platform.errors import NotFound, Unauthenticated

_ENTRY = f"{PREFIX}/"
# Nothing here is for search engines.
_ROBOTS = "User-agent: *\nDisallow: /\n"
_ONE_DAY = "public, max-age=86400"


class EntryEndpoint:
    def __init__(self, stubs: Stubs, config: OidcConfig, *, browsers: Browsers, pages: Pages) -> None:
        self._stubs = stubs
        self._timeout = config.call_timeout_seconds
        self._browsers = browsers
        self._pages = pages

    async def start(self, request: web.Request) -> web.Response:
        """Describe the deployment: a page for a browser, JSON for a program."""
        issuer = await self._issuer(request)
        if opens_address(request):
            response = start_page(self._pages, issuer)
        else:
            links = {
                "product": "gnomon",
                "documentation": "/docs",
                "openapi": "/openapi.json",
                "issuer": issuer,
                "openid_configuration": f"{issuer}.well-known/openid-configuration",
                "sign_in": _ENTRY,
            }
            response = web.Response(body=orjson.dumps(links), content_type="application/json")
        response.headers.add(hdrs.VARY, hdrs.ACCEPT)
        return response

    @described(
        "The entry page of a tenant, with links to its pages.",
        page("The page."),
        redirect("The page of the default tenant.", status=308),
        caller=Caller.ANYBODY,
    )
    async def entry(self, request: web.Request) -> web.Response:
        """Show the links of an issuer; an unknown tenant is redirected to the default one."""
        if not await self._is_served(request):
            return _moved(_ENTRY)
        facts = EntryFacts(
            path=issuer_path(request),
            issuer=await self._issuer(request),
            offers_password_reset=await self._offers_password_reset(request),
            is_signed_in=await self._is_signed_in(request),
        )
        return entry_page(self._pages, facts)

    async def to_entry(self, request: web.Request) -> web.Response:
        """Redirect an unknown address to the entry page of its tenant."""
        return _moved(f"{issuer_path(request)}/" if await self._is_served(request) else _ENTRY)

    async def _is_served(self, request: web.Request) -> bool:
        """Whether the path names an enabled tenant, or none."""
        return not names_tenant(request) or await _holds(self._issuer(request), unless=NotFound)

    async def _issuer(self, request: web.Request) -> str:
        asked = GetMetadataRequest(tenant_id=tenant_of(request))
        return (await self._stubs.discovery.GetMetadata(asked, timeout=self._timeout)).metadata.issuer

    async def _offers_password_reset(self, request: web.Request) -> bool:
        asked = CheckPasswordResetRequest(tenant_id=tenant_of(request))
        checked = self._stubs.password_resets.CheckPasswordReset(asked, timeout=self._timeout)
        return await _holds(checked, unless=NotFound)

    async def _is_signed_in(self, request: web.Request) -> bool:
        asked = GetSessionRequest(tenant_id=tenant_of(request), browser=self._browsers.of(request))
        found = self._stubs.sessions.GetSession(asked, timeout=self._timeout)
        return await _holds(found, unless=Unauthenticated)


async def nothing_there(_request: web.Request) -> web.Response:
    """Answer 404 to a change at an unknown address. A redirect would hide the mistake behind a page."""
    raise Refused(404, "NotFound", "there is no such endpoint")


async def robots(_request: web.Request) -> web.Response:
    return web.Response(text=_ROBOTS, content_type="text/plain", headers={hdrs.CACHE_CONTROL: _ONE_DAY})


@described(
    "Leads to the page for changing passwords: W3C A Well-Known URL for Changing Passwords.",
    redirect("The account page."),
    caller=Caller.ANYBODY,
)
async def to_change_password(_request: web.Request) -> web.Response:
    """Redirect to the account page of the host's tenant: W3C A Well-Known URL for Changing Passwords."""
    return web.Response(status=302, headers={hdrs.LOCATION: f"{PREFIX}/account#password"})


def _moved(location: str) -> web.Response:
    return web.Response(status=308, headers={hdrs.LOCATION: location})


async def _holds(answer: Awaitable[object], *, unless: type[NotFound | Unauthenticated]) -> bool:
    """Whether the call succeeds; False for the error that means no, others are raised."""
    try:
        await answer
    except grpc.RpcError as failure:
        if not isinstance(error_of(failure), unless):
            raise
        return False
    return True
