"""GET and POST /oidc/authorize/consent: the consent page, and the user's answer."""

from enum import StrEnum

import msgspec
from aiohttp import web

from edge.oidc.access.body import JSON, bad_request, read_json
from edge.oidc.access.browsers import Browsers
from edge.oidc.access.form import form_of, query_parameters, read_form, single
from edge.oidc.access.tenant import issuer_path, tenant_of
from edge.oidc.authentication.redirects import accepted, sent_back
from edge.oidc.config import OidcConfig
from edge.oidc.openapi.operation import Caller, described, done, may, needs, page, redirect
from edge.oidc.openapi.schemas import choice
from edge.oidc.pages import Pages
from edge.oidc.stubs import Stubs
from gnomon.identity.v1 import authorization_service_pb2 as pb
from gnomon.identity.v1.browser_pb2 import Redirect


class Decision(StrEnum):
    ACCEPT = "accept"
    DECLINE = "decline"


class Answer(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    authorization_id: str
    decision: Decision


class ConsentEndpoint:
    def __init__(self, stubs: Stubs, config: OidcConfig, *, browsers: Browsers, pages: Pages) -> None:
        self._authorizations = stubs.authorizations
        self._config = config
        self._browsers = browsers
        self._pages = pages

    @described(
        "Asks the user to consent to a client's request.",
        page("The question."),
        caller=Caller.BROWSER,
        query=(needs("authorization_id", "The authorization request."),),
    )
    async def get(self, request: web.Request) -> web.Response:
        return await self._pages.instead_of_refusals(request, self._get(request))

    @described(
        "Takes the answer to the question.",
        page("A form that the browser posts to the client."),
        redirect("The redirect URI with the response, for a form.", status=303),
        done(202, "The redirect URI with the response is in `Location`, for JSON."),
        caller=Caller.BROWSER,
        body=Answer,
        form=(
            needs("decision", "The answer.", choice(*Decision)),
            may("csrf_token", "Of the page."),
            may("authorization_id", "The authorization request of the page."),
        ),
    )
    async def post(self, request: web.Request) -> web.Response:
        if request.content_type == JSON:
            sent = await read_json(request, Answer, max_bytes=self._config.max_form_bytes)
            return accepted(await self._answer(request, sent))
        return await self._pages.instead_of_refusals(request, self._post_form(request))

    async def _get(self, request: web.Request) -> web.Response:
        asked = pb.GetConsentPageRequest(
            tenant_id=tenant_of(request),
            browser=self._browsers.of(request),
            authorization_id=single(form_of(query_parameters(request)), "authorization_id"),
        )
        found = await self._authorizations.GetConsentPage(asked, timeout=self._config.call_timeout_seconds)
        return self._pages.consent(found.page, issuer_path(request))

    async def _post_form(self, request: web.Request) -> web.Response:
        form = await read_form(request, self._config.max_form_bytes)
        try:
            decision = Decision(single(form, "decision"))
        except ValueError as error:
            raise bad_request(f"decision: expected {' or '.join(Decision)}") from error
        sent = Answer(authorization_id=single(form, "authorization_id"), decision=decision)
        redirect = await self._answer(request, sent, csrf_token=single(form, "csrf_token"))
        return sent_back(redirect, self._pages, status=303)

    async def _answer(self, request: web.Request, sent: Answer, *, csrf_token: str = "") -> Redirect:
        answer = pb.AnswerConsentRequest(
            tenant_id=tenant_of(request),
            browser=self._browsers.of(request, csrf_token),
            authorization_id=sent.authorization_id,
            is_accepted=sent.decision is Decision.ACCEPT,
        )
        answered = await self._authorizations.AnswerConsent(answer, timeout=self._config.call_timeout_seconds)
        return answered.redirect
