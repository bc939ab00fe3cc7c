"""One request of a signed-in person for a page of the console."""

import asyncio
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from aiohttp import hdrs, web

from edge.console.addresses import address_of
from edge.console.administration import AdministrationCaller
from edge.console.api import Caller, Document
from edge.console.live_streams import LiveStreams
from edge.console.renderer import Renderer
from edge.console.texts import reason_of
from edge.language_of_request import keep_language, language_of
from edge.oidc.access.browsers import Browsers
from edge.oidc.access.support_sessions import STOP, Acting
from edge.oidc.pages import Pages
from edge.oidc.people.personal_data import PersonalDataDocuments
from edge.oidc.prefix import PREFIX
from gnomon.identity.v1.browser_pb2 import SessionCookie
from server.platform.errors import (
    InvalidArgument,
    InvalidState,
    ModeNotSupported,
    NotFound,
    PermissionDenied,
    ServiceError,
)
from server.platform.languages import Language

DEFAULT = "default"
# Refusals that a person can answer by changing a form.
REFUSED = (InvalidArgument, InvalidState, NotFound)


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """`me` is the person's own document, `csrf_token` that of the session, `session_issuer` where it was begun.

    The session `is_impersonated` if a support person acts as the user `me` in it.
    """

    request: web.Request
    tenant: str
    api: Caller
    administration: AdministrationCaller
    me: Document
    csrf_token: str
    session_issuer: str
    renderer: Renderer
    provider_pages: Pages
    streams: LiveStreams
    browsers: Browsers
    personal_data: PersonalDataDocuments
    is_impersonated: bool = False

    @property
    def language(self) -> Language:
        return language_of(self.request)

    @property
    def query(self) -> Mapping[str, str]:
        return self.request.query

    @property
    def key(self) -> str:
        """The key in the address of the page."""
        return self.request.match_info["key"]

    def page_of(self, limit: int) -> dict[str, Any]:
        """Return the page parameters of a search from the address."""
        after = self.query.get("after", "")
        return {"limit": limit, **({"after": after} if after else {})}

    async def has_more(self, operation: str, wanted: Mapping[str, Any], found: Mapping[str, Any]) -> bool:
        """Whether matches follow a page of a search; a page of large items is shorter than its limit."""
        items, page = found["items"], found["page"]
        if len(items) == wanted["page"]["limit"]:
            return True
        if not items or page["totalItems"] <= len(items):
            return False
        rest = await self.api.page(operation, {**wanted, "page": {"limit": 1, "after": page["endCursor"]}})
        return bool(rest["items"])

    def page(self, template: str, section: str, /, *, status: int = 200, **facts: object) -> web.Response:
        """Render a page; `section` is its part of the navigation."""
        frame = {
            "me": self.me,
            "tenant": self.tenant,
            "tenants": [tenant["tenantId"] for tenant in self.me["tenants"]],
            "csrf_token": self.csrf_token,
            "issuer": self.session_issuer,
            "acting": self._acting,
            "section": section,
            "here": self.request.path_qs,
            "done": self.query.get("done", ""),
            "address": lambda *segments, **query: address_of(self.tenant, *segments, **query),
        }
        return self.renderer.page(self.request, template, {**frame, **facts}, status=status)

    @property
    def _acting(self) -> Acting | None:
        if not self.is_impersonated:
            return None
        name = self.me.get("email") or self.me["username"]
        return Acting(name, self.csrf_token, f"{self.session_issuer.removesuffix('/')}{STOP}")

    def form_page(
        self, template: str, section: str, problem: Exception | None, facts: Mapping[str, object]
    ) -> web.Response:
        """Render the page of a form, also after a refusal, with its reason."""
        status = problem.problem.status if isinstance(problem, ServiceError) else HTTPStatus.OK.value
        text = reason_of(problem, self.language) if isinstance(problem, ServiceError) else ""
        return self.page(template, section, status=status, problem=text, **facts)

    def sent_to(self, *segments: str, **query: str) -> web.Response:
        """Redirect to a page of the tenant after a change."""
        return web.Response(status=303, headers={hdrs.LOCATION: address_of(self.tenant, *segments, **query)})

    def screen(self, preview: Any, *, is_login: bool) -> web.Response:
        """Render the preview of a client's screen, as the provider would show it."""
        path = PREFIX if self.tenant == DEFAULT else f"{PREFIX}/{self.tenant}"
        keep_language(self.request)
        pages = self.provider_pages
        render = pages.sign_in_preview if is_login else pages.log_out_preview
        return render(preview.screen, path, client_name=preview.client_name)

    def acting(self, cookie: SessionCookie) -> web.Response:
        """Give the browser a session of support in this tenant, and redirect to the account page."""
        response = web.Response(status=303, headers={hdrs.LOCATION: f"{self.session_issuer}account"})
        self.browsers.act("" if self.tenant == DEFAULT else self.tenant, response, cookie=cookie)
        return response

    async def together(self, *calls: Awaitable[Document]) -> list[Document]:
        """Return the results of several calls of the API, which run at the same time."""
        return list(await asyncio.gather(*calls))

    async def named(self, **calls: Awaitable[Document]) -> dict[str, Document]:
        """Return the results of several calls, which run at the same time, by their names."""
        return dict(zip(calls, await self.together(*calls.values()), strict=True))

    async def optional(self, call: Awaitable[Document]) -> Document:
        """Return the result of a call, None if the mode or the user's permissions do not have it."""
        try:
            return await call
        except (ModeNotSupported, PermissionDenied):
            return None
