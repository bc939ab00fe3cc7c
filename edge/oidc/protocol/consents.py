"""/users/{id}/consents: consents of a user, for the user and for administrators."""

from aiohttp import web

from edge.oidc.access.administration_calls import AdministrationCalls, members, tenant_and_id, written
from edge.oidc.openapi.operation import content, described, done
from edge.oidc.openapi.schemas import part
from edge.oidc.stubs import Stubs
from gnomon.identity.v1 import consent_service_pb2 as pb


class ConsentsEndpoint:
    def __init__(self, stubs: Stubs, calls: AdministrationCalls) -> None:
        self._consents = stubs.consents
        self._calls = calls

    @described("Lists the consents of a user.", content(part(pb.ListConsentsResponse, "consents")))
    async def list(self, request: web.Request) -> web.Response:
        tenant_id, user_id = tenant_and_id(request)
        asked = pb.ListConsentsRequest(
            tenant_id=tenant_id, caller=self._calls.caller(request), user_id=user_id
        )
        found = await self._consents.ListConsents(asked, timeout=self._calls.timeout)
        return written(list(map(members, found.consents)))

    @described("Withdraws a consent; the client loses its tokens.", done(204))
    async def withdraw(self, request: web.Request) -> web.Response:
        tenant_id, user_id = tenant_and_id(request)
        _, client_id = tenant_and_id(request, "client_id")
        asked = pb.WithdrawConsentRequest(
            tenant_id=tenant_id, caller=self._calls.caller(request), user_id=user_id, client_id=client_id
        )
        await self._consents.WithdrawConsent(asked, timeout=self._calls.timeout)
        return web.Response(status=204)
