"""Who is given what by the process API, and by whom."""

import grpc
import pytest

from gnomon.identity.v1 import membership_service_pb2 as pb
from gnomon.identity.v1.membership_service_pb2_grpc import MembershipServiceStub
from identity.clients.client import CLIENTS, Client
from identity.directory.labels import GROUPS, ROLES, Group, Role
from identity.directory.mapping_rule import MAPPING_RULES, MappingRule
from identity.events.event import EVENTS
from server.platform.call import TenantId
from server.platform.channels import error_of
from server.platform.errors import NotFound, ServiceError
from tests.identity.deployment import Deployment

DEFAULT, ACME = TenantId("default"), TenantId("acme")


@pytest.fixture
async def directory(deployment: Deployment) -> Deployment:
    """Everything there is in two tenants, by the same names."""
    store = deployment.store
    for tenant_id in (DEFAULT, ACME):
        await store.of(ROLES).insert(Role(tenant_id=tenant_id, id="r", name="clerk"))
        await store.of(GROUPS).insert(Group(tenant_id=tenant_id, id="g", name="staff"))
        await store.of(CLIENTS).insert(Client(tenant_id=tenant_id, id="robot"))
        await store.of(MAPPING_RULES).insert(
            MappingRule(tenant_id=tenant_id, id="rule", name="Rule", claim_name="a", claim_value="b")
        )
    return deployment


IDS = {
    "role_id": "clerk",
    "group_id": "staff",
    "mapping_rule_id": "rule",
    "client_id": "robot",
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
]
RPCS = [name for pair in PAIRS for name in pair]


async def call(deployment: Deployment, rpc: str, acting_in: str = "default", **changes: str) -> None:
    """As an operator, who may act in both tenants."""
    request_type = getattr(pb, f"{rpc}Request")
    ids = {field.name: IDS[field.name] for field in request_type.DESCRIPTOR.fields}
    token = (await deployment.issue(client_id="operator")).access_token
    metadata = (("authorization", f"Bearer {token}"), ("x-tenant-id", acting_in))
    stub = MembershipServiceStub(deployment.channel)
    await getattr(stub, rpc)(request_type(**ids | changes), metadata=metadata)


async def refusal(
    deployment: Deployment, rpc: str, acting_in: str = "default", **changes: str
) -> ServiceError:
    with pytest.raises(grpc.RpcError) as failure:
        await call(deployment, rpc, acting_in, **changes)
    return error_of(failure.value)


async def members(deployment: Deployment, tenant_id: TenantId = DEFAULT) -> list[tuple[object, ...]]:
    """What everybody has."""
    store = deployment.store
    role = await store.of(ROLES).get(tenant_id, "r")
    group = await store.of(GROUPS).get(tenant_id, "g")
    client = await store.of(CLIENTS).get(tenant_id, "robot")
    rule = await store.of(MAPPING_RULES).get(tenant_id, "rule")
    assert role
    assert group
    assert client
    assert rule
    return [
        (role.tenant_ids,),
        (group.roles, group.tenant_ids),
        (client.roles, client.groups),
        (rule.roles, rule.groups, rule.tenant_ids),
    ]


NOBODY_HAS_ANYTHING = [((),), ((), ()), ((), ()), ((), (), ())]


async def test_everything_is_given_where_it_belongs(directory: Deployment) -> None:
    for assign, _ in PAIRS:
        await call(directory, assign)

    assert await members(directory) == [
        (("acme",),),
        (("clerk",), ("acme",)),
        (("clerk",), ("staff",)),
        (("clerk",), ("staff",), ("acme",)),
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
    for field in getattr(pb, f"{rpc}Request").DESCRIPTOR.fields:
        refused = await refusal(directory, rpc, **{field.name: "unheard-of"})

        assert isinstance(refused, NotFound)
    assert await members(directory) == NOBODY_HAS_ANYTHING


@pytest.mark.parametrize("rpc", [name for name in RPCS if name.endswith("Tenant")])
@pytest.mark.parametrize("other", ["default", "umbrella"])
async def test_another_tenant_is_as_unknown_as_any(directory: Deployment, rpc: str, other: str) -> None:
    refused = await refusal(directory, rpc, "acme", tenant_id=other)
    unknown = await refusal(directory, rpc, "acme", tenant_id="unheard-of")

    assert (type(refused), refused.detail) == (type(unknown), unknown.detail) == (NotFound, unknown.detail)
    assert await members(directory, ACME) == NOBODY_HAS_ANYTHING


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
