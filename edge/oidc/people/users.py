"""/users: administration of the users of a tenant."""

from collections.abc import Mapping
from typing import Any

from aiohttp import web

from edge.oidc.access.administration_calls import (
    AdministrationCalls,
    page_asked,
    page_written,
    tenant_and_id,
    written,
)
from edge.oidc.access.body import bad_request, read_json
from edge.oidc.access.tenant import tenant_of
from edge.oidc.openapi.operation import PAGE, content, described, may, paged
from edge.oidc.openapi.schemas import array, choice
from edge.oidc.people.user_fields import USER, NewUser, UserBody, UserPatch, user_members
from edge.oidc.stubs import Stubs
from gnomon.identity.v1 import user_service_pb2 as pb

_TEXTS = ("search", "group", "role")
_SORTED_BY = frozenset({"", "username", "name", "email"})
_ORDERS = frozenset({"asc", "desc"})
_PARAMETERS = frozenset({*_TEXTS, "sort", "order", "page_size", "continuation_token", "offset", "backwards"})


class UsersEndpoint:
    def __init__(self, stubs: Stubs, calls: AdministrationCalls) -> None:
        self._users = stubs.users
        self._calls = calls

    @described(
        "Lists or searches the users of a tenant.",
        content(array(USER)),
        paged(array(USER)),
        query=(
            may("search", "Words in names and e-mail addresses."),
            may("group", "Name of a group of the users."),
            may("role", "Name of a role of the users."),
            may("sort", "Member to sort by.", choice(*sorted(_SORTED_BY - {""}))),
            may("order", "The order.", choice(*sorted(_ORDERS))),
            *PAGE,
        ),
    )
    async def list(self, request: web.Request) -> web.Response:
        caller = self._calls.caller(request)
        size, token = page_asked(request)
        asked = pb.ListUsersRequest(
            tenant_id=tenant_of(request),
            caller=caller,
            page_size=size,
            continuation_token=token,
            **_search(request),
        )
        found = await self._users.ListUsers(asked, timeout=self._calls.timeout)
        return page_written(list(map(user_members, found.users)), size, found.continuation_token)

    @described("Creates a user.", content(USER), body=NewUser, refusals=(409,))
    async def create(self, request: web.Request) -> web.Response:
        caller = self._calls.caller(request)
        new = await read_json(request, NewUser, max_bytes=self._calls.max_bytes)
        asked = pb.CreateUserRequest(tenant_id=tenant_of(request), caller=caller, fields=new.message())
        created = await self._users.CreateUser(asked, timeout=self._calls.long_timeout)
        return written(user_members(created.user))

    @described("A user.", content(USER))
    async def get(self, request: web.Request) -> web.Response:
        tenant_id, user_id = tenant_and_id(request)
        asked = pb.GetUserRequest(tenant_id=tenant_id, caller=self._calls.caller(request), user_id=user_id)
        return written(user_members((await self._users.GetUser(asked, timeout=self._calls.timeout)).user))

    @described("The user with an e-mail address.", content(USER))
    async def get_by_email(self, request: web.Request) -> web.Response:
        tenant_id, email = tenant_and_id(request, "email")
        asked = pb.GetUserByEmailRequest(tenant_id=tenant_id, caller=self._calls.caller(request), email=email)
        found = await self._users.GetUserByEmail(asked, timeout=self._calls.timeout)
        return written(user_members(found.user))

    @described("Replaces a user.", content(USER), body=UserBody, refusals=(409,))
    async def put(self, request: web.Request) -> web.Response:
        return await self._update(request, UserBody)

    @described("Changes members of a user.", content(USER), body=UserPatch, refusals=(409,))
    async def patch(self, request: web.Request) -> web.Response:
        return await self._update(request, UserPatch)

    async def _update(self, request: web.Request, kind: type[UserBody | UserPatch]) -> web.Response:
        (tenant_id, user_id), caller = tenant_and_id(request), self._calls.caller(request)
        sent = await read_json(request, kind, max_bytes=self._calls.max_bytes)
        asked = pb.UpdateUserRequest(
            tenant_id=tenant_id, caller=caller, user_id=user_id, fields=sent.message()
        )
        updated = await self._users.UpdateUser(asked, timeout=self._calls.long_timeout)
        return written(user_members(updated.user))


def _search(request: web.Request) -> Mapping[str, Any]:
    """Return what the query looks for; raises Refused for a parameter that would be without effect."""
    query = request.query
    if unknown := sorted(query.keys() - _PARAMETERS):
        raise bad_request(f"{unknown[0]}: unknown parameter")
    if repeated := sorted(name for name in query if len(query.getall(name)) > 1):
        raise bad_request(f"{repeated[0]}: expected once")
    if (order := query.get("order", "asc")) not in _ORDERS:
        raise bad_request("order: expected asc or desc")
    if (sort := query.get("sort", "")) not in _SORTED_BY:
        raise bad_request("sort: expected username, name or email")
    if unprintable := sorted(name for name in _TEXTS if not query.get(name, "").isprintable()):
        raise bad_request(f"{unprintable[0]}: expected printable characters")
    texts = {name: query.get(name, "") for name in _TEXTS}
    return {**texts, "sort": sort, "is_descending": order == "desc"}
