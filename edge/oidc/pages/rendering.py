"""The pages, made of what the services say."""

import secrets
from collections.abc import Awaitable, Mapping

import grpc
from aiohttp import web
from jinja2 import Environment, PackageLoader, StrictUndefined

from edge.oidc.pages.assets import Assets
from edge.oidc.pages.look import DEFAULT, Look, logo_address, look_of
from edge.oidc.pages.security_policy import origin_of, preview_policy, security_policy
from edge.oidc.pages.words import words_of
from edge.oidc.refusal import Refused, refused_by_protocol
from gnomon.identity.v1 import authorization_service_pb2, browser_pb2, logout_service_pb2, screen_pb2
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
        }
        return self._page(
            "sign_in.html",
            {"page": page, "state": state, "path": path},
            look=_look(page, path),
            form_origin=page.redirect_origin,
        )

    def shared_sign_in(self, path: str) -> web.Response:
        state = self._state(path, csrf_token="") | {"action": f"{path}/sign-in"}
        return self._page("shared_sign_in.html", {"state": state})

    def signed_in(self) -> web.Response:
        return self._page("signed_in.html", {})

    def passkey(
        self, follows: authorization_service_pb2.SecondFactor, path: str, *, csrf_token: str
    ) -> web.Response:
        """For a person whose password is right, and who has a passkey."""
        second_factor = {"code": follows.code, "user_id": follows.user_id}
        state = self._state(path, csrf_token) | {"second_factor": second_factor}
        return self._page("passkey.html", {"state": state}, look=_look(follows, path))

    def go_on(self, page: authorization_service_pb2.SignInPage, path: str) -> web.Response:
        """For a person who is signed in already."""
        state = self._state(path, page.csrf_token) | {
            "authorization_id": page.authorization_id,
            "action": f"{path}/oidc/authorize/refresh",
        }
        return self._page(
            "go_on.html",
            {"page": page, "state": state},
            look=_look(page, path),
            form_origin=page.redirect_origin,
        )

    def consent(self, page: authorization_service_pb2.ConsentPage, path: str) -> web.Response:
        facts = {
            "page": page,
            "action": f"{path}/oidc/authorize/consent",
            "scopes": [words_of(scope) for scope in page.scopes],
        }
        return self._page("consent.html", facts, look=_look(page, path), form_origin=page.redirect_origin)

    def device(self, path: str, user_code: str, *, csrf_token: str) -> web.Response:
        state = self._state(path, csrf_token) | {"action": f"{path}/oidc/device/verify"}
        return self._page("device.html", {"user_code": user_code, "state": state})

    def log_out(self, page: logout_service_pb2.LogoutPage, path: str) -> web.Response:
        facts = {"page": page, "action": f"{path}/oidc/logout"}
        return self._page("log_out.html", facts, look=_look(page, path), form_origin=page.redirect_origin)

    def signed_out(self, page: logout_service_pb2.SignedOutPage, path: str) -> web.Response:
        return self._page("signed_out.html", {}, look=_look(page, path))

    def sign_in_preview(self, screen: screen_pb2.Screen, path: str, *, client_name: str) -> web.Response:
        """Show a screen that can be looked at, and nothing else."""
        page = authorization_service_pb2.SignInPage(client_id=screen.client_id, client_name=client_name)
        state = {"action": "", "csrf_token": "", "authorization_id": ""}
        look = look_of(screen, path, is_preview=True)
        return self._page("sign_in.html", {"page": page, "state": state, "path": path}, look=look)

    def log_out_preview(self, screen: screen_pb2.Screen, path: str, *, client_name: str) -> web.Response:
        """Show a screen that can be looked at, and nothing else."""
        page = logout_service_pb2.LogoutPage(client_id=screen.client_id, client_name=client_name)
        look = look_of(screen, path, is_preview=True)
        return self._page("log_out.html", {"page": page, "action": ""}, look=look)

    def form_post(self, redirect: browser_pb2.Redirect) -> web.Response:
        return self._page("form_post.html", {"redirect": redirect}, form_origin=origin_of(redirect.uri))

    def error(self, page: browser_pb2.ErrorPage) -> web.Response:
        return self._page("error.html", {"page": page}, status=page.status or 400)

    async def instead_of_refusals(self, answer: Awaitable[web.Response]) -> web.Response:
        """Answer a browser that navigates, for whom a refusal is a page."""
        try:
            return await answer
        except Refused as refusal:
            return self._refusal(refusal)
        except grpc.RpcError as failure:
            return self._refusal(refused_by_protocol(error_of(failure)))

    def _refusal(self, refusal: Refused) -> web.Response:
        page = browser_pb2.ErrorPage(status=refusal.status, error=refusal.error, description=refusal.message)
        response = self.error(page)
        response.headers.update(refusal.headers)
        return response

    def _state(self, path: str, csrf_token: str) -> dict[str, object]:
        """What every script needs."""
        return {
            "csrf_token": csrf_token,
            "pow": f"{path}/pow",
            "users": f"{path}/users",
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
    ) -> web.Response:
        nonce = secrets.token_urlsafe(_NONCE_BYTES)
        text = self._templates.get_template(template).render(
            facts, screen=look, assets=self._assets, nonce=nonce
        )
        if look.is_preview:
            # A page of ours frames it.
            headers = {
                "Content-Security-Policy": preview_policy(nonce),
                "X-Frame-Options": "SAMEORIGIN",
            }
        else:
            headers = {"Content-Security-Policy": security_policy(nonce, form_origin)}
        return web.Response(status=status, text=text, content_type="text/html", headers=headers)


_OfClient = (
    authorization_service_pb2.SignInPage
    | authorization_service_pb2.SecondFactor
    | authorization_service_pb2.ConsentPage
    | logout_service_pb2.LogoutPage
    | logout_service_pb2.SignedOutPage
)
_WITH_LOGO = (authorization_service_pb2.SignInPage, authorization_service_pb2.ConsentPage)


def _look(page: _OfClient, path: str) -> Look:
    """Return the client's screen, or the default theme with its logo."""
    if page.HasField("screen"):
        return look_of(page.screen, path)
    if isinstance(page, _WITH_LOGO) and page.client_logo_id:
        return Look(logo=logo_address(page.client_id, page.client_logo_id, path))
    return DEFAULT
