"""GET and POST /oidc/authorize/terms, and GET /oidc/terms: the terms of use, and the user's answer."""

from enum import StrEnum

import msgspec
from aiohttp import hdrs, web

from edge.oidc.access.body import JSON, bad_request, read_json
from edge.oidc.access.browsers import CSRF_HEADER, Browsers
from edge.oidc.access.form import form_of, query_parameters, read_form, single
from edge.oidc.access.tenant import issuer_path, tenant_of
from edge.oidc.authentication.steps import navigated, scripted
from edge.oidc.config import OidcConfig
from edge.oidc.openapi.operation import Caller, described, done, may, needs, page, redirect
from edge.oidc.openapi.schemas import choice
from edge.oidc.pages import Pages
from edge.oidc.stubs import Stubs
from gnomon.identity.v1 import authorization_service_pb2 as pb
from gnomon.identity.v1.terms_of_use_service_pb2 import GetShownTermsRequest
from server.platform.languages.languages import preferences

_MAX_TAG = 64
_MAX_VERSION = 256


class Decision(StrEnum):
    ACCEPT = "accept"
    DECLINE = "decline"
    LATER = "later"


_DECISIONS = {
    Decision.ACCEPT: pb.TERMS_DECISION_ACCEPT,
    Decision.DECLINE: pb.TERMS_DECISION_DECLINE,
    Decision.LATER: pb.TERMS_DECISION_LATER,
}


class TermsAnswer(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    authorization_id: str
    version: str
    decision: Decision


class TermsEndpoint:
    def __init__(self, stubs: Stubs, config: OidcConfig, *, browsers: Browsers, pages: Pages) -> None:
        self._authorizations = stubs.authorizations
        self._terms = stubs.terms_of_use
        self._config = config
        self._browsers = browsers
        self._pages = pages

    @described(
        "Asks the user to accept the terms of use.",
        page("The terms, and the question."),
        caller=Caller.BROWSER,
        query=(needs("authorization_id", "The authorization request."),),
    )
    async def get(self, request: web.Request) -> web.Response:
        return await self._pages.instead_of_refusals(request, self._get(request))

    @described(
        "Takes the answer of the user to the terms of use.",
        page("A form that the browser posts to the client."),
        redirect("The redirect URI with the response, or the next question, for a form.", status=303),
        done(202, "The redirect URI with the response is in `Location`, for JSON."),
        caller=Caller.BROWSER,
        body=TermsAnswer,
        form=(
            needs("decision", "The answer; `later` until the terms have to be accepted.", choice(*Decision)),
            needs("version", "The version of the page."),
            may("csrf_token", "Of the page."),
            may("authorization_id", "The authorization request of the page."),
        ),
    )
    async def post(self, request: web.Request) -> web.Response:
        if request.content_type == JSON:
            sent = await read_json(request, TermsAnswer, max_bytes=self._config.max_form_bytes)
            answered = await self._answer(request, sent)
            return self._kept(request, scripted(request, answered), answered)
        return await self._pages.instead_of_refusals(request, self._post_form(request))

    @described(
        "The terms of use, for anybody to read.",
        page("The terms."),
        caller=Caller.ANYBODY,
        query=(may("version", "Name of a version, without it the one that holds."),),
    )
    async def read(self, request: web.Request) -> web.Response:
        return await self._pages.instead_of_refusals(request, self._read(request))

    async def _get(self, request: web.Request) -> web.Response:
        asked = pb.GetTermsQuestionRequest(
            tenant_id=tenant_of(request),
            browser=self._browsers.of(request),
            authorization_id=single(form_of(query_parameters(request)), "authorization_id"),
            languages=_languages(request),
        )
        timeout = self._config.call_timeout_seconds
        found = await self._authorizations.GetTermsQuestion(asked, timeout=timeout)
        return self._pages.terms_question(found.page, issuer_path(request))

    async def _read(self, request: web.Request) -> web.Response:
        version = single(form_of(query_parameters(request)), "version")
        asked = GetShownTermsRequest(
            tenant_id=tenant_of(request), version=version[:_MAX_VERSION], languages=_languages(request)
        )
        found = await self._terms.GetShownTerms(asked, timeout=self._config.call_timeout_seconds)
        return self._pages.terms(found.terms)

    async def _post_form(self, request: web.Request) -> web.Response:
        form = await read_form(request, self._config.max_form_bytes)
        try:
            decision = Decision(single(form, "decision"))
        except ValueError as error:
            raise bad_request(f"decision: expected {' or '.join(Decision)}") from error
        sent = TermsAnswer(
            authorization_id=single(form, "authorization_id"),
            version=single(form, "version"),
            decision=decision,
        )
        answered = await self._answer(request, sent, csrf_token=single(form, "csrf_token"))
        return self._kept(request, navigated(request, answered, self._pages), answered)

    async def _answer(
        self, request: web.Request, sent: TermsAnswer, *, csrf_token: str = ""
    ) -> pb.AnswerTermsResponse:
        answer = pb.AnswerTermsRequest(
            tenant_id=tenant_of(request),
            browser=self._browsers.of(request, csrf_token),
            authorization_id=sent.authorization_id,
            version=sent.version,
            decision=_DECISIONS[sent.decision],
        )
        return await self._authorizations.AnswerTerms(answer, timeout=self._config.call_timeout_seconds)

    def _kept(
        self, request: web.Request, response: web.Response, answered: pb.AnswerTermsResponse
    ) -> web.Response:
        if answered.HasField("cookie"):
            response.headers[CSRF_HEADER] = answered.cookie.csrf_token
            self._browsers.keep(request, response, cookie=answered.cookie)
        return response


def _languages(request: web.Request) -> list[str]:
    """Return the languages that the browser prefers, best first."""
    wanted = preferences(request.headers.get(hdrs.ACCEPT_LANGUAGE, ""))
    return [tag for tag in wanted if tag.isascii() and len(tag) <= _MAX_TAG]
