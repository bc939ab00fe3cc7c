"""ForwardAuthService."""

from gnomon.identity.v1 import forward_auth_service_pb2 as pb
from identity.authentication.rpc.browser import parameters_of
from identity.directory.client import Client
from identity.directory.clients import Clients
from identity.foundation.tenants import Tenant, Tenants
from identity.protocol.forward_auth.admission import ForwardAdmission, PresentedCookies
from identity.protocol.forward_auth.forwarded import Forwarded, expect_of
from identity.protocol.forward_auth.sign_in import LIFETIME, ForwardSignIn
from identity.protocol.rpc.user_info import forward_response
from server.platform.call import Call
from server.platform.clock import Clock
from server.platform.errors import NotFound


class ForwardAuthServicer:
    def __init__(
        self,
        tenants: Tenants,
        clients: Clients,
        *,
        admission: ForwardAdmission,
        sign_in: ForwardSignIn,
        clock: Clock,
    ) -> None:
        self._tenants = tenants
        self._clients = clients
        self._admission = admission
        self._sign_in = sign_in
        self._clock = clock

    async def admit_forwarded(
        self, request: pb.AdmitForwardedRequest, _call: Call
    ) -> pb.AdmitForwardedResponse:
        tenant = self._tenants.find(request.tenant_id)
        client, forwarded = await self._client(tenant, request.client_id), _forwarded(request.forwarded)
        expect_of(client, forwarded, allows_insecure=request.allows_insecure)
        shown = PresentedCookies(
            session=request.session, csrf_cookie=request.csrf_cookie, csrf_header=request.csrf_header
        )
        caller = await self._admission.caller(tenant, client, forwarded, shown=shown)
        if caller is not None:
            return pb.AdmitForwardedResponse(caller=forward_response(caller))
        begun = await self._sign_in.begin(tenant, client, forwarded, browser=request.browser)
        max_age = int(LIFETIME.total_seconds())
        return pb.AdmitForwardedResponse(
            sign_in=pb.ForwardSignIn(location=begun.location, browser=begun.browser, max_age=max_age)
        )

    async def finish_forward_sign_in(
        self, request: pb.FinishForwardSignInRequest, _call: Call
    ) -> pb.FinishForwardSignInResponse:
        tenant = self._tenants.find(request.tenant_id)
        finished = await self._sign_in.finish(
            tenant,
            await self._client(tenant, request.client_id),
            parameters_of(request.parameters),
            browser=request.browser,
            is_secure=request.is_secure,
        )
        signed_in, now = finished.signed_in, self._clock.now()
        return pb.FinishForwardSignInResponse(
            return_to=finished.return_to,
            session=signed_in.cookie,
            csrf_token=signed_in.csrf_token,
            max_age=int(((signed_in.expires_at or now) - now).total_seconds()),
        )

    async def _client(self, tenant: Tenant, client_id: str) -> Client:
        client = await self._clients.find(tenant, client_id)
        if client is None or not client.is_enabled:
            raise NotFound("there is no such client")
        return client


def _forwarded(message: pb.ForwardedRequest) -> Forwarded:
    return Forwarded(scheme=message.scheme, host=message.host, uri=message.uri, method=message.method)
