"""The shared part of all endpoints: methods, response headers, and errors as JSON or as a page."""

from collections.abc import Mapping
from dataclasses import dataclass

from aiohttp import web

from edge.kept_documents import KeptDocuments
from edge.language_of_request import keep_language, language_of
from edge.metadata import has_valid_request_id
from edge.navigation import opens_address, sends_form
from edge.oidc.access.admission import Admission
from edge.oidc.access.canonical_host import CanonicalHost
from edge.oidc.access.client_certificates import NO_CERTIFICATES, ClientCertificates
from edge.oidc.access.hosts import Hosts
from edge.oidc.access.refusal import Refused
from edge.oidc.access.request_policy import OWN_PAGES, RequestPolicy
from edge.oidc.access.support_sessions import ActingCookies
from edge.oidc.access.tenant import keep_tenant_of_host, names_tenant
from edge.oidc.pages import Pages
from edge.oidc.pages.password_reasons import sentence_on_password
from edge.oidc.request_ids import keep_certificate, keep_request_id
from edge.problem import REQUEST_ID, Handler, answered
from server.platform.clock import Clock
from server.platform.errors import ServiceError

_READING = frozenset({"GET", "HEAD"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Handlers by method; GET serves HEAD too.

    A browser that navigates gets an error as a page, other callers as JSON.
    """

    handlers: Mapping[str, Handler]
    clock: Clock
    hosts: Hosts
    admission: Admission
    pages: Pages
    kept: KeptDocuments
    policy: RequestPolicy = OWN_PAGES
    canonical: CanonicalHost = CanonicalHost()
    certificates: ClientCertificates = NO_CERTIFICATES
    acting: ActingCookies

    async def serve(self, request: web.Request) -> web.StreamResponse:
        known = self._known(request) if self.policy.kept else None
        if known is not None:
            return known
        response = await answered(self._handle, request, self._refuse)
        headers = response.headers
        for name, value in self.policy.all_headers.items():
            headers.setdefault(name, value)
        return response

    def _known(self, request: web.Request) -> web.Response | None:
        """Return the document of the endpoint, if all that the request needs is in memory."""
        if request.method not in _READING or not has_valid_request_id(request):
            return None
        tenant_id = request.match_info.get("tenant") or self.hosts.known_tenant(request)
        if tenant_id is None or not self.admission.admits(tenant_id, request):
            return None
        document = self.kept.current((self.policy.kept, tenant_id))
        return None if document is None else document.response(request)

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        keep_request_id(request[REQUEST_ID])
        keep_certificate(self.certificates.metadata_of(request))
        keep_language(request)
        try:
            return await self._dispatch(request)
        except Refused as refusal:
            return self._answer(request, refusal)

    async def _dispatch(self, request: web.Request) -> web.StreamResponse:
        if request.method == "OPTIONS":
            return self._options()
        if self.policy.has_one_host and (redirect := self.canonical.redirect(request)):
            return redirect
        handler = self.handlers.get("GET" if request.method == "HEAD" else request.method)
        if handler is None:
            raise self.policy.method_not_allowed(self._allow())
        self.policy.admit(request)
        if self.policy.is_static:
            return await handler(request)
        if not names_tenant(request):
            keep_tenant_of_host(request, await self.hosts.tenant_at(request))
        self.acting.remember(request)
        await self.admission.expect(request, self.policy.coverage)
        return await handler(request)

    def _refuse(self, error: ServiceError, request: web.Request) -> web.Response:
        return self._answer(request, self.policy.refused(error))

    def _options(self) -> web.Response:
        preflight = self.policy.preflight
        methods = {"Access-Control-Allow-Methods": self._allow()} if preflight else {}
        return web.Response(status=204, headers={"Allow": self._allow(), **methods, **preflight})

    def _allow(self) -> str:
        head = ("HEAD",) if "GET" in self.handlers else ()
        return ", ".join((*self.handlers, *head, "OPTIONS"))

    def _answer(self, request: web.Request, refusal: Refused) -> web.Response:
        if self._wants_page(request):
            return self.pages.refusal(request, refusal)
        now = self.clock.now()
        if text := sentence_on_password(refusal, language_of(request)):
            refusal.members = {**refusal.members, "text": text}
        return web.Response(
            status=refusal.status,
            body=refusal.body(now),
            content_type=refusal.media_type,
            headers=refusal.headers_at(now),
        )

    def _wants_page(self, request: web.Request) -> bool:
        """Whether a user sees the response. Protocol endpoints get forms from programs only."""
        if not self.policy.has_pages:
            return False
        return opens_address(request) or (sends_form(request) and not self.policy.is_oauth)
