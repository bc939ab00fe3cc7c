"""ForwardAuthService."""

from gnomon.identity.v1 import forward_auth_service_pb2 as pb
from identity.access.rpc.admission import TenantAdmission
from identity.access.rpc.operations import Operations
from identity.authentication.requests.parameters import Parameters
from identity.authentication.rpc.browser import READS
from identity.directory.client import Client
from identity.directory.clients import Clients
from identity.foundation.tenants import Tenant
from identity.protocol.forward_auth.admission import ForwardAdmission, PresentedCookies
from identity.protocol.forward_auth.forwarded import Forwarded, expect_of
from identity.protocol.forward_auth.sign_in import LIFETIME, ForwardSignIn
from identity.protocol.rpc.user_info import forward_response
from server.platform.clock import Clock
from server.platform.errors import NotFound


class ForwardAuthServicer(Operations):
    def __init__(
        self,
        admission: TenantAdmission,
        clients: Clients,
        *,
        forward_admission: ForwardAdmission,
        sign_in: ForwardSignIn,
        clock: Clock,
    ) -> None:
        self._clients = clients
        self._forward_admission = forward_admission
        self._sign_in = sign_in
        self._clock = clock
        super().__init__(
            admission,
            {pb.AdmitForwardedRequest: self._admit, pb.FinishForwardSignInRequest: self._finish},
            reads=READS,
        )

    async def _admit(
        self,
        tenant: Tenant,
        client_id: str,
        forwarded: Forwarded,
        shown: PresentedCookies,
        *,
        browser: str,
        allows_insecure: bool,
    ) -> pb.AdmitForwardedResponse:
        client = await self._client(tenant, client_id)
        expect_of(client, forwarded, allows_insecure=allows_insecure)
        caller = await self._forward_admission.caller(tenant, client, forwarded, shown=shown)
        if caller is not None:
            return pb.AdmitForwardedResponse(caller=forward_response(caller))
        begun = await self._sign_in.begin(tenant, client, forwarded, browser=browser)
        max_age = int(LIFETIME.total_seconds())
        return pb.AdmitForwardedResponse(
            sign_in=pb.ForwardSignIn(location=begun.location, browser=begun.browser, max_age=max_age)
        )

    async def _finish(
        self, tenant: Tenant, client_id: str, parameters: Parameters, *, browser: str, is_secure: bool
    ) -> tuple[str, str, str, int]:
        client = await self._client(tenant, client_id)
        finished = await self._sign_in.finish(
            tenant, client, parameters, browser=browser, is_secure=is_secure
        )
        signed_in, now = finished.signed_in, self._clock.now()
        max_age = int(((signed_in.expires_at or now) - now).total_seconds())
        return finished.return_to, signed_in.cookie, signed_in.csrf_token, max_age

    async def _client(self, tenant: Tenant, client_id: str) -> Client:
        client = await self._clients.find(tenant, client_id)
        if client is None or not client.is_enabled:
            raise NotFound("there is no such client")
        return client
