"""/scopes: scopes of clients, with the attributes that each opens."""

import msgspec
from aiohttp import web

from edge.oidc.access.administration_calls import AdministrationCalls, members, tenant_and_id, written
from edge.oidc.access.body import read_json
from edge.oidc.access.tenant import tenant_of
from edge.oidc.openapi.operation import content, described, done
from edge.oidc.openapi.schemas import part
from edge.oidc.stubs import Stubs
from gnomon.identity.v1 import scope_service_pb2 as pb


class _Scope(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    scope: str
    attr_include_access: tuple[str, ...] | None = None
    attr_include_id: tuple[str, ...] | None = None


class ScopesEndpoint:
    def __init__(self, stubs: Stubs, calls: AdministrationCalls) -> None:
        self._scopes = stubs.scopes
        self._calls = calls

    @described("Lists the scopes of a tenant.", content(part(pb.ListScopesResponse, "scopes")))
    async def list(self, request: web.Request) -> web.Response:
        asked = pb.ListScopesRequest(tenant_id=tenant_of(request), caller=self._calls.caller(request))
        found = await self._scopes.ListScopes(asked, timeout=self._calls.timeout)
        return written(list(map(members, found.scopes)))

    @described(
        "Creates a scope.", content(part(pb.CreateScopeResponse, "scope")), body=_Scope, refusals=(409,)
    )
    async def create(self, request: web.Request) -> web.Response:
        caller = self._calls.caller(request)
        sent = await read_json(request, _Scope, max_bytes=self._calls.max_bytes)
        asked = pb.CreateScopeRequest(
            tenant_id=tenant_of(request),
            caller=caller,
            name=sent.scope,
            attr_include_access=sent.attr_include_access,
            attr_include_id=sent.attr_include_id,
        )
        created = await self._scopes.CreateScope(asked, timeout=self._calls.timeout)
        return written(members(created.scope))

    @described(
        "Replaces a scope.", content(part(pb.UpdateScopeResponse, "scope")), body=_Scope, refusals=(409,)
    )
    async def update(self, request: web.Request) -> web.Response:
        (tenant_id, scope_id), caller = tenant_and_id(request), self._calls.caller(request)
        sent = await read_json(request, _Scope, max_bytes=self._calls.max_bytes)
        asked = pb.UpdateScopeRequest(
            tenant_id=tenant_id,
            caller=caller,
            scope_id=scope_id,
            name=sent.scope,
            attr_include_access=sent.attr_include_access,
            attr_include_id=sent.attr_include_id,
        )
        updated = await self._scopes.UpdateScope(asked, timeout=self._calls.long_timeout)
        return written(members(updated.scope))

    @described("Deletes a scope.", done())
    async def delete(self, request: web.Request) -> web.Response:
        tenant_id, scope_id = tenant_and_id(request)
        asked = pb.DeleteScopeRequest(
            tenant_id=tenant_id, caller=self._calls.caller(request), scope_id=scope_id
        )
        await self._scopes.DeleteScope(asked, timeout=self._calls.long_timeout)
        return web.Response()
