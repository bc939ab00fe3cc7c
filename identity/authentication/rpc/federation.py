"""FederationService."""

from dataclasses import dataclass

from gnomon.identity.v1 import federation_service_pb2 as pb
from gnomon.identity.v1.browser_pb2 import RESPONSE_MODE_QUERY, Redirect
from identity.access.rpc.admission import TenantAdmission
from identity.access.rpc.operations import Operations, named
from identity.access.sessions.browser import Browser
from identity.authentication.client_screens import Screens
from identity.authentication.federation.callback import StepUpRequest, UpstreamCallback
from identity.authentication.federation.link_arrival import LinkArrival
from identity.authentication.federation.login_redirect import Departure, UpstreamLoginRedirect
from identity.authentication.requests.parameters import Parameters
from identity.authentication.requests.redirection import Redirection
from identity.authentication.rpc.browser import READS, redirect, second_factor, signed_in_response
from identity.authentication.rpc.shown_screen import screen_message
from identity.authentication.saml.logout import SamlLogout
from identity.authentication.saml.service_provider import ServiceProvider
from identity.directory.providers import Providers
from identity.foundation.tenants import Tenant
from server.platform.clock import Clock
from server.platform.errors import NotFound


@dataclass(frozen=True, slots=True)
class UpstreamSignIn:
    login_redirect: UpstreamLoginRedirect
    callback: UpstreamCallback
    providers: Providers
    service_provider: ServiceProvider
    saml_logout: SamlLogout
    link_arrival: LinkArrival


class FederationServicer(Operations):
    """`sign_in` is None if sign-in through upstream providers is disabled."""

    def __init__(
        self, admission: TenantAdmission, sign_in: UpstreamSignIn | None, *, screens: Screens, clock: Clock
    ) -> None:
        self._sign_in = sign_in
        self._screens = screens
        self._clock = clock
        super().__init__(
            admission,
            {
                pb.LeaveForProviderRequest: self._leave,
                pb.ReturnFromProviderRequest: self._arrive,
                pb.ReceiveSamlResponseRequest: named(self._keep, message="saml_response"),
                pb.ReceiveSamlLogoutRequest: self._end_session,
                pb.GetSamlMetadataRequest: self._metadata,
            },
            names={"email": "address", "pow": "proof_of_work"},
            reads=READS,
            shows={Redirection: redirect},
        )

    async def _leave(self, tenant: Tenant, browser: Browser, departure: Departure) -> Redirection:
        return await self._enabled().login_redirect.leave(tenant, browser, departure)

    async def _arrive(
        self, tenant: Tenant, browser: Browser, provider_id: str, parameters: Parameters
    ) -> pb.ReturnFromProviderResponse:
        link_arrival = self._enabled().link_arrival
        if await link_arrival.is_pending(tenant, parameters):
            await link_arrival.arrive(tenant, browser, provider_id, parameters)
            account = Redirect(uri=f"{tenant.issuer}account", response_mode=RESPONSE_MODE_QUERY)
            return pb.ReturnFromProviderResponse(redirect=account)
        signed_in = await self._enabled().callback.arrive(tenant, browser, provider_id, parameters)
        if isinstance(signed_in, StepUpRequest):
            return await self._asked_for_more(signed_in)
        return signed_in_response(pb.ReturnFromProviderResponse, signed_in, self._clock)

    async def _keep(self, tenant: Tenant, provider_id: str, relay_state: str, message: str) -> None:
        await self._enabled().callback.keep(tenant, provider_id, relay_state=relay_state, message=message)

    async def _end_session(self, tenant: Tenant, request: pb.ReceiveSamlLogoutRequest) -> Redirection:
        logout, provider_id, form = self._enabled().saml_logout, request.provider_id, request.form
        if not request.HasField("form"):
            return await logout.receive_query(tenant, provider_id, request.query)
        return await logout.receive_form(
            tenant, provider_id, message=form.saml_request, relay_state=form.relay_state
        )

    async def _metadata(self, tenant: Tenant, provider_id: str) -> str:
        provider = await self._enabled().providers.find(tenant, provider_id)
        if provider is None or provider.fields.saml is None:
            raise NotFound("there is no such SAML provider")
        return self._enabled().service_provider.metadata(tenant, provider)

    async def _asked_for_more(self, asked: StepUpRequest) -> pb.ReturnFromProviderResponse:
        client = asked.follows.client
        screen = None if client is None else screen_message(await self._screens.of_sign_in(client))
        return pb.ReturnFromProviderResponse(
            second_factor=second_factor(asked.follows, screen), csrf_token=asked.session.csrf_token
        )

    def _enabled(self) -> UpstreamSignIn:
        if self._sign_in is None:
            raise NotFound("sign-in through upstream providers is disabled")
        return self._sign_in
