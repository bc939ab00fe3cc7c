"""/users/request_reset and /users/{id}/reset: a user sets a password by a link in a mail."""

from collections.abc import Mapping
from dataclasses import dataclass

import msgspec
from aiohttp import hdrs, web

from edge.oidc.access.administration_calls import tenant_and_id, written
from edge.oidc.access.body import JSON, read_json
from edge.oidc.access.browsers import Browsers
from edge.oidc.access.form import form_of, query_parameters, read_form, single
from edge.oidc.access.message_json import members
from edge.oidc.access.tenant import issuer_path, tenant_of
from edge.oidc.config import OidcConfig
from edge.oidc.openapi.operation import Caller, content, described, done, may, needs, page
from edge.oidc.openapi.schemas import BOOLEAN, OBJECT, STRING, an_object
from edge.oidc.pages import Pages
from edge.oidc.pages.explanations import explanation_of_link, explanation_of_password, explanation_of_reset
from edge.oidc.people.shown_links import shown_link
from edge.oidc.stubs import Stubs
from gnomon.identity.v1 import password_reset_service_pb2 as pb
from server.platform.languages import marked

_ACCEPTED = 202


class _ResetBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    email: str
    pow: str
    client_id: str = ""
    redirect_uri: str = ""


class _NewPassword(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    magic_link_id: str
    password: str
    mfa_code: str = ""


@dataclass(frozen=True, slots=True)
class _Cookie:
    value: str
    max_age: int


class PasswordResetEndpoint:
    def __init__(self, stubs: Stubs, config: OidcConfig, *, browsers: Browsers, pages: Pages) -> None:
        self._resets = stubs.password_resets
        self._config = config
        self._timeout = config.call_timeout_seconds
        self._browsers = browsers
        self._pages = pages

    @described(
        "The form by which people ask for a link to choose a password.",
        page("The form."),
        caller=Caller.ANYBODY,
        query=(
            may("client_id", "Client that the user came from."),
            may("redirect_uri", "Address to continue at."),
        ),
    )
    async def get_page(self, request: web.Request) -> web.Response:
        return await self._pages.instead_of_refusals(request, self._get_page(request), explanation_of_reset)

    @described(
        "Sends a letter with a link to choose a password.",
        done(200, "A letter is on its way if there is such an account."),
        page("A letter is on its way if there is such an account; for a form."),
        caller=Caller.ANYBODY,
        body=_ResetBody,
        form=(
            needs("email", "The e-mail address."),
            needs("pow", "The solution of a challenge."),
            may("client_id", "Client that the user came from."),
            may("redirect_uri", "Address to continue at."),
        ),
    )
    async def ask(self, request: web.Request) -> web.Response:
        """Request a link by mail."""
        if request.content_type == JSON:
            sent = await read_json(request, _ResetBody, max_bytes=self._config.max_form_bytes)
            await self._ask(request, sent)
            return web.Response()
        return await self._pages.instead_of_refusals(request, self._ask_by_form(request))

    @described(
        "Opens a link to choose a password.",
        page("The form."),
        content(
            an_object(
                csrf_token=STRING, password_policy=OBJECT, needs_passkey=BOOLEAN, is_new_account=BOOLEAN
            )
        ),
        caller=Caller.ANYBODY,
    )
    async def open(self, request: web.Request) -> web.Response:
        """Open a link, as a page or as JSON; a prefetch does not open it."""
        if _is_prefetch(request):
            return web.Response(headers={hdrs.VARY: hdrs.ACCEPT})
        wants_json = JSON in request.headers.get(hdrs.ACCEPT, "")
        activation = self._open(request, wants_json=wants_json)
        explain = explanation_of_link(marked("Request a new link."), **_another_link(request))
        response = await (
            activation if wants_json else self._pages.instead_of_refusals(request, activation, explain)
        )
        response.headers.add(hdrs.VARY, hdrs.ACCEPT)
        return response

    @described(
        "Sets the password.",
        done(202, "Where the user signs in is in `Location`."),
        caller=Caller.ANYBODY,
        body=_NewPassword,
    )
    async def put(self, request: web.Request) -> web.Response:
        sent = await read_json(request, _NewPassword, max_bytes=self._config.max_form_bytes)
        location = await self._reset(request, sent)
        response = web.Response(status=_ACCEPTED, headers={hdrs.LOCATION: location})
        self._browsers.hold_link(request, response, cookie=_Cookie("", 0))
        return response

    @described(
        "Sets the password, by a form.",
        page("It is set."),
        caller=Caller.ANYBODY,
        form=(
            needs("magic_link_id", "The code of the link."),
            needs("password", "The password."),
            needs("csrf_token", "Of the page."),
        ),
    )
    async def post_form(self, request: web.Request) -> web.Response:
        explain = explanation_of_password(**_another_link(request))
        return await self._pages.instead_of_refusals(request, self._post_form(request), explain)

    async def _get_page(self, request: web.Request) -> web.Response:
        query = form_of(query_parameters(request))
        asked = pb.CheckPasswordResetRequest(tenant_id=tenant_of(request))
        await self._resets.CheckPasswordReset(asked, timeout=self._timeout)
        return self._pages.request_reset(
            issuer_path(request),
            client_id=single(query, "client_id"),
            redirect_uri=single(query, "redirect_uri"),
        )

    async def _ask_by_form(self, request: web.Request) -> web.Response:
        form = await read_form(request, self._config.max_form_bytes)
        await self._ask(request, _ResetBody(*(single(form, name) for name in _ResetBody.__struct_fields__)))
        return self._pages.told(
            marked("Check your inbox"),
            marked(
                "If there is an account with this address, a link to choose a new password is on its way."
            ),
        )

    async def _ask(self, request: web.Request, requested: _ResetBody) -> None:
        asked = pb.RequestPasswordResetRequest(
            tenant_id=tenant_of(request),
            email=requested.email,
            pow=requested.pow,
            client_id=requested.client_id,
            redirect_uri=requested.redirect_uri,
        )
        await self._resets.RequestPasswordReset(asked, timeout=self._timeout)

    async def _open(self, request: web.Request, *, wants_json: bool) -> web.Response:
        (tenant_id, user_id), (_, code) = tenant_and_id(request), tenant_and_id(request, "code")
        link = shown_link(request, self._browsers, user_id=user_id, code=code)
        opened = await self._resets.OpenResetLink(
            pb.OpenResetLinkRequest(tenant_id=tenant_id, link=link), timeout=self._timeout
        )
        response = (
            _document(opened)
            if wants_json
            else self._pages.reset(opened, issuer_path(request), user_id=user_id, code=code)
        )
        self._browsers.hold_link(request, response, cookie=_Cookie(opened.cookie, opened.max_age))
        return response

    async def _post_form(self, request: web.Request) -> web.Response:
        form = await read_form(request, self._config.max_form_bytes)
        sent = _NewPassword(single(form, "magic_link_id"), single(form, "password"))
        location = await self._reset(request, sent, csrf_token=single(form, "csrf_token"))
        response = self._pages.told(
            marked("Your password is set"),
            marked("From now on, sign in with it."),
            way_on=location,
            words=marked("Sign in"),
        )
        self._browsers.hold_link(request, response, cookie=_Cookie("", 0))
        return response

    async def _reset(self, request: web.Request, sent: _NewPassword, *, csrf_token: str = "") -> str:
        tenant_id, user_id = tenant_and_id(request)
        link = shown_link(
            request, self._browsers, user_id=user_id, code=sent.magic_link_id, csrf_token=csrf_token
        )
        asked = pb.ResetPasswordRequest(
            tenant_id=tenant_id,
            link=link,
            password=sent.password,
            passkey_code=sent.mfa_code,
            peer_address=self._browsers.peer_address(request),
        )
        reset = await self._resets.ResetPassword(asked, timeout=self._config.long_call_timeout_seconds)
        return reset.location


def _another_link(request: web.Request) -> Mapping[str, str]:
    """Return the address where a user requests another link."""
    return {"way_on": f"{issuer_path(request)}/users/request_reset", "words": marked("Request a new link")}


def _is_prefetch(request: web.Request) -> bool:
    purpose = request.headers.get("Sec-Purpose", "") or request.headers.get("Purpose", "")
    return request.method == "HEAD" or purpose.startswith("prefetch")


def _document(opened: pb.OpenResetLinkResponse) -> web.Response:
    return written(
        {
            "csrf_token": opened.csrf_token,
            "password_policy": members(opened.password_policy),
            "needs_passkey": opened.needs_passkey,
            "is_new_account": opened.is_new_account,
        }
    )
