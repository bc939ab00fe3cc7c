"""/users/{id}/revoke/{code} and /users/{id}/email_change/{code}: links whose page asks first, and a button that does it.

Mail is scanned by programs that open every address, but press no button.
"""

from aiohttp import web

from edge.oidc.admin.asking import tenant_and_id
from edge.oidc.browsers import Browsers
from edge.oidc.config import OidcConfig
from edge.oidc.pages import Pages
from edge.oidc.stubs import Stubs
from edge.oidc.tenant import issuer_path
from gnomon.identity.v1 import account_service_pb2, sign_in_revocation_service_pb2


class RevocationLinkEndpoint:
    """Where somebody says: this was not me."""

    def __init__(self, stubs: Stubs, config: OidcConfig, *, browsers: Browsers, pages: Pages) -> None:
        self._revocations = stubs.sign_in_revocations
        self._timeout = config.call_timeout_seconds
        self._browsers = browsers
        self._pages = pages

    async def get(self, request: web.Request) -> web.Response:
        return await self._pages.instead_of_refusals(self._get(request))

    async def post(self, request: web.Request) -> web.Response:
        return await self._pages.instead_of_refusals(self._post(request))

    async def _get(self, request: web.Request) -> web.Response:
        (tenant_id, user_id), (_, code) = tenant_and_id(request), tenant_and_id(request, "code")
        asked = sign_in_revocation_service_pb2.CheckRevocationLinkRequest(
            tenant_id=tenant_id, user_id=user_id, code=code
        )
        await self._revocations.CheckRevocationLink(asked, timeout=self._timeout)
        return self._pages.question(
            "Was this not you?",
            "All sessions of your account end, on every device, and changes that wait to be confirmed are cancelled.",
            button="End all sessions",
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
            "All sessions have ended",
            "Whoever knows your password can sign in again: choose another one now.",
            way_on=f"{issuer_path(request)}/users/request_reset",
            words="Choose a new password",
        )


class AddressChangeEndpoint:
    """A new address, which whoever has its mailbox confirms."""

    def __init__(self, stubs: Stubs, config: OidcConfig, *, browsers: Browsers, pages: Pages) -> None:
        self._accounts = stubs.accounts
        self._timeout = config.call_timeout_seconds
        self._browsers = browsers
        self._pages = pages

    async def get(self, request: web.Request) -> web.Response:
        return await self._pages.instead_of_refusals(self._get(request))

    async def post(self, request: web.Request) -> web.Response:
        return await self._pages.instead_of_refusals(self._post(request))

    async def _get(self, request: web.Request) -> web.Response:
        (tenant_id, user_id), (_, code) = tenant_and_id(request), tenant_and_id(request, "code")
        asked = account_service_pb2.OpenAddressChangeRequest(tenant_id=tenant_id, user_id=user_id, code=code)
        opened = await self._accounts.OpenAddressChange(asked, timeout=self._timeout)
        return self._pages.question(
            "Confirm your new address",
            f"From now on you sign in with {opened.email}.",
            button="Confirm",
            action=request.rel_url.raw_path,
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
        return self._pages.told("Your address is confirmed", f"Sign in with {confirmed.email} from now on.")
