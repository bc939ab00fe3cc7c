"""RegistrationService."""

from gnomon.identity.v1 import registration_service_pb2 as pb
from identity.access.rpc.admission import TenantAdmission
from identity.access.rpc.operations import Operations
from identity.directory.config import UsersConfig
from identity.directory.tenants.password_policies import PasswordPolicies
from identity.directory.terms_of_use.terms_of_use import TermsOfUse
from identity.directory.user import UserId
from identity.foundation.tenants import Tenant
from identity.people.registration.confirmation import Confirmation, RegistrationConfirmation, Status
from identity.people.registration.confirmation_requests import ConfirmationRequests
from identity.people.registration.form import RegistrationForm
from identity.people.registration.self_registration import SelfRegistration
from server.platform.errors import NotFound

_STATUSES = {
    Status.OPEN: pb.CONFIRMATION_STATUS_OPEN,
    Status.CONFIRMED: pb.CONFIRMATION_STATUS_CONFIRMED,
    Status.EXPIRED: pb.CONFIRMATION_STATUS_EXPIRED,
}


class RegistrationServicer(Operations):
    def __init__(
        self,
        admission: TenantAdmission,
        registering: SelfRegistration,
        *,
        confirming: RegistrationConfirmation,
        requests: ConfirmationRequests,
        policies: PasswordPolicies,
        terms: TermsOfUse,
        config: UsersConfig,
    ) -> None:
        self._registering = registering
        self._confirming = confirming
        self._requests = requests
        self._policies = policies
        self._terms = terms
        self._config = config
        super().__init__(
            admission,
            {
                pb.GetRegistrationPageRequest: self._page,
                pb.RegisterRequest: self._register,
                pb.GetConfirmationRequest: confirming.look,
                pb.ConfirmEmailRequest: self._confirm,
                pb.CheckConfirmationRequestsRequest: requests.expect_open,
                pb.RequestConfirmationRequest: self._request,
            },
            shows={Confirmation: _confirmation},
        )

    async def _page(self, tenant: Tenant) -> tuple[bool, int, bool]:
        if not self._config.registration_enabled:
            raise NotFound("self-registration is disabled")
        policy = await self._policies.of(tenant)
        has_terms = await self._terms.current(tenant) is not None
        return self._config.preferred_username_required, policy.length_min, has_terms

    async def _register(self, tenant: Tenant, request: pb.RegisterRequest) -> pb.CompanySignIn | None:
        provider = await self._registering.register(
            tenant, _form(request), peer_address=request.browser.peer_address
        )
        if provider is None:
            return None
        return pb.CompanySignIn(provider_id=provider.id, provider_name=provider.name, issuer=tenant.issuer)

    async def _confirm(self, tenant: Tenant, request: pb.ConfirmEmailRequest) -> Confirmation:
        return await self._confirming.confirm(
            tenant, UserId(request.user_id), request.code, peer_address=request.browser.peer_address
        )

    async def _request(self, tenant: Tenant, request: pb.RequestConfirmationRequest) -> None:
        await self._requests.request(
            tenant,
            email=request.email,
            proof_of_work=request.pow,
            peer_address=request.browser.peer_address,
        )


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
