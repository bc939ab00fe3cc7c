"""SignInService."""

from gnomon.identity.v1 import sign_in_service_pb2 as pb
from identity.authentication.authorization.asked import Reference
from identity.authentication.authorization.email_step import EmailStep, SharedSignIn
from identity.authentication.client_screens import Screens
from identity.authentication.rpc.browser import Offers, browser_of, parameters_of, sign_in_page
from identity.authentication.rpc.shown_screen import screen_message
from identity.directory.tenants.sign_in_domain import TargetType
from identity.foundation.tenants import Tenants
from server.platform.call import Call

_ROUTES = {
    TargetType.PASSWORD: pb.SIGN_IN_ROUTE_PASSWORD,
    TargetType.PROVIDER: pb.SIGN_IN_ROUTE_PROVIDER,
    TargetType.CHOICE: pb.SIGN_IN_ROUTE_CHOICE,
}


class SignInServicer:
    def __init__(
        self,
        tenants: Tenants,
        email_step: EmailStep,
        shared_sign_in: SharedSignIn,
        *,
        offers: Offers,
        screens: Screens,
    ) -> None:
        self._tenants = tenants
        self._email_step = email_step
        self._shared_sign_in = shared_sign_in
        self._offers = offers
        self._screens = screens

    async def submit_email(self, request: pb.SubmitEmailRequest, _call: Call) -> pb.SubmitEmailResponse:
        routed = await self._email_step.submit(
            self._tenants.find(request.tenant_id),
            browser_of(request.browser),
            Reference(
                authorization_id=request.authorization_id, parameters=parameters_of(request.parameters)
            ),
            email=request.email,
            proof_of_work=request.pow,
        )
        screen = screen_message(await self._screens.of_sign_in(routed.step.client))
        return pb.SubmitEmailResponse(
            route=_ROUTES[routed.route.type],
            providers=[pb.SignInProvider(id=each.id, name=each.name) for each in routed.route.providers],
            page=sign_in_page(routed.step, screen=screen, offers=self._offers),
        )

    async def find_sign_in(self, request: pb.FindSignInRequest, _call: Call) -> pb.FindSignInResponse:
        tenant = await self._shared_sign_in.find(
            self._tenants.find(request.tenant_id), email=request.email, proof_of_work=request.pow
        )
        return pb.FindSignInResponse(issuer=tenant.issuer)
