"""Renders the provider's pages from responses of the services."""

import secrets
from collections.abc import Awaitable, Collection, Iterable, Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Final
from urllib.parse import quote, urlencode

import grpc
from aiohttp import web

from edge.language_of_request import kept_language, name_language
from edge.metadata import new_request_id
from edge.oidc.access.originating_request import OriginatingRequest
from edge.oidc.access.refusal import TOO_MANY_REQUESTS, Refused, refused_by_protocol
from edge.oidc.access.support_sessions import kept_acting
from edge.oidc.pages.assets import FOLDER, PageAssets
from edge.oidc.pages.explanations import OF_APPLICATION, Explain, Explanation, explanation_of, sentence_of
from edge.oidc.pages.look import DEFAULT, Look, logo_address, look_of
from edge.oidc.pages.security_policy import origin_of, preview_policy, security_policy
from edge.oidc.pages.words import all_words, words_of
from edge.problem import REQUEST_ID
from edge.script_texts import ScriptTexts
from edge.templates import Templates
from gnomon.identity.v1 import (
    authorization_service_pb2,
    browser_pb2,
    logout_service_pb2,
    password_reset_service_pb2,
    screen_pb2,
    terms_of_use_service_pb2,
)
from server.platform.channels import error_of
from server.platform.clock import Clock
from server.platform.languages import Language, marked

_SIGN_IN = "sign_in.html"
_NONCE_BYTES = 18
_CONTINUE = marked("Continue")
_NO_VALUES: Final[Mapping[str, str]] = {}
CODE_METHODS = {
    authorization_service_pb2.SECOND_FACTOR_METHOD_ONE_TIME_CODE: "one_time_code",
    authorization_service_pb2.SECOND_FACTOR_METHOD_RECOVERY_CODE: "recovery_code",
    authorization_service_pb2.SECOND_FACTOR_METHOD_EMAIL_CODE: "email_code",
}
_TEXTS = ScriptTexts(FOLDER)
_TEMPLATES = Templates("edge.oidc.pages", values=lambda language: {"texts_of": partial(_TEXTS.of, language)})


class Pages:
    """`path` is the path of the tenant's issuer, without a final slash."""

    def __init__(self, assets: PageAssets, clock: Clock) -> None:
        self._assets = assets.addresses
        self._clock = clock

    def sign_in(self, page: authorization_service_pb2.SignInPage, path: str) -> web.Response:
        state = self._state(path, page.csrf_token) | {
            "authorization_id": page.authorization_id,
            "action": f"{path}/oidc/authorize",
            "email_action": f"{path}/oidc/authorize/email",
            "provider_login": f"{path}/providers/login",
            "send_again": f"{path}/users/request_confirmation",
        }
        originating_request = OriginatingRequest.of_page(page)
        registration = (
            originating_request.registration_address(path) if originating_request.parameters else ""
        )
        wishes = {"ui_locales": " ".join(page.ui_locales)} if page.ui_locales else {}
        forgotten = f"{path}/users/request_reset?{urlencode({'client_id': page.client_id, **wishes})}"
        facts = {
            "page": page,
            "state": state,
            "path": path,
            "forgotten": forgotten,
            "registration": registration,
        }
        return self._page(
            _SIGN_IN,
            facts,
            look=_look(page, path),
            form_origin=page.redirect_origin,
            other_origins=page.form_origins,
            language=kept_language(ui_locales=page.ui_locales),
        )

    def shared_sign_in(self, path: str) -> web.Response:
        state = self._state(path, csrf_token="") | {"action": f"{path}/sign-in"}
        return self._page("shared_sign_in.html", {"state": state})

    def signed_in(self, path: str) -> web.Response:
        return self._page("signed_in.html", {"path": path})

    def second_factor(
        self, follows: authorization_service_pb2.SecondFactor, path: str, *, csrf_token: str
    ) -> web.Response:
        """The page after a right password of a user with a passkey or codes."""
        methods = [CODE_METHODS[method] for method in follows.methods if method in CODE_METHODS]
        if authorization_service_pb2.SECOND_FACTOR_METHOD_PASSKEY not in follows.methods:
            return self.one_time_code(
                follows.code,
                path,
                csrf_token=csrf_token,
                form_origin=follows.redirect_origin,
                methods=methods,
                look=_look(follows, path),
            )
        second_factor = {"code": follows.code, "user_id": follows.user_id}
        facts = {
            "state": self._state(path, csrf_token) | {"second_factor": second_factor},
            "code": follows.code,
            "methods": methods,
        }
        look = _look(follows, path)
        return self._page("passkey.html", facts, look=look, form_origin=follows.redirect_origin)

    def one_time_code(
        self,
        code: str,
        path: str,
        *,
        csrf_token: str,
        form_origin: str,
        methods: Collection[str],
        look: Look = DEFAULT,
        is_wrong: bool = False,
        is_sent: bool = False,
    ) -> web.Response:
        """The page that asks for a code, again after a wrong one or when another was sent.

        `methods` are the kinds of codes that it accepts.
        """
        facts = {
            "state": self._state(path, csrf_token),
            "code": code,
            "methods": methods,
            "is_wrong": is_wrong,
            "is_sent": is_sent,
        }
        status = 401 if is_wrong else 200
        return self._page("one_time_code.html", facts, status=status, look=look, form_origin=form_origin)

    def go_on(self, page: authorization_service_pb2.SignInPage, path: str) -> web.Response:
        """The page for a user who is already signed in."""
        state = self._state(path, page.csrf_token) | {
            "authorization_id": page.authorization_id,
            "action": f"{path}/oidc/authorize/refresh",
        }
        return self._page(
            "go_on.html",
            {"page": page, "state": state},
            look=_look(page, path),
            form_origin=page.redirect_origin,
            language=kept_language(ui_locales=page.ui_locales),
        )

    def consent(self, page: authorization_service_pb2.ConsentPage, path: str) -> web.Response:
        language = kept_language(ui_locales=page.ui_locales, of_user=page.user_language)
        facts = {
            "page": page,
            "action": f"{path}/oidc/authorize/consent",
            "account": f"{path}/account",
            "scopes": [words_of(scope, language) for scope in page.scopes],
        }
        return self._page(
            "consent.html",
            facts,
            look=_look(page, path),
            form_origin=page.redirect_origin,
            language=language,
        )

    def terms_question(self, page: authorization_service_pb2.TermsQuestion, path: str) -> web.Response:
        language = kept_language(ui_locales=page.ui_locales, of_user=page.user_language)
        until = page.accept_until if page.HasField("accept_until") else 0
        facts = {
            "page": page,
            "terms": page.terms,
            "action": f"{path}/oidc/authorize/terms",
            "holds_from": _moment(language, page.terms.holds_from),
            "accept_until": _moment(language, until) if until else "",
        }
        look = _look(page, path)
        return self._page(
            "accept_terms.html", facts, look=look, form_origin=page.redirect_origin, language=language
        )

    def terms(self, terms: terms_of_use_service_pb2.ShownTerms) -> web.Response:
        """The page with terms of use that anybody may read."""
        facts = {"terms": terms, "holds_from": _moment(kept_language(), terms.holds_from)}
        return self._page("terms_of_use.html", facts)

    def device(self, path: str, user_code: str, *, csrf_token: str) -> web.Response:
        state = self._state(path, csrf_token) | {
            "action": f"{path}/oidc/device/verify",
            "scopes": all_words(kept_language()),
        }
        return self._page("device.html", {"user_code": user_code, "state": state})

    def log_out(self, page: logout_service_pb2.LogoutPage, path: str) -> web.Response:
        facts = {"page": page, "action": f"{path}/oidc/logout"}
        return self._page("log_out.html", facts, look=_look(page, path), form_origin=page.redirect_origin)

    def signed_out(self, page: logout_service_pb2.SignedOutPage, path: str) -> web.Response:
        return self._page("signed_out.html", {"path": path}, look=_look(page, path))

    def front_channel_logout(
        self, page: logout_service_pb2.FrontChannelLogout, path: str, *, way_on: str
    ) -> web.Response:
        """The page that loads addresses of clients in frames, and then goes on to `way_on`, empty to stay."""
        facts = {"path": path, "uris": page.uris, "way_on": way_on}
        look = _look(page, path)
        origins = sorted(set(map(origin_of, page.uris)))
        return self._page("front_channel_logout.html", facts, look=look, frame_origins=origins)

    def sign_in_preview(self, screen: screen_pb2.Screen, path: str, *, client_name: str) -> web.Response:
        """Render a sign-in screen without any function."""
        page = authorization_service_pb2.SignInPage(client_id=screen.client_id, client_name=client_name)
        facts = {
            "page": page,
            "state": {
                "action": "",
                "code_action": "",
                "email_code_action": "",
                "csrf_token": "",
                "authorization_id": "",
            },
            "path": path,
            "forgotten": "",
            "registration": "",
        }
        return self._page(_SIGN_IN, facts, look=look_of(screen, path, is_preview=True))

    def log_out_preview(self, screen: screen_pb2.Screen, path: str, *, client_name: str) -> web.Response:
        """Render a sign-out screen without any function."""
        page = logout_service_pb2.LogoutPage(client_id=screen.client_id, client_name=client_name)
        look = look_of(screen, path, is_preview=True)
        return self._page("log_out.html", {"page": page, "action": ""}, look=look)

    def form_post(self, redirect: browser_pb2.Redirect) -> web.Response:
        return self._page("form_post.html", {"redirect": redirect}, form_origin=origin_of(redirect.uri))

    def posted_again(
        self, action: str, parameters: Iterable[tuple[str, str]], *, form_origin: str
    ) -> web.Response:
        """The page that posts another site's form again; `form_origin` is where the response may redirect."""
        again = (browser_pb2.Parameter(name=name, value=value) for name, value in parameters)
        redirect = browser_pb2.Redirect(uri=action, parameters=again)
        return self._page("form_post.html", {"redirect": redirect}, form_origin=form_origin)

    def request_reset(self, path: str, *, client_id: str, redirect_uri: str) -> web.Response:
        """The page for a forgotten password, with the referring client, if any."""
        state = self._state(path, csrf_token="") | {
            "action": f"{path}/users/request_reset",
            "client_id": client_id,
            "redirect_uri": redirect_uri,
        }
        return self._page("request_reset.html", {"state": state, "back": f"{path}/"})

    def reset(
        self, opened: password_reset_service_pb2.OpenResetLinkResponse, path: str, *, user_id: str, code: str
    ) -> web.Response:
        """The page of an opened password link."""
        person = f"{path}/users/{quote(user_id, safe='')}"
        state = self._state(path, opened.csrf_token) | {
            "action": f"{person}/reset",
            "webauthn": f"{person}/webauthn",
            "magic_link_id": code,
            "needs_passkey": opened.needs_passkey,
        }
        return self._page("reset.html", {"opened": opened, "state": state})

    def question(
        self, heading: str, text: str, *, button: str, action: str, values: Mapping[str, str] = _NO_VALUES
    ) -> web.Response:
        """The page that asks for a confirmation: programs that open addresses press no button.

        Texts are English, with `values` for the placeholders of `text`.
        """
        translated = kept_language().translated
        facts = {
            "heading": translated(heading),
            "text": translated(text, **values),
            "button": translated(button),
            "action": action,
        }
        return self._page("question.html", facts)

    def told(
        self,
        heading: str,
        text: str,
        *,
        way_on: str = "",
        words: str = _CONTINUE,
        values: Mapping[str, str] = _NO_VALUES,
    ) -> web.Response:
        """The page that reports a result; `way_on` is the address of a link to continue.

        Texts are English, with `values` for the placeholders of `text`.
        """
        translated = kept_language().translated
        facts = {
            "heading": translated(heading),
            "text": translated(text, **values),
            "way_on": way_on,
            "words": translated(words),
        }
        return self._page("told.html", facts)

    def error(self, request: web.Request, page: browser_pb2.ErrorPage) -> web.Response:
        """The page for an authorization request that cannot continue."""
        refusal = Refused(page.status or 400, page.error, page.description)
        return self._error(request, refusal, OF_APPLICATION)

    def refusal(
        self, request: web.Request, refusal: Refused, explain: Explain = explanation_of
    ) -> web.Response:
        """The page that explains an error, with the request id for the search in the log."""
        if refusal.status == TOO_MANY_REQUESTS:
            return self._try_later(refusal)
        response = self._error(request, refusal, explain(refusal))
        response.headers.update(refusal.headers_at(self._clock.now()))
        return response

    async def instead_of_refusals(
        self, request: web.Request, answer: Awaitable[web.Response], explain: Explain = explanation_of
    ) -> web.Response:
        """Return the response; for a browser that navigates, an error becomes a page."""
        try:
            return await answer
        except Refused as refusal:
            return self.refusal(request, refusal, explain)
        except grpc.RpcError as failure:
            return self.refusal(request, refused_by_protocol(error_of(failure)), explain)

    def rendered(
        self,
        template: str,
        facts: Mapping[str, object],
        *,
        status: int = 200,
        form_origins: Iterable[str] = (),
        language: Language | None = None,
    ) -> web.Response:
        return self._page(template, facts, status=status, other_origins=form_origins, language=language)

    def state(self, path: str, action: str) -> dict[str, object]:
        """Return the data for the script of a page without a session, with the address for its form."""
        return self._state(path, csrf_token="") | {"action": f"{path}{action}"}

    def _try_later(self, refusal: Refused) -> web.Response:
        now = self._clock.now()
        language = kept_language()
        facts = {
            "reason": language.translated(sentence_of(refusal)),
            "wait": language.in_time(refusal.seconds_to_wait(now)),
        }
        response = self._page("try_later.html", facts, status=refusal.status)
        response.headers.update(refusal.headers_at(now))
        return response

    def _error(self, request: web.Request, refusal: Refused, explanation: Explanation) -> web.Response:
        request_id = request.get(REQUEST_ID) or new_request_id()
        language = kept_language()
        facts = {
            "refusal": refusal,
            "heading": language.translated(explanation.heading),
            "text": explanation.text(language),
            "way_on": explanation.way_on,
            "words": language.translated(explanation.words),
            "request_id": request_id,
        }
        response = self._page("error.html", facts, status=refusal.status)
        response.headers["X-Request-Id"] = request_id
        return response

    def _state(self, path: str, csrf_token: str) -> dict[str, object]:
        """Return the data that every script needs."""
        return {
            "csrf_token": csrf_token,
            "pow": f"{path}/pow",
            "users": f"{path}/users",
            "code_action": f"{path}/oidc/authorize/one_time_code",
            "email_code_action": f"{path}/oidc/authorize/email_code",
            "worker": self._assets["proof_of_work.js"],
        }

    def _page(
        self,
        template: str,
        facts: Mapping[str, object],
        *,
        status: int = 200,
        look: Look = DEFAULT,
        form_origin: str = "",
        other_origins: Iterable[str] = (),
        frame_origins: Iterable[str] = (),
        language: Language | None = None,
    ) -> web.Response:
        nonce = secrets.token_urlsafe(_NONCE_BYTES)
        language = language or kept_language()
        # No user is signed in where this page is shown.
        acting = None if look.is_preview or template == _SIGN_IN else kept_acting()
        own = {"screen": look, "assets": self._assets, "nonce": nonce, "acting": acting}
        text = _TEMPLATES.of(language, template).render({**own, **facts})
        if look.is_preview:
            # A page of ours shows the preview in a frame.
            headers = {
                "Content-Security-Policy": preview_policy(nonce),
                "X-Frame-Options": "SAMEORIGIN",
            }
        else:
            policy = security_policy(nonce, form_origin, *other_origins, frame_origins=frame_origins)
            headers = {"Content-Security-Policy": policy}
        response = web.Response(status=status, text=text, content_type="text/html", headers=headers)
        name_language(response, language)
        return response


_OfClient = (
    authorization_service_pb2.SignInPage
    | authorization_service_pb2.SecondFactor
    | authorization_service_pb2.ConsentPage
    | authorization_service_pb2.TermsQuestion
    | logout_service_pb2.LogoutPage
    | logout_service_pb2.SignedOutPage
    | logout_service_pb2.FrontChannelLogout
)
_WITH_LOGO = (
    authorization_service_pb2.SignInPage,
    authorization_service_pb2.ConsentPage,
    authorization_service_pb2.TermsQuestion,
)


def _moment(language: Language, seconds: int) -> str:
    return language.moment(datetime.fromtimestamp(seconds, UTC))


def _look(page: _OfClient, path: str) -> Look:
    """Return the client's screen, or the default theme with its logo."""
    if page.HasField("screen"):
        return look_of(page.screen, path)
    if isinstance(page, _WITH_LOGO) and page.client_logo_id:
        return Look(logo=logo_address(page.client_id, page.client_logo_id, path))
    return DEFAULT
