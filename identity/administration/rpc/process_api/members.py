"""Searches for direct members of a group, role or tenant, not by way of another one.

The store searches them, because they may be many.
"""

from collections.abc import Awaitable, Callable
from enum import StrEnum
from typing import TypeVar

from google.protobuf.message import Message

from gnomon.directory.v1 import member_pb2 as pb
from identity.access.rpc.searches import StoredSearch, response_of
from identity.administration.rpc.process_api.labels import FEW_ROLES, ROLE_LISTING, built_in_roles, searchable
from identity.directory.client import CLIENTS, Client
from identity.directory.labels import GROUPS, ROLES, Group
from identity.directory.user import USERS, User
from identity.foundation.tenants import Tenant
from identity.people.mapping_rules import MappingRules
from identity.people.rpc.mapping_rule import MAPPING_RULE_LISTING
from identity.people.searches import SEARCHABLE_USER
from server.platform.call import Call
from server.platform.query import Condition, Field, FieldType, Operator, Searchable, parse
from server.platform.records import RecordStore

R = TypeVar("R", bound=Message)

_CLIENT_ID = Field("id", FieldType.TEXT)
_SEARCHABLE_CLIENT = Searchable(Client, key=_CLIENT_ID, fields={"client_id": _CLIENT_ID}, derived={})


class Membership(StrEnum):
    """Kind of object with members, as the field of the member that names it."""

    GROUP = "groups"
    ROLE = "roles"
    TENANT = "tenant_ids"


Named = Callable[[Tenant, str, Call], Awaitable[str]]


class Members:
    """Members of groups, roles and tenants, from the records of the members."""

    def __init__(self, store: RecordStore, rules: MappingRules) -> None:
        self._store = store
        self._rules = rules

    def searches(self, of: Membership, named: Named) -> "MemberSearches":
        """Return the searches for members of one kind of label; `named` finds its name by the id in a request."""
        return MemberSearches(self._store, self._rules, of, named)

    async def roles_of(self, tenant: Tenant, group: Group, request: Message, response: type[R]) -> R:
        """Answer with the roles that a group gives; raises InvalidArgument."""
        kept = await self._store.of(ROLES).find_any(tenant.tenant_id, "name", group.roles)
        built_in = (role for role in built_in_roles(tenant) if role.name in group.roles)
        return FEW_ROLES.answer((*built_in, *kept), request, response)


class MemberSearches:
    """Each method answers a search request, whose first field is the id of the label; it raises InvalidArgument."""

    def __init__(self, store: RecordStore, rules: MappingRules, of: Membership, named: Named) -> None:
        self._store = store
        self._rules = rules
        self._of = of
        self._named = named

    async def users(self, tenant: Tenant, request: Message, response: type[Message], call: Call) -> Message:
        query = parse(SEARCHABLE_USER, request, also=(await self._has(tenant, request, call),))
        return response_of(await self._store.of(USERS).search(tenant.tenant_id, query), _user, response)

    async def clients(self, tenant: Tenant, request: Message, response: type[Message], call: Call) -> Message:
        query = parse(_SEARCHABLE_CLIENT, request, also=(await self._has(tenant, request, call),))
        return response_of(await self._store.of(CLIENTS).search(tenant.tenant_id, query), _client, response)

    async def groups(self, tenant: Tenant, request: Message, response: type[Message], call: Call) -> Message:
        query = _GROUP_LISTING.query(request, await self._has(tenant, request, call))
        return _GROUP_LISTING.answer(await self._store.of(GROUPS).search(tenant.tenant_id, query), response)

    async def roles(self, tenant: Tenant, request: Message, response: type[Message], call: Call) -> Message:
        query = ROLE_LISTING.query(request, await self._has(tenant, request, call))
        return ROLE_LISTING.answer(await self._store.of(ROLES).search(tenant.tenant_id, query), response)

    async def mapping_rules(
        self, tenant: Tenant, request: Message, response: type[Message], call: Call
    ) -> Message:
        query = MAPPING_RULE_LISTING.query(request, await self._has(tenant, request, call))
        return MAPPING_RULE_LISTING.answer(await self._rules.search(tenant, query), response)

    async def _has(self, tenant: Tenant, request: Message, call: Call) -> Condition:
        return Condition(
            Field(self._of, FieldType.TEXTS), Operator.EQ, await self._name(tenant, request, call)
        )

    async def _name(self, tenant: Tenant, request: Message, call: Call) -> str:
        first, *_ = request.DESCRIPTOR.fields
        return await self._named(tenant, getattr(request, first.name), call)


def _user(user: User) -> pb.MemberUser:
    return pb.MemberUser(username=user.username)


def _client(client: Client) -> pb.MemberClient:
    return pb.MemberClient(client_id=client.id)


def _group(group: Group) -> pb.MemberGroup:
    return pb.MemberGroup(group_id=group.name)


_GROUP_LISTING = StoredSearch(searchable(Group, "group_id"), _group)
