"""/groups: groups of users and clients, with the roles of each."""

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
from gnomon.identity.v1 import group_service_pb2 as pb


class _Group(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    group: str
    roles: tuple[str, ...] | None = None


class GroupsEndpoint:
    def __init__(self, stubs: Stubs, calls: AdministrationCalls) -> None:
        self._groups = stubs.groups
        self._calls = calls

    @described("Lists the groups of a tenant.", content(part(pb.ListGroupsResponse, "groups")))
    async def list(self, request: web.Request) -> web.Response:
        asked = pb.ListGroupsRequest(tenant_id=tenant_of(request), caller=self._calls.caller(request))
        found = await self._groups.ListGroups(asked, timeout=self._calls.timeout)
        return written(list(map(members, found.groups)))

    @described(
        "Creates a group.", content(part(pb.CreateGroupResponse, "group")), body=_Group, refusals=(409,)
    )
    async def create(self, request: web.Request) -> web.Response:
        caller = self._calls.caller(request)
        sent = await read_json(request, _Group, max_bytes=self._calls.max_bytes)
        asked = pb.CreateGroupRequest(
            tenant_id=tenant_of(request), caller=caller, name=sent.group, roles=names_of(sent.roles)
        )
        created = await self._groups.CreateGroup(asked, timeout=self._calls.timeout)
        return written(members(created.group))

    @described(
        "Replaces a group.", content(part(pb.UpdateGroupResponse, "group")), body=_Group, refusals=(409,)
    )
    async def update(self, request: web.Request) -> web.Response:
        (tenant_id, group_id), caller = tenant_and_id(request), self._calls.caller(request)
        sent = await read_json(request, _Group, max_bytes=self._calls.max_bytes)
        asked = pb.UpdateGroupRequest(
            tenant_id=tenant_id,
            caller=caller,
            group_id=group_id,
            name=sent.group,
            roles=names_of(sent.roles),
        )
        updated = await self._groups.UpdateGroup(asked, timeout=self._calls.long_timeout)
        return written(members(updated.group))

    @described("Deletes a group.", done())
    async def delete(self, request: web.Request) -> web.Response:
        tenant_id, group_id = tenant_and_id(request)
        asked = pb.DeleteGroupRequest(
            tenant_id=tenant_id, caller=self._calls.caller(request), group_id=group_id
        )
        await self._groups.DeleteGroup(asked, timeout=self._calls.long_timeout)
        return web.Response()
