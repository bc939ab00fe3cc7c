"""/users/{id}/impersonation and /oidc/impersonation/stop: the session in which a support person acts as a user."""

import msgspec
from aiohttp import hdrs, web

from edge.oidc.access.administration_calls import AdministrationCalls, tenant_and_id, written
from edge.oidc.access.body import read_json
from edge.oidc.access.browsers import CSRF_HEADER, Browsers
from edge.oidc.access.form import read_form, single
from edge.oidc.access.tenant import issuer_path, tenant_of
from edge.oidc.openapi.operation import Caller, content, described, may, redirect
from edge.oidc.openapi.schemas import INTEGER, STRING, an_object
from edge.oidc.pages import Pages
from edge.oidc.stubs import Stubs
from gnomon.identity.v1 import browser_pb2
from gnomon.identity.v1 import impersonation_service_pb2 as pb


class _Reason(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    reason: str


class ImpersonationEndpoint:
    def __init__(self, stubs: Stubs, calls: AdministrationCalls, *, browsers: Browsers, pages: Pages) -> None:
        self._impersonations = stubs.impersonations
        self._calls = calls
        self._browsers = browsers
        self._pages = pages

    @described(
        "Starts a session in which the signed-in support person acts as a user; its cookie replaces the session's.",
        content(an_object(id=STRING, csrf_token=STRING, exp=INTEGER), status=201),
        body=_Reason,
        tag="Impersonation",
    )
    async def start(self, request: web.Request) -> web.Response:
        tenant_id, user_id = tenant_and_id(request)
        sent = await read_json(request, _Reason, max_bytes=self._calls.max_bytes)
        asked = pb.StartImpersonationRequest(
            tenant_id=tenant_id, caller=self._calls.caller(request), user_id=user_id, reason=sent.reason
        )
        started = await self._impersonations.StartImpersonation(asked, timeout=self._calls.timeout)
        members = {
            "id": started.session_id,
            "csrf_token": started.cookie.csrf_token,
            "exp": started.expires_at,
        }
        response = written(members, status=201)
        self._browsers.keep(request, response, cookie=started.cookie)
        response.headers[CSRF_HEADER] = started.cookie.csrf_token
        return response

    @described(
        "Ends the session in which a support person acts as a user, and returns to that person's own session.",
        redirect("The account page.", status=303),
        caller=Caller.BROWSER,
        form=(may("csrf_token", "Of the page."),),
        tag="Impersonation",
    )
    async def stop(self, request: web.Request) -> web.Response:
        return await self._pages.instead_of_refusals(request, self._stop(request))

    async def _stop(self, request: web.Request) -> web.Response:
        form = await read_form(request, self._calls.max_bytes)
        asked = pb.StopImpersonationRequest(
            tenant_id=tenant_of(request), browser=self._browsers.of(request, single(form, "csrf_token"))
        )
        stopped = await self._impersonations.StopImpersonation(asked, timeout=self._calls.timeout)
        response = web.Response(status=303, headers={hdrs.LOCATION: f"{issuer_path(request)}/account"})
        if stopped.HasField("cookie"):
            self._browsers.keep(request, response, cookie=stopped.cookie)
        else:
            self._browsers.acting.keep(request, response, cookie=browser_pb2.SessionCookie())
        return response
