"""/roles: roles of users and clients, with the permissions of each."""

import msgspec
from aiohttp import web

from edge.oidc.access.administration_calls import (
    AdministrationCalls,
    members,
    names_of,
    tenant_and_id,
    written,
)
from edge.oidc.access.body import read_json
from edge.oidc.access.tenant import tenant_of
from edge.oidc.openapi.operation import content, described, done
from edge.oidc.openapi.schemas import part
from edge.oidc.stubs import Stubs
from gnomon.identity.v1 import role_service_pb2 as pb


class _Role(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    role: str
    permissions: tuple[str, ...] | None = None


class RolesEndpoint:
    def __init__(self, stubs: Stubs, calls: AdministrationCalls) -> None:
        self._roles = stubs.roles
        self._calls = calls

    @described("Lists the roles of a tenant.", content(part(pb.ListRolesResponse, "roles")))
    async def list(self, request: web.Request) -> web.Response:
        asked = pb.ListRolesRequest(tenant_id=tenant_of(request), caller=self._calls.caller(request))
        found = await self._roles.ListRoles(asked, timeout=self._calls.timeout)
        return written(list(map(members, found.roles)))

    @described("Creates a role.", content(part(pb.CreateRoleResponse, "role")), body=_Role, refusals=(409,))
    async def create(self, request: web.Request) -> web.Response:
        caller = self._calls.caller(request)
        sent = await read_json(request, _Role, max_bytes=self._calls.max_bytes)
        asked = pb.CreateRoleRequest(
            tenant_id=tenant_of(request),
            caller=caller,
            name=sent.role,
            permissions=names_of(sent.permissions),
        )
        created = await self._roles.CreateRole(asked, timeout=self._calls.timeout)
        return written(members(created.role))

    @described("Replaces a role.", content(part(pb.UpdateRoleResponse, "role")), body=_Role, refusals=(409,))
    async def update(self, request: web.Request) -> web.Response:
        (tenant_id, role_id), caller = tenant_and_id(request), self._calls.caller(request)
        sent = await read_json(request, _Role, max_bytes=self._calls.max_bytes)
        asked = pb.UpdateRoleRequest(
            tenant_id=tenant_id,
            caller=caller,
            role_id=role_id,
            name=sent.role,
            permissions=names_of(sent.permissions),
        )
        updated = await self._roles.UpdateRole(asked, timeout=self._calls.long_timeout)
        return written(members(updated.role))

    @described("Deletes a role.", done())
    async def delete(self, request: web.Request) -> web.Response:
        tenant_id, role_id = tenant_and_id(request)
        asked = pb.DeleteRoleRequest(tenant_id=tenant_id, caller=self._calls.caller(request), role_id=role_id)
        await self._roles.DeleteRole(asked, timeout=self._calls.long_timeout)
        return web.Response()
