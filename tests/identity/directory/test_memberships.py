"""Memberships over the process API: assignment, removal, and the tenants that callers name."""

from collections.abc import AsyncIterator
from contextlib import nullcontext
from dataclasses import replace

import grpc
import pytest
from google.protobuf.message import Message

from gnomon.identity.v1 import api_key_service_pb2
from gnomon.identity.v1 import membership_service_pb2 as pb
from gnomon.identity.v1.api_key_service_pb2_grpc import ApiKeyServiceStub
from gnomon.identity.v1.membership_service_pb2_grpc import MembershipServiceStub
from identity.directory.client import CLIENTS, Client
from identity.directory.labels import GROUPS, ROLES, Group, Role
from identity.directory.mapping_rule import MAPPING_RULES, MappingRule
from identity.directory.user import USERS, User
from identity.foundation.events.event import EVENTS
from identity.foundation.vocabulary import Permission
from identity.seeds import ClientSeed
from server.platform.call import Principal, TenantId
from server.platform.channels import error_of
from server.platform.errors import (
    InvalidState,
    NotFound,
    PermissionDenied,
    ServiceError,
    TenantMismatch,
    Unauthenticated,
)
from tests.identity.deployment import CONFIG, SECRET, Deployment, deployed

DEFAULT, ACME = TenantId("default"), TenantId("acme")


# Of users and clients, which keep one tenant at least.
OWN = (DEFAULT, TenantId("umbrella"))


@pytest.fixture
async def directory() -> AsyncIterator[Deployment]:
    """Create everything in two tenants, with the same names."""
    bootstrap = replace(CONFIG.bootstrap, clients=(*CONFIG.bootstrap.clients, CLERK))
    async with deployed(replace(CONFIG, bootstrap=bootstrap)) as deployment:
        await furnish(deployment)
        yield deployment


async def furnish(deployment: Deployment) -> None:
    store = deployment.store
    for tenant_id in (DEFAULT, ACME):
        await store.of(ROLES).insert(Role(tenant_id=tenant_id, id="r", name="clerk"))
        await store.of(GROUPS).insert(Group(tenant_id=tenant_id, id="g", name="staff"))
        await store.of(CLIENTS).insert(Client(tenant_id=tenant_id, id="robot", tenant_ids=OWN))
        ada = {"id": f"u-{tenant_id}", "email": "ada@example.com", "preferred_username": "ada"}
        await store.of(USERS).insert(User(tenant_id=tenant_id, tenant_ids=OWN, **ada))
        await store.of(MAPPING_RULES).insert(
            MappingRule(tenant_id=tenant_id, id="rule", name="Rule", claim_name="a", claim_value="b")
        )


IDS = {
    "role_id": "clerk",
    "group_id": "staff",
    "mapping_rule_id": "rule",
    "client_id": "robot",
    "username": "ada",
    "tenant_id": "acme",
}
PAIRS = [
    ("AssignRoleToGroup", "UnassignRoleFromGroup"),
    ("AssignRoleToMappingRule", "UnassignRoleFromMappingRule"),
    ("AssignRoleToClient", "UnassignRoleFromClient"),
    ("AssignMappingRuleToGroup", "UnassignMappingRuleFromGroup"),
    ("AssignClientToGroup", "UnassignClientFromGroup"),
    ("AssignMappingRuleToTenant", "UnassignMappingRuleFromTenant"),
    ("AssignGroupToTenant", "UnassignGroupFromTenant"),
    ("AssignRoleToTenant", "UnassignRoleFromTenant"),
    ("AssignUserToGroup", "UnassignUserFromGroup"),
    ("AssignRoleToUser", "UnassignRoleFromUser"),
    ("AssignUserToTenant", "UnassignUserFromTenant"),
    ("AssignClientToTenant", "UnassignClientFromTenant"),
]
RPCS = [name for pair in PAIRS for name in pair]
OF_TENANTS = [name for name in RPCS if name.endswith("Tenant")]

# Acts in the default tenant only; the client `service` is that of the deployment.
CLERK = ClientSeed(id="clerk", secret=SECRET, permissions=(Permission.IDENTITY_WRITE,))


def request(rpc: str, **changes: str) -> Message:
    request_type = getattr(pb, f"{rpc}Request")
    ids = {field.name: IDS[field.name] for field in request_type.DESCRIPTOR.fields}
    return request_type(**ids | changes)  # type: ignore[no-any-return]


async def call(
    deployment: Deployment, rpc: str, acting_in: str = "default", caller: str = "operator", **changes: str
) -> None:
    """Call as an operator, who may act in both tenants, or as another client."""
    token = (await deployment.issue(client_id=caller)).access_token
    metadata = (("authorization", f"Bearer {token}"), ("x-tenant-id", acting_in))
    stub = MembershipServiceStub(deployment.channel)
    await getattr(stub, rpc)(request(rpc, **changes), metadata=metadata)


async def refusal(
    deployment: Deployment, rpc: str, acting_in: str = "default", **changes: str
) -> ServiceError:
    with pytest.raises(grpc.RpcError) as failure:
        await call(deployment, rpc, acting_in, **changes)
    return error_of(failure.value)


async def members(deployment: Deployment, tenant_id: TenantId = DEFAULT) -> list[tuple[object, ...]]:
    """Return the tenants of all members."""
    store = deployment.store
    role = await store.of(ROLES).get(tenant_id, "r")
    group = await store.of(GROUPS).get(tenant_id, "g")
    client = await store.of(CLIENTS).get(tenant_id, "robot")
    rule = await store.of(MAPPING_RULES).get(tenant_id, "rule")
    user = await store.of(USERS).get(tenant_id, f"u-{tenant_id}")
    assert role
    assert group
    assert client
    assert rule
    assert user
    return [
        (role.tenant_ids,),
        (group.roles, group.tenant_ids),
        (client.roles, client.groups, client.tenant_ids),
        (rule.roles, rule.groups, rule.tenant_ids),
        (user.roles, user.groups, user.tenant_ids),
    ]


NOBODY_HAS_ANYTHING = [((),), ((), ()), ((), (), OWN), ((), (), ()), ((), (), OWN)]


async def test_everything_is_given_where_it_belongs(directory: Deployment) -> None:
    for assign, _ in PAIRS:
        await call(directory, assign)

    assert await members(directory) == [
        (("acme",),),
        (("clerk",), ("acme",)),
        (("clerk",), ("staff",), (*OWN, "acme")),
        (("clerk",), ("staff",), ("acme",)),
        (("clerk",), ("staff",), (*OWN, "acme")),
    ]
    assert await members(directory, ACME) == NOBODY_HAS_ANYTHING


@pytest.mark.parametrize(("assign", "unassign"), PAIRS)
async def test_once_or_twice_is_the_same(directory: Deployment, assign: str, unassign: str) -> None:
    await call(directory, assign)
    once = await members(directory)
    await call(directory, assign)
    assert await members(directory) == once != NOBODY_HAS_ANYTHING

    await call(directory, unassign)
    await call(directory, unassign)
    assert await members(directory) == NOBODY_HAS_ANYTHING


@pytest.mark.parametrize("rpc", RPCS)
async def test_what_there_is_not_is_not_found(directory: Deployment, rpc: str) -> None:
    for field in request(rpc).DESCRIPTOR.fields:
        refused = await refusal(directory, rpc, caller="service", **{field.name: "unheard-of"})

        assert isinstance(refused, NotFound)
    assert await members(directory) == NOBODY_HAS_ANYTHING


@pytest.mark.parametrize("rpc", OF_TENANTS)
@pytest.mark.parametrize("other", ["default", "umbrella"])
async def test_a_directory_opens_no_tenant_but_its_own_or_the_deployments(
    directory: Deployment, rpc: str, other: str
) -> None:
    assert isinstance(await refusal(directory, rpc, "acme", tenant_id=other), NotFound)
    assert await members(directory, ACME) == NOBODY_HAS_ANYTHING


@pytest.mark.parametrize("rpc", OF_TENANTS)
@pytest.mark.parametrize("other", ["acme", "umbrella", "unheard-of"])
async def test_a_client_names_only_tenants_in_which_it_may_act(
    directory: Deployment, rpc: str, other: str
) -> None:
    """The error does not reveal whether such a tenant exists."""
    for assign, _ in PAIRS:
        await call(directory, assign, caller="service")
    before = await members(directory)

    refused = await refusal(directory, rpc, caller="clerk", tenant_id=other)

    assert (type(refused), refused.detail) == (TenantMismatch, f"the caller may not act in tenant '{other}'")
    assert await members(directory) == before


@pytest.mark.parametrize("rpc", RPCS)
async def test_a_client_acts_in_no_directory_but_its_own(directory: Deployment, rpc: str) -> None:
    for assign, _ in PAIRS:
        await call(directory, assign, "acme")
    before = await members(directory, ACME)

    refused = await refusal(directory, rpc, "acme", caller="clerk")

    assert isinstance(refused, TenantMismatch)
    assert await members(directory, ACME) == before


@pytest.mark.parametrize("rpc", RPCS)
async def test_a_client_with_one_tenant_gives_what_is_there(directory: Deployment, rpc: str) -> None:
    await call(directory, rpc, caller="clerk", **{"tenant_id": "default"} if rpc in OF_TENANTS else {})


@pytest.mark.parametrize(("home", "is_refused"), [(DEFAULT, False), (ACME, True)])
@pytest.mark.parametrize("rpc", OF_TENANTS)
async def test_an_administrator_of_the_deployment_names_every_tenant(
    directory: Deployment, rpc: str, home: TenantId, *, is_refused: bool
) -> None:
    """A user of the default tenant; users of other tenants name their own only."""
    await directory.store.of(USERS).insert(User(tenant_id=home, id="boss", email="boss@example.com"))
    person = Principal("boss", frozenset({home}), frozenset({"identity:write"}))
    stub = MembershipServiceStub(directory.channel_of(person))

    with pytest.raises(grpc.RpcError) if is_refused else nullcontext():
        await getattr(stub, rpc)(request(rpc, tenant_id="umbrella"))


@pytest.mark.parametrize("subject", ["service", "other"])
async def test_a_client_of_another_tenant_with_the_deployments_name_is_not_it(
    directory: Deployment, subject: str
) -> None:
    client = Principal(subject, frozenset({ACME}), frozenset({"identity:write"}))
    stub = MembershipServiceStub(directory.channel_of(client))

    with pytest.raises(grpc.RpcError) as failure:
        await stub.AssignRoleToTenant(pb.AssignRoleToTenantRequest(tenant_id="umbrella", role_id="clerk"))

    assert isinstance(error_of(failure.value), TenantMismatch)


async def test_a_tenants_administrator_gives_its_own(directory: Deployment) -> None:
    await call(directory, "AssignRoleToTenant", "acme")

    assert (await members(directory, ACME))[0] == (("acme",),)
    assert await members(directory) == NOBODY_HAS_ANYTHING


async def test_a_change_is_told_with_whose_doing_it_was(directory: Deployment) -> None:
    await call(directory, "AssignRoleToGroup")
    await call(directory, "AssignRoleToGroup")

    events = await directory.store.of(EVENTS).page(DEFAULT)
    changes = [event for event in events if event.type == "Changed"]
    assert [(event.text, event.actor and event.actor.name) for event in changes] == [
        ("group staff", "operator")
    ]


async def test_an_api_key_gives_nobody_anything(directory: Deployment) -> None:
    create = api_key_service_pb2.CreateApiKeyRequest(name="robot")
    create.caller.access_token = (await directory.issue()).access_token
    created = await ApiKeyServiceStub(directory.channel).CreateApiKey(create)
    metadata = (("authorization", f"API-Key {created.api_key}"),)

    for rpc in RPCS:
        with pytest.raises(grpc.RpcError) as failure:
            await getattr(MembershipServiceStub(directory.channel), rpc)(request(rpc), metadata=metadata)
        assert isinstance(error_of(failure.value), Unauthenticated)

    assert await members(directory) == NOBODY_HAS_ANYTHING


@pytest.mark.parametrize("member", ["User", "Client"])
async def test_a_user_or_client_keeps_its_only_tenant(directory: Deployment, member: str) -> None:
    """Without any, the administration API would take it for one of the tenant of its record."""
    unassign = f"Unassign{member}FromTenant"
    await call(directory, unassign, tenant_id="umbrella")
    before = await members(directory)

    refused = await refusal(directory, unassign, tenant_id="default")

    assert isinstance(refused, InvalidState)
    assert await members(directory) == before


async def test_a_user_who_becomes_an_administrator_is_told_of(directory: Deployment) -> None:
    await call(directory, "AssignRoleToUser", role_id="admin")

    events = await directory.store.of(EVENTS).page(DEFAULT)
    told = {(event.type, event.text, event.user_id) for event in events if event.user_id}
    assert told == {
        ("Changed", "user ada@example.com", "u-default"),
        ("NewAdministrator", "ada@example.com", "u-default"),
    }


@pytest.mark.parametrize("rpc", ["AssignRoleToClient", "AssignRoleToUser", "AssignRoleToGroup"])
async def test_a_client_gives_no_role_that_opens_a_tenant_of_others(directory: Deployment, rpc: str) -> None:
    await call(directory, "AssignRoleToTenant")
    before = await members(directory)

    refused = await refusal(directory, rpc, caller="clerk")

    assert isinstance(refused, PermissionDenied)
    assert await members(directory) == before
