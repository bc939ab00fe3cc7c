"""PasswordResetService."""

from gnomon.identity.v1 import password_reset_service_pb2 as pb
from identity.directory.user import UserId
from identity.foundation.tenants import Tenants
from identity.people.account.password_choice import Policies
from identity.people.reset.magic_links import MagicLinks, ShownLink
from identity.people.reset.redemption import AccountActivation
from identity.people.reset.requests import RequestedReset, ResetRequests
from identity.people.rpc.password_policy import policy_message
from server.platform.call import Call


class PasswordResetServicer:
    def __init__(
        self,
        tenants: Tenants,
        requests: ResetRequests,
        *,
        magic_links: MagicLinks,
        activation: AccountActivation,
        policies: Policies,
    ) -> None:
        self._tenants = tenants
        self._requests = requests
        self._magic_links = magic_links
        self._activation = activation
        self._policies = policies

    async def check_password_reset(
        self, request: pb.CheckPasswordResetRequest, _call: Call
    ) -> pb.CheckPasswordResetResponse:
        self._tenants.find(request.tenant_id)
        self._requests.expect_open()
        return pb.CheckPasswordResetResponse()

    async def request_password_reset(
        self, request: pb.RequestPasswordResetRequest, _call: Call
    ) -> pb.RequestPasswordResetResponse:
        requested = RequestedReset(
            email=request.email, client_id=request.client_id, redirect_uri=request.redirect_uri
        )
        tenant = self._tenants.find(request.tenant_id)
        await self._requests.ask(tenant, requested, proof_of_work=request.pow)
        return pb.RequestPasswordResetResponse()

    async def open_reset_link(
        self, request: pb.OpenResetLinkRequest, _call: Call
    ) -> pb.OpenResetLinkResponse:
        tenant = self._tenants.find(request.tenant_id)
        opened = await self._magic_links.open(tenant, _shown(request.link))
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

    async def reset_password(self, request: pb.ResetPasswordRequest, _call: Call) -> pb.ResetPasswordResponse:
        location = await self._activation.with_password(
            self._tenants.find(request.tenant_id),
            _shown(request.link),
            password=request.password,
            passkey_code=request.passkey_code,
            peer_address=request.peer_address,
        )
        return pb.ResetPasswordResponse(location=location)

    async def start_passkey_enrollment(
        self, request: pb.StartPasskeyEnrollmentRequest, _call: Call
    ) -> pb.StartPasskeyEnrollmentResponse:
        tenant = self._tenants.find(request.tenant_id)
        options = await self._activation.start_passkey(tenant, _shown(request.link), request.name)
        return pb.StartPasskeyEnrollmentResponse(options=options)

    async def finish_passkey_enrollment(
        self, request: pb.FinishPasskeyEnrollmentRequest, _call: Call
    ) -> pb.FinishPasskeyEnrollmentResponse:
        location = await self._activation.finish_passkey(
            self._tenants.find(request.tenant_id),
            _shown(request.link),
            request.name,
            answer=request.answer,
            peer_address=request.peer_address,
        )
        return pb.FinishPasskeyEnrollmentResponse(location=location)


def _shown(link: pb.ShownLink) -> ShownLink:
    return ShownLink(
        user_id=UserId(link.user_id), code=link.code, cookie=link.cookie, csrf_token=link.csrf_token
    )
