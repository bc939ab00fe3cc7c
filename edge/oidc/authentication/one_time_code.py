"""POST /oidc/authorize/one_time_code and /email_code: the step of the sign-in with a code, also without script."""

import grpc
import msgspec
from aiohttp import web

from edge.oidc.access.body import JSON, read_json
from edge.oidc.access.browsers import CSRF_HEADER, Browsers
from edge.oidc.access.form import Form, read_form, single
from edge.oidc.access.tenant import issuer_path, tenant_of
from edge.oidc.authentication.steps import navigated, scripted
from edge.oidc.config import OidcConfig
from edge.oidc.openapi.operation import Caller, described, done, may, needs, page, redirect
from edge.oidc.pages import CODE_METHODS, Pages
from edge.oidc.stubs import Stubs
from gnomon.identity.v1 import one_time_code_service_pb2 as pb
from server.platform.channels import error_of

_WRONG = "WRONG_CODE"
_METHODS = frozenset(CODE_METHODS.values())


class _Answer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    code: str
    one_time_code: str


class _Question(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    code: str


class OneTimeCodeEndpoint:
    def __init__(self, stubs: Stubs, config: OidcConfig, *, browsers: Browsers, pages: Pages) -> None:
        self._codes = stubs.one_time_codes
        self._config = config
        self._browsers = browsers
        self._pages = pages

    @described(
        "Takes the second factor of a sign-in: a one-time code, or a recovery code.",
        page("The next page of the sign-in."),
        redirect("The redirect URI with the response, for a form.", status=303),
        done(202, "The redirect URI with the response is in `Location`, for JSON."),
        caller=Caller.BROWSER,
        body=_Answer,
        form=(
            needs("code", "The sign-in that waits for the factor."),
            needs("one_time_code", "The code of the app, or a recovery code."),
            may("methods", "The methods that the page offers."),
            may("csrf_token", "Of the page."),
        ),
    )
    async def post(self, request: web.Request) -> web.Response:
        if request.content_type == JSON:
            return await self._post_json(request)
        return await self._pages.instead_of_refusals(request, self._post_form(request))

    @described(
        "Mails a code to the user whose sign-in waits for a second factor.",
        done(204, "The code is on its way, for JSON."),
        page("The form for the code."),
        caller=Caller.BROWSER,
        body=_Question,
        form=(
            needs("code", "The sign-in that waits for the factor."),
            may("methods", "The methods that the page offers."),
            may("csrf_token", "Of the page."),
        ),
    )
    async def send(self, request: web.Request) -> web.Response:
        if request.content_type == JSON:
            asked = await read_json(request, _Question, max_bytes=self._config.max_form_bytes)
            await self._send(request, asked.code)
            return web.Response(status=204)
        return await self._pages.instead_of_refusals(request, self._send_by_form(request))

    async def _send_by_form(self, request: web.Request) -> web.Response:
        form = await read_form(request, self._config.max_form_bytes)
        origin = await self._send(request, single(form, "code"), csrf_token=single(form, "csrf_token"))
        return self._once_more(request, form, form_origin=origin, is_sent=True)

    async def _send(self, request: web.Request, code: str, *, csrf_token: str = "") -> str:
        asked = pb.SendEmailCodeRequest(
            tenant_id=tenant_of(request), browser=self._browsers.of(request, csrf_token), code=code
        )
        sent = await self._codes.SendEmailCode(asked, timeout=self._config.call_timeout_seconds)
        return sent.redirect_origin

    async def _post_json(self, request: web.Request) -> web.Response:
        sent = await read_json(request, _Answer, max_bytes=self._config.max_form_bytes)
        submitted = await self._submit(request, sent)
        return self._kept(request, scripted(request, submitted), submitted)

    async def _post_form(self, request: web.Request) -> web.Response:
        form = await read_form(request, self._config.max_form_bytes)
        sent = _Answer(code=single(form, "code"), one_time_code=single(form, "one_time_code"))
        try:
            submitted = await self._submit(request, sent, csrf_token=single(form, "csrf_token"))
        except grpc.RpcError as failure:
            refusal = error_of(failure)
            if refusal.metadata.get("cause") != _WRONG:
                raise
            return self._once_more(request, form, form_origin=refusal.metadata["redirect_origin"])
        return self._kept(request, navigated(request, submitted, self._pages), submitted)

    async def _submit(
        self, request: web.Request, sent: _Answer, *, csrf_token: str = ""
    ) -> pb.SubmitOneTimeCodeResponse:
        asked = pb.SubmitOneTimeCodeRequest(
            tenant_id=tenant_of(request),
            browser=self._browsers.of(request, csrf_token),
            code=sent.code,
            one_time_code=sent.one_time_code,
        )
        return await self._codes.SubmitOneTimeCode(asked, timeout=self._config.long_call_timeout_seconds)

    def _once_more(
        self, request: web.Request, form: Form, *, form_origin: str, is_sent: bool = False
    ) -> web.Response:
        return self._pages.one_time_code(
            single(form, "code"),
            issuer_path(request),
            csrf_token=single(form, "csrf_token"),
            form_origin=form_origin,
            # The page knows which methods the user has.
            methods=_METHODS.intersection(single(form, "methods").split()) or _METHODS,
            is_wrong=not is_sent,
            is_sent=is_sent,
        )

    def _kept(
        self, request: web.Request, response: web.Response, submitted: pb.SubmitOneTimeCodeResponse
    ) -> web.Response:
        if submitted.HasField("cookie"):
            response.headers[CSRF_HEADER] = submitted.cookie.csrf_token
            self._browsers.keep(request, response, cookie=submitted.cookie)
        if submitted.HasField("remembered"):
            self._browsers.remember(request, response, factor=submitted.remembered)
        return response
