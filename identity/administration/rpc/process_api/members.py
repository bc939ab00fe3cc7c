"""Searches for what belongs to a group, role or tenant itself, not by way of another one.

Users and clients may be many: the store searches them. Of the others a tenant has few.
"""

from collections.abc import Iterable
from enum import StrEnum
from typing import TypeVar

from google.protobuf.message import Message

from gnomon.directory.v1 import member_pb2 as pb
from identity.access.rpc.searches import InMemorySearch, response_of
from identity.administration.rpc.process_api.labels import ROLE_LISTING, built_in_roles, searchable
from identity.directory.client import CLIENTS, Client
from identity.directory.labels import GROUPS, MOST_LABELS, ROLES, Group, Role
from identity.directory.mapping_rule import MappingRule
from identity.directory.user import USERS, User
from identity.foundation.tenants import Tenant
from identity.people.mapping_rules import MappingRules
from identity.people.rpc.mapping_rule import MAPPING_RULE_LISTING
from identity.people.searches import SEARCHABLE_USER
from server.platform.query import Condition, Field, FieldType, Operator, Searchable, parse
from server.platform.records import RecordStore

R = TypeVar("R", bound=Message)

_CLIENT_ID = Field("id", FieldType.TEXT)
_SEARCHABLE_CLIENT = Searchable(Client, key=_CLIENT_ID, fields={"client_id": _CLIENT_ID}, derived={})


class Membership(StrEnum):
    """Kind of what has members, as the field of the member that names it."""

    GROUP = "groups"
    ROLE = "roles"
    TENANT = "tenant_ids"


class Members:
    """Each method answers a search request; it raises InvalidArgument."""

    def __init__(self, store: RecordStore, rules: MappingRules) -> None:
        self._users = store.of(USERS)
        self._clients = store.of(CLIENTS)
        self._groups = store.of(GROUPS)
        self._roles = store.of(ROLES)
        self._rules = rules

    async def users(
        self, tenant: Tenant, of: Membership, name: str, *, request: Message, response: type[R]
    ) -> R:
        query = parse(SEARCHABLE_USER, request, also=(_has(of, name),))
        return response_of(await self._users.search(tenant.tenant_id, query), _user, response)

    async def clients(
        self, tenant: Tenant, of: Membership, name: str, *, request: Message, response: type[R]
    ) -> R:
        query = parse(_SEARCHABLE_CLIENT, request, also=(_has(of, name),))
        return response_of(await self._clients.search(tenant.tenant_id, query), _client, response)

    async def groups(
        self, tenant: Tenant, of: Membership, name: str, *, request: Message, response: type[R]
    ) -> R:
        groups = await self._groups.page(tenant.tenant_id, most=MOST_LABELS)
        return _GROUP_LISTING.answer(_having(groups, of, name), request, response)

    async def roles(
        self, tenant: Tenant, of: Membership, name: str, *, request: Message, response: type[R]
    ) -> R:
        roles = await self._roles.page(tenant.tenant_id, most=MOST_LABELS)
        return ROLE_LISTING.answer(_having(roles, of, name), request, response)

    async def roles_of(self, tenant: Tenant, group: Group, request: Message, response: type[R]) -> R:
        """Answer with the roles that a group gives."""
        roles = (*built_in_roles(tenant), *await self._roles.page(tenant.tenant_id, most=MOST_LABELS))
        return ROLE_LISTING.answer((role for role in roles if role.name in group.roles), request, response)

    async def mapping_rules(
        self, tenant: Tenant, of: Membership, name: str, *, request: Message, response: type[R]
    ) -> R:
        rules = await self._rules.all(tenant)
        return MAPPING_RULE_LISTING.answer(_having(rules, of, name), request, response)


M = TypeVar("M", Group, Role, MappingRule)


def _having(members: Iterable[M], of: Membership, name: str) -> Iterable[M]:
    return (member for member in members if name in getattr(member, of))


def _has(of: Membership, name: str) -> Condition:
    return Condition(Field(of, FieldType.TEXTS), Operator.EQ, name)


def _user(user: User) -> pb.MemberUser:
    return pb.MemberUser(username=user.username)


def _client(client: Client) -> pb.MemberClient:
    return pb.MemberClient(client_id=client.id)


def _group(group: Group) -> pb.MemberGroup:
    return pb.MemberGroup(group_id=group.name)


_GROUP_LISTING = InMemorySearch(searchable(Group, "group_id"), _group)
