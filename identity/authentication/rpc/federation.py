"""FederationService."""

from dataclasses import dataclass

from gnomon.identity.v1 import federation_service_pb2 as pb
from gnomon.identity.v1.browser_pb2 import RESPONSE_MODE_QUERY, Redirect
from identity.authentication.authorization.consent import ConsentQuestion
from identity.authentication.client_screens import Screens
from identity.authentication.federation.callback import StepUpRequest, UpstreamCallback
from identity.authentication.federation.link_arrival import LinkArrival
from identity.authentication.federation.login_redirect import Departure, UpstreamLoginRedirect
from identity.authentication.requests.parameters import Parameters
from identity.authentication.rpc.browser import (
    browser_of,
    consent_page,
    parameters_of,
    redirect,
    second_factor,
    session_cookie,
)
from identity.authentication.rpc.shown_screen import screen_message
from identity.authentication.saml.logout import SamlLogout
from identity.authentication.saml.service_provider import ServiceProvider
from identity.directory.providers import Providers
from identity.foundation.tenants import Tenant, Tenants
from server.platform.call import Call
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


class FederationServicer:
    """`sign_in` is None if sign-in through upstream providers is disabled."""

    def __init__(
        self, tenants: Tenants, sign_in: UpstreamSignIn | None, *, screens: Screens, clock: Clock
    ) -> None:
        self._tenants = tenants
        self._sign_in = sign_in
        self._screens = screens
        self._clock = clock

    async def leave_for_provider(
        self, request: pb.LeaveForProviderRequest, _call: Call
    ) -> pb.LeaveForProviderResponse:
        departure = Departure(
            authorization_id=request.authorization_id,
            provider_id=request.provider_id,
            address=request.email,
            proof_of_work=request.pow,
        )
        tenant = self._tenants.find(request.tenant_id)
        left = await self._enabled().login_redirect.leave(tenant, browser_of(request.browser), departure)
        return pb.LeaveForProviderResponse(redirect=redirect(left))

    async def return_from_provider(
        self, request: pb.ReturnFromProviderRequest, _call: Call
    ) -> pb.ReturnFromProviderResponse:
        tenant, parameters = self._tenants.find(request.tenant_id), parameters_of(request.parameters)
        if await self._enabled().link_arrival.is_pending(tenant, parameters):
            return await self._linked(tenant, request, parameters)
        signed_in = await self._enabled().callback.arrive(
            tenant, browser_of(request.browser), request.provider_id, parameters
        )
        if isinstance(signed_in, StepUpRequest):
            return await self._asked_for_more(signed_in)
        session, outcome = signed_in.session, signed_in.outcome
        cookie = (
            session_cookie(signed_in.cookie, session, self._clock, device=signed_in.device)
            if session is not None
            else None
        )
        if isinstance(outcome, ConsentQuestion):
            return pb.ReturnFromProviderResponse(consent=consent_page(outcome), cookie=cookie)
        return pb.ReturnFromProviderResponse(redirect=redirect(outcome), cookie=cookie)

    async def _linked(
        self, tenant: Tenant, request: pb.ReturnFromProviderRequest, parameters: Parameters
    ) -> pb.ReturnFromProviderResponse:
        browser = browser_of(request.browser)
        await self._enabled().link_arrival.arrive(tenant, browser, request.provider_id, parameters)
        return pb.ReturnFromProviderResponse(
            redirect=Redirect(uri=f"{tenant.issuer}account", response_mode=RESPONSE_MODE_QUERY)
        )

    async def receive_saml_response(
        self, request: pb.ReceiveSamlResponseRequest, _call: Call
    ) -> pb.ReceiveSamlResponseResponse:
        await self._enabled().callback.keep(
            self._tenants.find(request.tenant_id),
            request.provider_id,
            relay_state=request.relay_state,
            message=request.saml_response,
        )
        return pb.ReceiveSamlResponseResponse()

    async def receive_saml_logout(
        self, request: pb.ReceiveSamlLogoutRequest, _call: Call
    ) -> pb.ReceiveSamlLogoutResponse:
        logout, tenant = self._enabled().saml_logout, self._tenants.find(request.tenant_id)
        if request.HasField("form"):
            form = request.form
            answer = await logout.receive_form(
                tenant, request.provider_id, message=form.saml_request, relay_state=form.relay_state
            )
        else:
            answer = await logout.receive_query(tenant, request.provider_id, request.query)
        return pb.ReceiveSamlLogoutResponse(redirect=redirect(answer))

    async def get_saml_metadata(
        self, request: pb.GetSamlMetadataRequest, _call: Call
    ) -> pb.GetSamlMetadataResponse:
        enabled, tenant = self._enabled(), self._tenants.find(request.tenant_id)
        provider = await enabled.providers.find(tenant, request.provider_id)
        if provider is None or provider.fields.saml is None:
            raise NotFound("there is no such SAML provider")
        return pb.GetSamlMetadataResponse(document=enabled.service_provider.metadata(tenant, provider))

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
