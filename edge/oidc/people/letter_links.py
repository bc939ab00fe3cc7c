"""/users/{id}/revoke/{code} and /users/{id}/email_change/{code}: pages of links in mails.

Only the button of the page changes something: mail scanners open links, but press no button.
"""

from aiohttp import web

from edge.oidc.access.administration_calls import tenant_and_id
from edge.oidc.access.browsers import Browsers
from edge.oidc.access.tenant import issuer_path
from edge.oidc.config import OidcConfig
from edge.oidc.openapi.operation import Caller, described, page
from edge.oidc.pages import Pages
from edge.oidc.pages.explanations import Explain, explanation_of_link
from edge.oidc.stubs import Stubs
from gnomon.identity.v1 import account_service_pb2, sign_in_revocation_service_pb2
from server.platform.languages import marked


class RevocationLinkEndpoint:
    """The link by which a user reports a change as not theirs."""

    def __init__(self, stubs: Stubs, config: OidcConfig, *, browsers: Browsers, pages: Pages) -> None:
        self._revocations = stubs.sign_in_revocations
        self._timeout = config.call_timeout_seconds
        self._browsers = browsers
        self._pages = pages

    @described(
        "Asks whether to end all sessions of an account.", page("The question."), caller=Caller.ANYBODY
    )
    async def get(self, request: web.Request) -> web.Response:
        return await self._pages.instead_of_refusals(request, self._get(request), _to_new_password(request))

    @described(
        "Ends all sessions of an account, and cancels unconfirmed changes.",
        page("They have ended."),
        caller=Caller.ANYBODY,
    )
    async def post(self, request: web.Request) -> web.Response:
        return await self._pages.instead_of_refusals(request, self._post(request), _to_new_password(request))

    async def _get(self, request: web.Request) -> web.Response:
        (tenant_id, user_id), (_, code) = tenant_and_id(request), tenant_and_id(request, "code")
        asked = sign_in_revocation_service_pb2.CheckRevocationLinkRequest(
            tenant_id=tenant_id, user_id=user_id, code=code
        )
        await self._revocations.CheckRevocationLink(asked, timeout=self._timeout)
        return self._pages.question(
            marked("Was this not you?"),
            marked(
                "If not, end all sessions of your account, on every device. This also cancels unconfirmed changes."
            ),
            button=marked("End all sessions"),
            action=request.rel_url.raw_path,
        )

    async def _post(self, request: web.Request) -> web.Response:
        (tenant_id, user_id), (_, code) = tenant_and_id(request), tenant_and_id(request, "code")
        asked = sign_in_revocation_service_pb2.RevokeSignInsRequest(
            tenant_id=tenant_id,
            user_id=user_id,
            code=code,
            peer_address=self._browsers.peer_address(request),
        )
        await self._revocations.RevokeSignIns(asked, timeout=self._timeout)
        return self._pages.told(
            marked("All sessions have ended"),
            marked("Someone else may still know your password. Choose a new one now."),
            way_on=f"{issuer_path(request)}/users/request_reset",
            words=marked("Choose a new password"),
        )


class AddressChangeEndpoint:
    """The link that confirms a new e-mail address."""

    def __init__(self, stubs: Stubs, config: OidcConfig, *, browsers: Browsers, pages: Pages) -> None:
        self._accounts = stubs.accounts
        self._timeout = config.call_timeout_seconds
        self._browsers = browsers
        self._pages = pages

    @described("Asks whether to confirm a new address.", page("The question."), caller=Caller.ANYBODY)
    async def get(self, request: web.Request) -> web.Response:
        return await self._pages.instead_of_refusals(request, self._get(request), _to_entry(request))

    @described("Confirms a new address.", page("It is confirmed."), caller=Caller.ANYBODY)
    async def post(self, request: web.Request) -> web.Response:
        return await self._pages.instead_of_refusals(request, self._post(request), _to_entry(request))

    async def _get(self, request: web.Request) -> web.Response:
        (tenant_id, user_id), (_, code) = tenant_and_id(request), tenant_and_id(request, "code")
        asked = account_service_pb2.OpenAddressChangeRequest(tenant_id=tenant_id, user_id=user_id, code=code)
        opened = await self._accounts.OpenAddressChange(asked, timeout=self._timeout)
        return self._pages.question(
            marked("Confirm your new email address"),
            marked("After that, you sign in with %(email)s."),
            button=marked("Confirm"),
            action=request.rel_url.raw_path,
            values={"email": opened.email},
        )

    async def _post(self, request: web.Request) -> web.Response:
        (tenant_id, user_id), (_, code) = tenant_and_id(request), tenant_and_id(request, "code")
        asked = account_service_pb2.ConfirmAddressChangeRequest(
            tenant_id=tenant_id,
            user_id=user_id,
            code=code,
            peer_address=self._browsers.peer_address(request),
        )
        confirmed = await self._accounts.ConfirmAddressChange(asked, timeout=self._timeout)
        return self._pages.told(
            marked("Your email address is confirmed"),
            marked("From now on, sign in with %(email)s."),
            way_on=f"{issuer_path(request)}/",
            words=marked("Go to the start page"),
            values={"email": confirmed.email},
        )


def _to_new_password(request: web.Request) -> Explain:
    return explanation_of_link(
        marked("If someone else may know your password, choose a new one now."),
        way_on=f"{issuer_path(request)}/users/request_reset",
        words=marked("Choose a new password"),
    )


def _to_entry(request: web.Request) -> Explain:
    return explanation_of_link(
        marked("Sign in and change your address again."),
        way_on=f"{issuer_path(request)}/",
        words=marked("Go to the start page"),
    )
