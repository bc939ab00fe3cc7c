"""SignInService."""

from gnomon.identity.v1 import sign_in_service_pb2 as pb
from identity.access.rpc.admission import TenantAdmission
from identity.access.rpc.operations import Operations, named
from identity.access.sessions.browser import Browser
from identity.authentication.authorization.asked import Reference
from identity.authentication.authorization.email_step import EmailStep, SharedSignIn
from identity.authentication.client_screens import Screens
from identity.authentication.rpc.browser import READS, Offers, sign_in_page
from identity.authentication.rpc.shown_screen import screen_message
from identity.directory.tenants.sign_in_domain import TargetType
from identity.foundation.tenants import Tenant

_ROUTES = {
    TargetType.PASSWORD: pb.SIGN_IN_ROUTE_PASSWORD,
    TargetType.PROVIDER: pb.SIGN_IN_ROUTE_PROVIDER,
    TargetType.CHOICE: pb.SIGN_IN_ROUTE_CHOICE,
}


class SignInServicer(Operations):
    def __init__(
        self,
        admission: TenantAdmission,
        email_step: EmailStep,
        shared_sign_in: SharedSignIn,
        *,
        offers: Offers,
        screens: Screens,
    ) -> None:
        self._email_step = email_step
        self._shared_sign_in = shared_sign_in
        self._offers = offers
        self._screens = screens
        super().__init__(
            admission,
            {
                pb.SubmitEmailRequest: named(self._submit, proof_of_work="pow"),
                pb.FindSignInRequest: named(self._find, proof_of_work="pow"),
            },
            reads=READS,
        )

    async def _submit(
        self, tenant: Tenant, browser: Browser, reference: Reference, email: str, proof_of_work: str
    ) -> pb.SubmitEmailResponse:
        routed = await self._email_step.submit(
            tenant, browser, reference, email=email, proof_of_work=proof_of_work
        )
        screen = screen_message(await self._screens.of_sign_in(routed.step.client))
        return pb.SubmitEmailResponse(
            route=_ROUTES[routed.route.type],
            providers=[pb.SignInProvider(id=each.id, name=each.name) for each in routed.route.providers],
            page=sign_in_page(routed.step, screen=screen, offers=self._offers),
        )

    async def _find(self, tenant: Tenant, email: str, proof_of_work: str) -> str:
        return (await self._shared_sign_in.find(tenant, email=email, proof_of_work=proof_of_work)).issuer
