"""The pages, made of what the services say."""

import secrets
from collections.abc import Awaitable, Mapping
from urllib.parse import quote, urlencode

import grpc
from aiohttp import web
from jinja2 import Environment, PackageLoader, StrictUndefined

from edge.oidc.came_from import CameFrom
from edge.oidc.pages.assets import Assets
from edge.oidc.pages.security_policy import origin_of, security_policy
from edge.oidc.pages.words import words_of
from edge.oidc.refusal import Refused, refused_by_protocol
from gnomon.identity.v1 import (
    authorization_service_pb2,
    browser_pb2,
    logout_service_pb2,
    password_reset_service_pb2,
)
from server.platform.channels import error_of

_NONCE_BYTES = 18


class Pages:
    """`path` is that of the tenant's issuer, without a slash at its end."""

    def __init__(self, assets: Assets) -> None:
        self._assets = assets.addresses
        self._templates = Environment(
            loader=PackageLoader("edge.oidc.pages"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
        )

    def sign_in(self, page: authorization_service_pb2.SignInPage, path: str) -> web.Response:
        state = self._state(path, page.csrf_token) | {
            "authorization_id": page.authorization_id,
            "action": f"{path}/oidc/authorize",
            "email_action": f"{path}/oidc/authorize/email",
            "provider_login": f"{path}/providers/login",
            "send_again": f"{path}/users/request_confirmation",
        }
        came_from = CameFrom.of_page(page)
        registration = came_from.registration_address(path) if came_from.parameters else ""
        forgotten = f"{path}/users/request_reset?{urlencode({'client_id': page.client_id})}"
        facts = {
            "page": page,
            "state": state,
            "path": path,
            "logo": _logo(page, path),
            "forgotten": forgotten,
            "registration": registration,
        }
        return self._page("sign_in.html", facts, form_origin=page.redirect_origin)

    def shared_sign_in(self, path: str) -> web.Response:
        state = self._state(path, csrf_token="") | {"action": f"{path}/sign-in"}
        return self._page("shared_sign_in.html", {"state": state})

    def signed_in(self) -> web.Response:
        return self._page("signed_in.html", {})

    def second_factor(
        self, follows: authorization_service_pb2.SecondFactor, path: str, *, csrf_token: str
    ) -> web.Response:
        """For a person whose password is right, and who has a passkey or codes."""
        if authorization_service_pb2.SECOND_FACTOR_METHOD_PASSKEY not in follows.methods:
            return self.one_time_code(
                follows.code, path, csrf_token=csrf_token, form_origin=follows.redirect_origin
            )
        second_factor = {"code": follows.code, "user_id": follows.user_id}
        facts = {
            "state": self._state(path, csrf_token) | {"second_factor": second_factor},
            "code": follows.code,
            "takes_codes": len(follows.methods) > 1,
        }
        return self._page("passkey.html", facts, form_origin=follows.redirect_origin)

    def one_time_code(
        self, code: str, path: str, *, csrf_token: str, form_origin: str, is_wrong: bool = False
    ) -> web.Response:
        """For a person who is asked for a code, the first time or once more."""
        facts = {"state": self._state(path, csrf_token), "code": code, "is_wrong": is_wrong}
        status = 401 if is_wrong else 200
        return self._page("one_time_code.html", facts, status=status, form_origin=form_origin)

    def go_on(self, page: authorization_service_pb2.SignInPage, path: str) -> web.Response:
        """For a person who is signed in already."""
        state = self._state(path, page.csrf_token) | {
            "authorization_id": page.authorization_id,
            "action": f"{path}/oidc/authorize/refresh",
        }
        facts = {"page": page, "state": state, "logo": _logo(page, path)}
        return self._page("go_on.html", facts, form_origin=page.redirect_origin)

    def consent(self, page: authorization_service_pb2.ConsentPage, path: str) -> web.Response:
        facts = {
            "page": page,
            "action": f"{path}/oidc/authorize/consent",
            "scopes": [words_of(scope) for scope in page.scopes],
            "logo": _logo(page, path),
        }
        return self._page("consent.html", facts, form_origin=page.redirect_origin)

    def device(self, path: str, user_code: str, *, csrf_token: str) -> web.Response:
        state = self._state(path, csrf_token) | {"action": f"{path}/oidc/device/verify"}
        return self._page("device.html", {"user_code": user_code, "state": state})

    def log_out(self, page: logout_service_pb2.LogoutPage, path: str) -> web.Response:
        facts = {"page": page, "action": f"{path}/oidc/logout"}
        return self._page("log_out.html", facts, form_origin=page.redirect_origin)

    def signed_out(self) -> web.Response:
        return self._page("signed_out.html", {})

    def form_post(self, redirect: browser_pb2.Redirect) -> web.Response:
        return self._page("form_post.html", {"redirect": redirect}, form_origin=origin_of(redirect.uri))

    def request_reset(self, path: str, *, client_id: str, redirect_uri: str) -> web.Response:
        """For a person who forgot the password, and came from a client or from nowhere."""
        state = self._state(path, csrf_token="") | {
            "action": f"{path}/users/request_reset",
            "client_id": client_id,
            "redirect_uri": redirect_uri,
        }
        return self._page("request_reset.html", {"state": state})

    def reset(
        self, opened: password_reset_service_pb2.OpenResetLinkResponse, path: str, *, user_id: str, code: str
    ) -> web.Response:
        """For a person who opened a link."""
        person = f"{path}/users/{quote(user_id, safe='')}"
        state = self._state(path, opened.csrf_token) | {
            "action": f"{person}/reset",
            "webauthn": f"{person}/webauthn",
            "magic_link_id": code,
            "needs_passkey": opened.needs_passkey,
        }
        return self._page("reset.html", {"opened": opened, "state": state})

    def question(self, heading: str, text: str, *, button: str, action: str) -> web.Response:
        """Ask once more before something is done: whatever opens addresses by itself presses no button."""
        facts = {"heading": heading, "text": text, "button": button, "action": action}
        return self._page("question.html", facts)

    def told(self, heading: str, text: str, *, way_on: str = "", words: str = "Go on") -> web.Response:
        """Say what has happened; `way_on` is an address that the person may want to go to."""
        return self._page("told.html", {"heading": heading, "text": text, "way_on": way_on, "words": words})

    def error(self, page: browser_pb2.ErrorPage, *, way_on: str = "") -> web.Response:
        return self._page("error.html", {"page": page, "way_on": way_on}, status=page.status or 400)

    async def instead_of_refusals(self, answer: Awaitable[web.Response]) -> web.Response:
        """Answer a browser that navigates, for whom a refusal is a page."""
        try:
            return await answer
        except Refused as refusal:
            return self._refusal(refusal)
        except grpc.RpcError as failure:
            return self._refusal(refused_by_protocol(error_of(failure)))

    def rendered(self, template: str, facts: Mapping[str, object], *, status: int = 200) -> web.Response:
        return self._page(template, facts, status=status)

    def state(self, path: str, action: str) -> dict[str, object]:
        """What the script of a page that needs no session is told: where it sends its form, and the rest."""
        return self._state(path, csrf_token="") | {"action": f"{path}{action}"}

    def _refusal(self, refusal: Refused) -> web.Response:
        page = browser_pb2.ErrorPage(status=refusal.status, error=refusal.error, description=refusal.message)
        response = self.error(page, way_on=str(refusal.members.get("location", "")))
        response.headers.update(refusal.headers)
        return response

    def _state(self, path: str, csrf_token: str) -> dict[str, object]:
        """What every script needs."""
        return {
            "csrf_token": csrf_token,
            "pow": f"{path}/pow",
            "users": f"{path}/users",
            "code_action": f"{path}/oidc/authorize/one_time_code",
            "worker": self._assets["proof_of_work.js"],
        }

    def _page(
        self, template: str, facts: Mapping[str, object], *, status: int = 200, form_origin: str = ""
    ) -> web.Response:
        nonce = secrets.token_urlsafe(_NONCE_BYTES)
        text = self._templates.get_template(template).render(facts, assets=self._assets, nonce=nonce)
        policy = security_policy(nonce, form_origin)
        headers = {"Content-Security-Policy": policy}
        return web.Response(status=status, text=text, content_type="text/html", headers=headers)


def _logo(
    page: authorization_service_pb2.SignInPage | authorization_service_pb2.ConsentPage, path: str
) -> str:
    """Where the logo of the client is, empty without one."""
    if not page.client_logo_id:
        return ""
    return f"{path}/clients/{quote(page.client_id, safe='')}/logo?updated={page.client_logo_id}"
