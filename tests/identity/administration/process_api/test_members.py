"""Searches for the members of groups, roles and tenants."""

from collections.abc import Mapping
from typing import Any

import pytest

from gnomon.directory.v1 import group_service_pb2, role_service_pb2, tenant_service_pb2
from gnomon.directory.v1.group_service_pb2_grpc import GroupServiceStub
from gnomon.directory.v1.role_service_pb2_grpc import RoleServiceStub
from gnomon.directory.v1.tenant_service_pb2_grpc import TenantServiceStub
from identity.directory.client import CLIENTS, Client
from identity.directory.labels import GROUPS, ROLES, Group, Role
from identity.directory.mapping_rule import MAPPING_RULES, MappingRule
from identity.directory.user import USERS, User
from server.platform.call import TenantId
from server.platform.errors import InvalidArgument, NotFound, TenantMismatch
from tests.identity.administration.process_api.directory import ACME, DEFAULT, Directory

SERVICES: Mapping[str, tuple[Any, Any, Mapping[str, str]]] = {
    "Group": (group_service_pb2, GroupServiceStub, {"group_id": "staff"}),
    "Role": (role_service_pb2, RoleServiceStub, {"role_id": "clerks"}),
    "Tenant": (tenant_service_pb2, TenantServiceStub, {"tenant_id": "acme"}),
}
SEARCHES = [
    ("SearchUsersForGroup", "username", ["ada", "bob"]),
    ("SearchClientsForGroup", "client_id", ["robot"]),
    ("SearchMappingRulesForGroup", "mapping_rule_id", ["rule"]),
    ("SearchRolesForGroup", "role_id", ["clerks"]),
    ("SearchUsersForRole", "username", ["ada", "bob"]),
    ("SearchClientsForRole", "client_id", ["robot"]),
    ("SearchGroupsForRole", "group_id", ["staff"]),
    ("SearchMappingRulesForRole", "mapping_rule_id", ["rule"]),
    ("SearchUsersForTenant", "username", ["ada", "bob"]),
    ("SearchClientsForTenant", "client_id", ["robot"]),
    ("SearchGroupIdsForTenant", "group_id", ["staff"]),
    ("SearchRolesForTenant", "role_id", ["clerks"]),
    ("SearchMappingRulesForTenant", "mapping_rule_id", ["rule"]),
]
each = pytest.mark.parametrize(("rpc", "field", "members"), SEARCHES, ids=[name for name, _, _ in SEARCHES])


@pytest.fixture(autouse=True)
async def furnished(directory: Directory) -> None:
    """Members of everything, and others that belong to nothing."""
    store, everything = directory.deployment.store, {"roles": ("clerks",), "groups": ("staff",)}
    opened = {"tenant_ids": (ACME, DEFAULT)}
    rule = {"name": "Rule", "claim_name": "a", "claim_value": "b"}
    for name, given in (("ada", everything | opened), ("bob", everything | opened), ("cyd", {})):
        fields = {"id": f"u-{name}", "email": f"{name}@example.com", "preferred_username": name}
        await store.of(USERS).insert(User(tenant_id=DEFAULT, **fields, **given))  # type: ignore[arg-type]
    for client_id, given in (("robot", everything | opened), ("idle", {})):
        await store.of(CLIENTS).insert(Client(tenant_id=DEFAULT, id=client_id, **given))  # type: ignore[arg-type]
    for rule_id, given in (("rule", everything | opened), ("idle", {})):
        record = MappingRule(tenant_id=DEFAULT, id=rule_id, **rule, **given)  # type: ignore[arg-type]
        await store.of(MAPPING_RULES).insert(record)
    await store.of(GROUPS).insert(
        Group(tenant_id=DEFAULT, id="g", name="staff", roles=("clerks",), tenant_ids=(ACME,))
    )
    await store.of(GROUPS).insert(Group(tenant_id=DEFAULT, id="h", name="idle"))
    await store.of(ROLES).insert(Role(tenant_id=DEFAULT, id="r", name="clerks", tenant_ids=(ACME,)))
    await store.of(ROLES).insert(Role(tenant_id=DEFAULT, id="s", name="idle"))


def request(rpc: str, **fields: Any) -> tuple[Any, Any]:
    """The stub of a service, and a request that names the group, role or tenant."""
    pb, stub, owner = SERVICES[rpc.rpartition("For")[2]]
    return stub, getattr(pb, f"{rpc}Request")(**{**owner, **fields})


@each
async def test_members_are_found(directory: Directory, rpc: str, field: str, members: list[str]) -> None:
    """Of the tenants' clients the operator and the client of the deployment's tenants are members too."""
    found = await directory.call(*request(rpc))

    shown = [getattr(item, field) for item in found.items]
    assert [name for name in shown if name in members] == members
    assert {"cyd", "idle"}.isdisjoint(shown)
    assert found.page.total_items == len(shown)


@each
async def test_members_come_in_pages(directory: Directory, rpc: str, field: str, members: list[str]) -> None:
    sorted_by = "".join(part.title() if number else part for number, part in enumerate(field.split("_")))
    sort = [{"field": sorted_by, "order": 2}]
    whole = await directory.call(*request(rpc, sort=sort))
    shown = [getattr(item, field) for item in whole.items]
    assert shown == sorted(shown, reverse=True)
    assert set(members) <= set(shown)

    walked, page = [], {"limit": 1}
    while items := (found := await directory.call(*request(rpc, sort=sort, page=page))).items:
        walked += [getattr(item, field) for item in items]
        page = {"limit": 1, "after": found.page.end_cursor}

    assert walked == shown


@each
async def test_members_of_what_there_is_not_are_not_found(
    directory: Directory, rpc: str, field: str, members: list[str]
) -> None:
    _, _, owner = SERVICES[rpc.rpartition("For")[2]]
    named = dict.fromkeys(owner, "unheard-of")

    refused = await directory.refusal(*request(rpc, **named), caller="service")

    assert isinstance(refused, NotFound), (field, members)


@each
async def test_another_tenants_members_are_not_shown(
    directory: Directory, rpc: str, field: str, members: list[str]
) -> None:
    """Groups and roles of another tenant do not exist; a tenant's members are those of the caller's directory."""
    if not rpc.endswith("Tenant"):
        assert isinstance(await directory.refusal(*request(rpc), acting_in=ACME), NotFound)
        return

    found = await directory.call(*request(rpc), acting_in=ACME)

    assert set(members).isdisjoint(getattr(item, field) for item in found.items)
    other = await directory.refusal(*request(rpc), caller="clerk")
    assert isinstance(other, TenantMismatch)


async def test_a_cursor_is_of_one_group_only(directory: Directory) -> None:
    await directory.deployment.store.of(GROUPS).insert(Group(tenant_id=DEFAULT, id="i", name="crew"))
    found = await directory.call(*request("SearchUsersForGroup"))
    page = {"after": found.page.start_cursor}

    refused = await directory.refusal(*request("SearchUsersForGroup", group_id="crew", page=page))

    assert isinstance(refused, InvalidArgument)


async def test_the_built_in_role_of_a_group_is_shown(directory: Directory) -> None:
    group = Group(tenant_id=DEFAULT, id="i", name="crew", roles=("admin", "gone"))
    await directory.deployment.store.of(GROUPS).insert(group)

    found = await directory.call(*request("SearchRolesForGroup", group_id="crew"))

    assert [(role.role_id, role.name) for role in found.items] == [("admin", "admin")]


async def test_users_of_a_built_in_role_are_found(directory: Directory) -> None:
    users = directory.deployment.store.of(USERS)
    boss = User(tenant_id=DEFAULT, id="boss", email="boss@example.com", roles=("admin",))
    await users.insert(boss)

    found = await directory.call(*request("SearchUsersForRole", role_id="admin"))

    assert "boss@example.com" in [user.username for user in found.items]


async def test_a_tenants_own_users_are_members_in_its_own_directory(directory: Directory) -> None:
    tenant_id = TenantId("acme")
    user = User(tenant_id=tenant_id, id="eve", email="eve@acme.example", tenant_ids=(tenant_id,))
    await directory.deployment.store.of(USERS).insert(user)

    found = await directory.call(*request("SearchUsersForTenant"), acting_in=ACME)

    assert "eve@acme.example" in [user.username for user in found.items]
