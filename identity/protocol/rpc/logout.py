"""LogoutService."""

from gnomon.identity.v1 import logout_service_pb2 as pb
from identity.access.sessions.browser import Browser
from identity.authentication.client_screens import Screens
from identity.authentication.federation.logout import UpstreamLogout
from identity.authentication.requests.redirect_uris import origin_of
from identity.authentication.rpc.browser import browser_of, error_page, parameters_of, redirect, taken_back
from identity.authentication.rpc.shown_screen import screen_message
from identity.foundation.errors import InvalidRequest
from identity.foundation.tenants import Tenant, Tenants
from identity.protocol.logout.endpoint import EndSession, LogoutQuestion, SignedOut
from server.platform.call import Call


class LogoutServicer:
    """`upstream` is None where sign-in through upstream providers is disabled."""

    def __init__(
        self,
        tenants: Tenants,
        end_session: EndSession,
        upstream: UpstreamLogout | None,
        *,
        screens: Screens,
    ) -> None:
        self._tenants = tenants
        self._end_session = end_session
        self._upstream = upstream
        self._screens = screens

    async def begin_logout(self, request: pb.BeginLogoutRequest, _call: Call) -> pb.BeginLogoutResponse:
        tenant, browser = self._tenants.find(request.tenant_id), browser_of(request.browser)
        try:
            outcome = await self._first_step(tenant, request, browser)
        except InvalidRequest as refusal:
            return pb.BeginLogoutResponse(error=error_page(refusal))
        if isinstance(outcome, LogoutQuestion):
            return pb.BeginLogoutResponse(page=await self._page(tenant, outcome))
        cookie = taken_back() if outcome.has_ended else None
        front_channel = await self._loaded_first(tenant, outcome)
        if outcome.redirection is not None:
            return pb.BeginLogoutResponse(
                redirect=redirect(outcome.redirection), cookie=cookie, front_channel=front_channel
            )
        return pb.BeginLogoutResponse(
            signed_out=await self._signed_out(tenant, outcome), cookie=cookie, front_channel=front_channel
        )

    async def _first_step(
        self, tenant: Tenant, request: pb.BeginLogoutRequest, browser: Browser
    ) -> LogoutQuestion | SignedOut:
        if request.saml_query:
            return await self._end_session.begin_saml(tenant, request.saml_query, browser)
        return await self._end_session.begin(tenant, parameters_of(request.parameters), browser)

    async def confirm_logout(self, request: pb.ConfirmLogoutRequest, _call: Call) -> pb.ConfirmLogoutResponse:
        tenant = self._tenants.find(request.tenant_id)
        outcome = await self._end_session.confirm(
            tenant,
            browser_of(request.browser),
            logout_id=request.logout_id,
            parameters=parameters_of(request.parameters),
        )
        front_channel = await self._loaded_first(tenant, outcome)
        if outcome.redirection is not None:
            return pb.ConfirmLogoutResponse(
                redirect=redirect(outcome.redirection), cookie=taken_back(), front_channel=front_channel
            )
        signed_out = await self._signed_out(tenant, outcome)
        return pb.ConfirmLogoutResponse(
            signed_out=signed_out, cookie=taken_back(), front_channel=front_channel
        )

    async def receive_logout_token(
        self, request: pb.ReceiveLogoutTokenRequest, _call: Call
    ) -> pb.ReceiveLogoutTokenResponse:
        tenant = self._tenants.find(request.tenant_id)
        if self._upstream is None:
            raise InvalidRequest("there is no provider that could sign a logout token")
        await self._upstream.receive(tenant, request.logout_token)
        return pb.ReceiveLogoutTokenResponse()

    async def _page(self, tenant: Tenant, question: LogoutQuestion) -> pb.LogoutPage:
        return pb.LogoutPage(
            client_id="" if question.client is None else question.client.client_id,
            client_name="" if question.client is None else question.client.name,
            logout_id=question.logout_id,
            csrf_token=question.session.csrf_token,
            redirect_origin=origin_of(question.redirect_uri) if question.redirect_uri else "",
            screen=screen_message(await self._screens.of_sign_out(tenant, question.screen_client_id)),
        )

    async def _loaded_first(self, tenant: Tenant, outcome: SignedOut) -> pb.FrontChannelLogout | None:
        if not outcome.front_channel_uris:
            return None
        screen = screen_message(await self._screens.of_sign_out(tenant, outcome.screen_client_id))
        return pb.FrontChannelLogout(uris=outcome.front_channel_uris, screen=screen)

    async def _signed_out(self, tenant: Tenant, outcome: SignedOut) -> pb.SignedOutPage:
        screen = screen_message(await self._screens.of_sign_out(tenant, outcome.screen_client_id))
        return pb.SignedOutPage(client_id=outcome.client_id, screen=screen)
