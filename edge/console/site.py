"""The shared part of all pages of the console: session, tenant, headers, and errors as pages."""

import hmac
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import grpc
from aiohttp import hdrs, web
from multidict import MultiDict, MultiDictProxy

from edge.console.addresses import START, address_of
from edge.console.administration import Administration
from edge.console.api import Api
from edge.console.live_streams import LiveStreams
from edge.console.renderer import Renderer
from edge.console.sign_in import SignIn
from edge.console.texts import reason_of
from edge.console.visit import DEFAULT, Visit
from edge.language_of_request import language_of
from edge.oidc.access.browsers import Browsers
from edge.oidc.access.canonical_host import CanonicalHost
from edge.oidc.access.fetch_metadata import from_our_origin, from_our_pages
from edge.oidc.access.form import read_parameters
from edge.oidc.access.hosts import Hosts
from edge.oidc.access.refusal import Refused
from edge.oidc.access.request_policy import SECURITY_HEADERS
from edge.oidc.access.support_sessions import Acting
from edge.oidc.pages import Pages
from edge.oidc.people.personal_data import PersonalDataDocuments
from edge.oidc.stubs import Stubs
from edge.problem import REQUEST_ID, Handler, answered
from gnomon.identity.v1 import browser_pb2
from gnomon.identity.v1 import session_service_pb2 as pb
from server.platform.channels import error_of
from server.platform.errors import (
    InvalidArgument,
    NotFound,
    PayloadTooLarge,
    PermissionDenied,
    ServiceError,
    Unauthenticated,
)
from server.platform.languages import marked

_PAYLOAD_TOO_LARGE = 413
# A form has a field for each row of a table, and a deployed form as many as its author defines.
_MAX_PARAMETERS = 4096

Form = MultiDictProxy[str]
Show = Callable[[Visit], Awaitable[web.StreamResponse]]
Change = Callable[[Visit, Form], Awaitable[web.StreamResponse]]


@dataclass(frozen=True, slots=True)
class _SignedIn:
    """A session with a person; `issuer_tenant` is the tenant of its cookie, empty for the default one."""

    issuer_tenant: str
    csrf_token: str
    cookie: str
    is_impersonated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    stubs: Stubs
    api: Api
    administration: Administration
    hosts: Hosts
    browsers: Browsers
    renderer: Renderer
    provider_pages: Pages
    streams: LiveStreams
    sign_in: SignIn
    canonical: CanonicalHost
    personal_data: PersonalDataDocuments
    timeout: float
    max_form_bytes: int

    def page(self, show: Show) -> Handler:
        """Return the handler of a page that a person reads."""

        async def handle(request: web.Request) -> web.StreamResponse:
            if redirect := self.canonical.redirect(request):
                return redirect
            with _refusals():
                from_our_pages(request)
            visit = await self._visit(request)
            return visit if isinstance(visit, web.Response) else await show(visit)

        return self._served(handle)

    def change(self, change: Change) -> Handler:
        """Return the handler of a form; a change needs the CSRF token of the session in it."""

        async def handle(request: web.Request) -> web.StreamResponse:
            with _refusals():
                from_our_origin(request)
                form = MultiDict(
                    await read_parameters(request, self.max_form_bytes, max_parameters=_MAX_PARAMETERS)
                )
            token = form.pop("csrf_token", "")
            visit = await self._visit(request, token)
            if isinstance(visit, Visit) and not hmac.compare_digest(
                visit.csrf_token.encode(), token.encode()
            ):
                raise PermissionDenied(marked("The form belongs to another session. Load its page again."))
            return visit if isinstance(visit, web.Response) else await change(visit, MultiDictProxy(form))

        return self._served(handle)

    def open(self, handler: Handler) -> Handler:
        """Return the handler of an address that needs no session."""

        async def handle(request: web.Request) -> web.StreamResponse:
            if redirect := self.canonical.redirect(request):
                return redirect
            return await handler(request)

        return self._served(handle)

    async def start(self, request: web.Request) -> web.StreamResponse:
        """Redirect to the overview of a tenant of the person, or to the sign-in."""
        tenant = await self.hosts.tenant_at(request)
        signed_in = await self._signed_in(request, tenant)
        if signed_in is None:
            return await self.sign_in.begin(tenant, START)
        home = signed_in.issuer_tenant or DEFAULT
        try:
            me = await self.api.caller(request, home)("GetAuthentication")
        except PermissionDenied:
            # An account may act in other tenants than its own.
            me = await self.api.caller(request, "")("GetAuthentication")
        own = [each["tenantId"] for each in me["tenants"]]
        tenant = home if home in own or not own else own[0]
        return web.Response(status=303, headers={hdrs.LOCATION: address_of(tenant)})

    async def callback(self, request: web.Request) -> web.StreamResponse:
        tenant = request.match_info.get("tenant", "") or await self.hosts.tenant_at(request)
        return await self.sign_in.finish(request, tenant)

    def _served(self, handler: Handler) -> Handler:
        async def serve(request: web.Request) -> web.StreamResponse:
            response = await answered(handler, request, self._refusal)
            for name, value in SECURITY_HEADERS.items():
                response.headers.setdefault(name, value)
            return response

        return serve

    async def _visit(self, request: web.Request, csrf_token: str = "") -> Visit | web.Response:
        tenant = request.match_info["tenant"]
        host_tenant = await self.hosts.tenant_at(request)
        signed_in = await self._signed_in(request, tenant, host_tenant)
        if signed_in is None:
            target = request.path_qs if request.method == hdrs.METH_GET else address_of(tenant)
            return await self.sign_in.begin("" if tenant == DEFAULT else tenant, target)
        caller = self.api.caller(request, tenant, csrf_token)
        browser = browser_pb2.Browser(
            session=signed_in.cookie,
            peer_address=self.browsers.peer_address(request),
            csrf_token=csrf_token if csrf_token.isascii() else "",
        )
        return Visit(
            request=request,
            tenant=tenant,
            api=caller,
            administration=self.administration.caller(request, tenant, browser),
            me=await caller("GetAuthentication"),
            csrf_token=signed_in.csrf_token,
            session_issuer=await self.sign_in.issuer(signed_in.issuer_tenant),
            renderer=self.renderer,
            provider_pages=self.provider_pages,
            streams=self.streams,
            browsers=self.browsers,
            personal_data=self.personal_data,
            is_impersonated=signed_in.is_impersonated,
        )

    async def _signed_in(self, request: web.Request, *tenants: str) -> _SignedIn | None:
        """Return the session that the API finds as well: that of the tenant first, then that of the deployment."""
        for tenant in dict.fromkeys((*tenants, "")):
            cookie = self.browsers.session(request, tenant)
            if not cookie:
                continue
            browser = browser_pb2.Browser(session=cookie, peer_address=self.browsers.peer_address(request))
            asked = pb.GetSessionRequest(tenant_id=tenant, browser=browser)
            try:
                session = (await self.stubs.sessions.GetSession(asked, timeout=self.timeout)).session
            except grpc.RpcError as failure:
                if not isinstance(error_of(failure), Unauthenticated | NotFound):
                    raise
                continue
            if session.state == pb.SESSION_STATE_AUTH:
                return _SignedIn(tenant, session.csrf_token, cookie, bool(session.impersonator))
        return None

    def _refusal(self, error: ServiceError, request: web.Request) -> web.StreamResponse:
        """Return the page that explains an error, with the request id for the search in the log."""
        facts = {
            "status": error.problem.status,
            "heading": _HEADINGS.get(type(error), marked("That did not work")),
            "detail": reason_of(error, language_of(request)),
            "request_id": request.get(REQUEST_ID, ""),
            "back": _origin_of(request),
            "start": START,
            "acting": self._acting(request),
        }
        return self.renderer.page(request, "error.html", facts, status=error.problem.status)

    def _acting(self, request: web.Request) -> Acting | None:
        tenant = request.match_info.get("tenant", "")
        return self.browsers.acting.at_console(request, "" if tenant == DEFAULT else tenant)


_HEADINGS: dict[type[ServiceError], str] = {
    NotFound: marked("There is no such page"),
    PermissionDenied: marked("You may not see this"),
    Unauthenticated: marked("Your session has ended"),
}


def _origin_of(request: web.Request) -> str:
    """Return the page of a refused form, which is one segment above, or the start page."""
    return request.path.rpartition("/")[0] if request.method == hdrs.METH_POST else START


@contextmanager
def _refusals() -> Iterator[None]:
    """Raise refusals of the provider's endpoints as errors of services, which become pages."""
    try:
        yield
    except Refused as refusal:
        kind = PayloadTooLarge if refusal.status == _PAYLOAD_TOO_LARGE else InvalidArgument
        raise kind(refusal.message) from refusal
