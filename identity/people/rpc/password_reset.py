"""PasswordResetService."""

from gnomon.identity.v1 import password_reset_service_pb2 as pb
from identity.access.rpc.admission import TenantAdmission
from identity.access.rpc.operations import Operations, named
from identity.foundation.tenants import Tenant
from identity.people.account.password_choice import Policies
from identity.people.reset.magic_links import MagicLinks, ShownLink
from identity.people.reset.redemption import AccountActivation
from identity.people.reset.requests import ResetRequests
from identity.people.rpc.password_policy import policy_message


class PasswordResetServicer(Operations):
    def __init__(
        self,
        admission: TenantAdmission,
        requests: ResetRequests,
        *,
        magic_links: MagicLinks,
        activation: AccountActivation,
        policies: Policies,
    ) -> None:
        self._magic_links = magic_links
        self._activation = activation
        self._policies = policies
        super().__init__(
            admission,
            {
                pb.CheckPasswordResetRequest: requests.expect_open,
                pb.RequestPasswordResetRequest: named(requests.ask, proof_of_work="pow"),
                pb.OpenResetLinkRequest: self._open,
                pb.ResetPasswordRequest: named(activation.with_password, shown="link"),
                pb.StartPasskeyEnrollmentRequest: named(activation.start_passkey, shown="link"),
                pb.FinishPasskeyEnrollmentRequest: named(activation.finish_passkey, shown="link"),
            },
        )

    async def _open(self, tenant: Tenant, link: ShownLink) -> pb.OpenResetLinkResponse:
        opened = await self._magic_links.open(tenant, link)
        user = opened.held.user
        return pb.OpenResetLinkResponse(
            cookie=opened.cookie,
            max_age=int(opened.lifetime.total_seconds()),
            csrf_token=opened.csrf_token,
            email=user.email,
            password_policy=policy_message(await self._policies.of(tenant)),
            needs_passkey=await self._activation.ceremony.is_needed(tenant, user.user_id),
            is_new_account=opened.held.is_of_new_account,
        )
