"""GET /providers/{id}/delete_safe. All other operations on upstream providers are in provider_service.proto."""

from aiohttp import web

from edge.oidc.access.administration_calls import AdministrationCalls, tenant_and_id, written
from edge.oidc.access.message_json import members
from edge.oidc.openapi.operation import content, described, done
from edge.oidc.openapi.schemas import part
from edge.oidc.stubs import Stubs
from gnomon.identity.v1 import provider_service_pb2 as pb

_NOT_ACCEPTED = 406


class ProvidersEndpoint:
    def __init__(self, stubs: Stubs, calls: AdministrationCalls) -> None:
        self._providers = stubs.providers
        self._calls = calls

    @described(
        "Says whether users sign in through the provider alone.",
        done(text="No user does."),
        content(part(pb.ListLinkedUsersResponse, "users"), status=406),
    )
    async def delete_safe(self, request: web.Request) -> web.Response:
        """List the users who sign in through the provider; nothing is deleted."""
        tenant_id, provider_id = tenant_and_id(request)
        asked = pb.ListLinkedUsersRequest(
            tenant_id=tenant_id, caller=self._calls.caller(request), provider_id=provider_id
        )
        found = await self._providers.ListLinkedUsers(asked, timeout=self._calls.timeout)
        if not found.users:
            return web.Response()
        return written(list(map(members, found.users)), status=_NOT_ACCEPTED)
