"""LogoutService."""

from typing import TypeVar

from gnomon.identity.v1 import logout_service_pb2 as pb
from gnomon.identity.v1.browser_pb2 import SessionCookie
from identity.access.rpc.admission import TenantAdmission
from identity.access.rpc.operations import Operations
from identity.access.sessions.browser import Browser
from identity.authentication.client_screens import Screens
from identity.authentication.federation.logout import UpstreamLogout
from identity.authentication.requests.parameters import Parameters
from identity.authentication.requests.redirect_uris import origin_of
from identity.authentication.rpc.browser import READS, error_page, redirect, taken_back
from identity.authentication.rpc.shown_screen import screen_message
from identity.foundation.errors import InvalidRequest
from identity.foundation.tenants import Tenant
from identity.protocol.logout.endpoint import EndSession, LogoutQuestion, SignedOut

R = TypeVar("R", pb.BeginLogoutResponse, pb.ConfirmLogoutResponse)


class LogoutServicer(Operations):
    """`upstream` is None where sign-in through upstream providers is disabled."""

    def __init__(
        self,
        admission: TenantAdmission,
        end_session: EndSession,
        upstream: UpstreamLogout | None,
        *,
        screens: Screens,
    ) -> None:
        self._end_session = end_session
        self._upstream = upstream
        self._screens = screens
        super().__init__(
            admission,
            {
                pb.BeginLogoutRequest: self._begin,
                pb.ConfirmLogoutRequest: self._confirm,
                pb.ReceiveLogoutTokenRequest: self._receive,
            },
            reads=READS,
        )

    async def _begin(
        self, tenant: Tenant, browser: Browser, parameters: Parameters, saml_query: str
    ) -> pb.BeginLogoutResponse:
        try:
            outcome: LogoutQuestion | SignedOut = (
                await self._end_session.begin_saml(tenant, saml_query, browser)
                if saml_query
                else await self._end_session.begin(tenant, parameters, browser)
            )
        except InvalidRequest as refusal:
            return pb.BeginLogoutResponse(error=error_page(refusal))
        if isinstance(outcome, LogoutQuestion):
            return pb.BeginLogoutResponse(page=await self._page(tenant, outcome))
        cookie = taken_back() if outcome.has_ended else None
        return await self._ended(pb.BeginLogoutResponse, tenant, outcome, cookie)

    async def _confirm(
        self, tenant: Tenant, browser: Browser, logout_id: str, parameters: Parameters
    ) -> pb.ConfirmLogoutResponse:
        outcome = await self._end_session.confirm(tenant, browser, logout_id=logout_id, parameters=parameters)
        return await self._ended(pb.ConfirmLogoutResponse, tenant, outcome, taken_back())

    async def _receive(self, tenant: Tenant, logout_token: str) -> None:
        if self._upstream is None:
            raise InvalidRequest("there is no provider that could sign a logout token")
        await self._upstream.receive(tenant, logout_token)

    async def _page(self, tenant: Tenant, question: LogoutQuestion) -> pb.LogoutPage:
        return pb.LogoutPage(
            client_id="" if question.client is None else question.client.client_id,
            client_name="" if question.client is None else question.client.name,
            logout_id=question.logout_id,
            csrf_token=question.session.csrf_token,
            redirect_origin=origin_of(question.redirect_uri) if question.redirect_uri else "",
            screen=screen_message(await self._screens.of_sign_out(tenant, question.screen_client_id)),
        )

    async def _ended(
        self, kind: type[R], tenant: Tenant, outcome: SignedOut, cookie: SessionCookie | None
    ) -> R:
        uris, redirection, screen = outcome.front_channel_uris, outcome.redirection, None
        if uris or redirection is None:
            screen = screen_message(await self._screens.of_sign_out(tenant, outcome.screen_client_id))
        front_channel = pb.FrontChannelLogout(uris=uris, screen=screen) if uris else None
        if redirection is not None:
            return kind(redirect=redirect(redirection), cookie=cookie, front_channel=front_channel)
        signed_out = pb.SignedOutPage(client_id=outcome.client_id, screen=screen)
        return kind(signed_out=signed_out, cookie=cookie, front_channel=front_channel)
