"""RegistrationService."""

from gnomon.identity.v1 import registration_service_pb2 as pb
from identity.access.rpc.admission import TenantAdmission
from identity.access.rpc.operations import Operations, named
from identity.access.sessions.browser import Browser
from identity.authentication.rpc.browser import browser_of
from identity.directory.config import UsersConfig
from identity.directory.tenants.password_policies import PasswordPolicies
from identity.directory.terms_of_use.terms_of_use import TermsOfUse
from identity.directory.user import UserId
from identity.foundation.tenants import Tenant
from identity.people.registration.confirmation import Confirmation, RegistrationConfirmation
from identity.people.registration.confirmation_requests import ConfirmationRequests
from identity.people.registration.form import RegistrationForm
from identity.people.registration.self_registration import SelfRegistration
from server.platform.errors import NotFound

_NAMES = {
    "return_uri": "way_on.uri",
    "client_name": "way_on.client_name",
    "pow": "proof_of_work",
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
                pb.RequestConfirmationRequest: named(self._request, proof_of_work="pow"),
            },
            names=_NAMES,
            reads={Browser: browser_of},
        )

    async def _page(self, tenant: Tenant) -> tuple[bool, int, bool]:
        if not self._config.registration_enabled:
            raise NotFound("self-registration is disabled")
        policy = await self._policies.of(tenant)
        has_terms = await self._terms.current(tenant) is not None
        return self._config.preferred_username_required, policy.length_min, has_terms

    async def _register(
        self, tenant: Tenant, form: RegistrationForm, browser: Browser
    ) -> pb.CompanySignIn | None:
        provider = await self._registering.register(tenant, form, peer_address=browser.peer_address)
        if provider is None:
            return None
        return pb.CompanySignIn(provider_id=provider.id, provider_name=provider.name, issuer=tenant.issuer)

    async def _confirm(self, tenant: Tenant, user_id: UserId, code: str, browser: Browser) -> Confirmation:
        return await self._confirming.confirm(tenant, user_id, code, peer_address=browser.peer_address)

    async def _request(self, tenant: Tenant, email: str, proof_of_work: str, browser: Browser) -> None:
        await self._requests.request(
            tenant, email=email, proof_of_work=proof_of_work, peer_address=browser.peer_address
        )
