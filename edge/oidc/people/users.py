"""/users: administration of the users of a tenant."""

from aiohttp import web

from edge.oidc.access.administration_calls import (
    AdministrationCalls,
    page_asked,
    page_written,
    tenant_and_id,
    written,
)
from edge.oidc.access.body import read_json
from edge.oidc.access.tenant import tenant_of
from edge.oidc.people.user_fields import NewUser, UserBody, UserPatch, user_members
from edge.oidc.stubs import Stubs
from gnomon.identity.v1 import user_service_pb2 as pb


class UsersEndpoint:
    def __init__(self, stubs: Stubs, calls: AdministrationCalls) -> None:
        self._users = stubs.users
        self._calls = calls

    async def list(self, request: web.Request) -> web.Response:
        size, token = page_asked(request)
        asked = pb.ListUsersRequest(
            tenant_id=tenant_of(request),
            caller=self._calls.caller(request),
            page_size=size,
            continuation_token=token,
        )
        found = await self._users.ListUsers(asked, timeout=self._calls.timeout)
        return page_written(list(map(user_members, found.users)), size, found.continuation_token)

    async def create(self, request: web.Request) -> web.Response:
        caller = self._calls.caller(request)
        new = await read_json(request, NewUser, max_bytes=self._calls.max_bytes)
        asked = pb.CreateUserRequest(tenant_id=tenant_of(request), caller=caller, fields=new.message())
        created = await self._users.CreateUser(asked, timeout=self._calls.long_timeout)
        return written(user_members(created.user))

    async def get(self, request: web.Request) -> web.Response:
        tenant_id, user_id = tenant_and_id(request)
        asked = pb.GetUserRequest(tenant_id=tenant_id, caller=self._calls.caller(request), user_id=user_id)
        return written(user_members((await self._users.GetUser(asked, timeout=self._calls.timeout)).user))

    async def get_by_email(self, request: web.Request) -> web.Response:
        tenant_id, email = tenant_and_id(request, "email")
        asked = pb.GetUserByEmailRequest(tenant_id=tenant_id, caller=self._calls.caller(request), email=email)
        found = await self._users.GetUserByEmail(asked, timeout=self._calls.timeout)
        return written(user_members(found.user))

    async def put(self, request: web.Request) -> web.Response:
        return await self._update(request, UserBody)

    async def patch(self, request: web.Request) -> web.Response:
        return await self._update(request, UserPatch)

    async def delete(self, request: web.Request) -> web.Response:
        tenant_id, user_id = tenant_and_id(request)
        asked = pb.DeleteUserRequest(tenant_id=tenant_id, caller=self._calls.caller(request), user_id=user_id)
        await self._users.DeleteUser(asked, timeout=self._calls.long_timeout)
        return web.Response(status=204)

    async def _update(self, request: web.Request, kind: type[UserBody | UserPatch]) -> web.Response:
        (tenant_id, user_id), caller = tenant_and_id(request), self._calls.caller(request)
        sent = await read_json(request, kind, max_bytes=self._calls.max_bytes)
        asked = pb.UpdateUserRequest(
            tenant_id=tenant_id, caller=caller, user_id=user_id, fields=sent.message()
        )
        updated = await self._users.UpdateUser(asked, timeout=self._calls.long_timeout)
        return written(user_members(updated.user))
