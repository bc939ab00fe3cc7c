"""RegistrationService."""

from gnomon.identity.v1 import registration_service_pb2 as pb
from identity.directory.config import UsersConfig
from identity.directory.tenants.password_policies import PasswordPolicies
from identity.directory.user import UserId
from identity.foundation.tenants import Tenants
from identity.people.registration.confirmation import Confirmation, RegistrationConfirmation, Status
from identity.people.registration.confirmation_requests import ConfirmationRequests
from identity.people.registration.form import RegistrationForm
from identity.people.registration.self_registration import SelfRegistration
from server.platform.call import Call
from server.platform.errors import NotFound

_STATUSES = {
    Status.OPEN: pb.CONFIRMATION_STATUS_OPEN,
    Status.CONFIRMED: pb.CONFIRMATION_STATUS_CONFIRMED,
    Status.EXPIRED: pb.CONFIRMATION_STATUS_EXPIRED,
}


class RegistrationServicer:
    def __init__(
        self,
        tenants: Tenants,
        registering: SelfRegistration,
        *,
        confirming: RegistrationConfirmation,
        requests: ConfirmationRequests,
        policies: PasswordPolicies,
        config: UsersConfig,
    ) -> None:
        self._tenants = tenants
        self._registering = registering
        self._confirming = confirming
        self._requests = requests
        self._policies = policies
        self._config = config

    async def get_registration_page(
        self, request: pb.GetRegistrationPageRequest, _call: Call
    ) -> pb.GetRegistrationPageResponse:
        tenant = self._tenants.find(request.tenant_id)
        if not self._config.registration_enabled:
            raise NotFound("self-registration is disabled")
        policy = await self._policies.of(tenant)
        return pb.GetRegistrationPageResponse(
            asks_for_username=self._config.preferred_username_required,
            password_length_min=policy.length_min,
        )

    async def register(self, request: pb.RegisterRequest, _call: Call) -> pb.RegisterResponse:
        tenant = self._tenants.find(request.tenant_id)
        provider = await self._registering.register(
            tenant, _form(request), peer_address=request.browser.peer_address
        )
        if provider is None:
            return pb.RegisterResponse()
        return pb.RegisterResponse(
            company_sign_in=pb.CompanySignIn(
                provider_id=provider.id, provider_name=provider.name, issuer=tenant.issuer
            )
        )

    async def get_confirmation(
        self, request: pb.GetConfirmationRequest, _call: Call
    ) -> pb.GetConfirmationResponse:
        tenant = self._tenants.find(request.tenant_id)
        confirmation = await self._confirming.look(tenant, UserId(request.user_id), request.code)
        return pb.GetConfirmationResponse(confirmation=_confirmation(confirmation))

    async def confirm_email(self, request: pb.ConfirmEmailRequest, _call: Call) -> pb.ConfirmEmailResponse:
        confirmation = await self._confirming.confirm(
            self._tenants.find(request.tenant_id),
            UserId(request.user_id),
            request.code,
            peer_address=request.browser.peer_address,
        )
        return pb.ConfirmEmailResponse(confirmation=_confirmation(confirmation))

    async def check_confirmation_requests(
        self, request: pb.CheckConfirmationRequestsRequest, _call: Call
    ) -> pb.CheckConfirmationRequestsResponse:
        self._tenants.find(request.tenant_id)
        self._requests.expect_open()
        return pb.CheckConfirmationRequestsResponse()

    async def request_confirmation(
        self, request: pb.RequestConfirmationRequest, _call: Call
    ) -> pb.RequestConfirmationResponse:
        await self._requests.request(
            self._tenants.find(request.tenant_id),
            email=request.email,
            proof_of_work=request.pow,
            peer_address=request.browser.peer_address,
        )
        return pb.RequestConfirmationResponse()


def _form(request: pb.RegisterRequest) -> RegistrationForm:
    return RegistrationForm(
        email=request.email,
        password=request.password,
        given_name=request.given_name,
        family_name=request.family_name,
        preferred_username=request.preferred_username,
        client_id=request.client_id,
        redirect_uri=request.redirect_uri,
        proof_of_work=request.pow,
        language=request.language,
    )


def _confirmation(found: Confirmation) -> pb.Confirmation:
    return pb.Confirmation(
        status=_STATUSES[found.status],
        email=found.email,
        return_uri=found.way_on.uri,
        client_name=found.way_on.client_name,
        password_uri=found.password_uri,
    )
