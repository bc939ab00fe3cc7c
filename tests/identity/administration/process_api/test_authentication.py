"""What callers are told about themselves."""

from dataclasses import replace
from typing import Any

from gnomon.directory.v1 import authentication_service_pb2 as pb
from gnomon.directory.v1.authentication_service_pb2_grpc import AuthenticationServiceStub
from identity.directory.client import CLIENTS
from identity.directory.labels import GROUPS, ROLES, Group, Role
from identity.directory.mapping_rule import MAPPING_RULES, MappingRule
from server.platform.call import TenantId
from tests.identity.administration.process_api.directory import ACME, DEFAULT, Directory


async def me(directory: Directory, **options: Any) -> pb.Authentication:
    response = await directory.call(AuthenticationServiceStub, pb.GetAuthenticationRequest(), **options)
    shown: pb.Authentication = response.authentication
    return shown


async def test_a_client_is_told_its_tenants(directory: Directory) -> None:
    clerk, operator = await me(directory, caller="clerk"), await me(directory, acting_in=ACME)

    assert clerk.username == "clerk"
    assert [(tenant.tenant_id, tenant.name) for tenant in clerk.tenants] == [("default", "default")]
    assert [tenant.tenant_id for tenant in operator.tenants] == ["acme", "default", "umbrella"]
    assert not clerk.HasField("email")
    assert not clerk.HasField("sales_plan_type")
    assert not clerk.can_logout
    assert list(clerk.groups) == list(clerk.roles) == list(clerk.authorized_components) == []


async def test_groups_and_roles_are_told_however_they_come(directory: Directory) -> None:
    store = directory.deployment.store
    for name in ("own", "of-group", "of-rule", "other"):
        await store.of(ROLES).insert(Role(tenant_id=DEFAULT, id=name, name=name))
    await store.of(GROUPS).insert(Group(tenant_id=DEFAULT, id="g", name="staff", roles=("of-group", "admin")))
    await store.of(GROUPS).insert(Group(tenant_id=DEFAULT, id="h", name="other"))
    rule = {"name": "Rule", "claim_name": "sub", "claim_value": "clerk"}
    await store.of(MAPPING_RULES).insert(
        MappingRule(tenant_id=DEFAULT, id="rule", **rule, roles=("of-rule",), groups=("staff",))
    )
    clerk = await store.of(CLIENTS).get(DEFAULT, "clerk")
    assert clerk
    await store.of(CLIENTS).replace(replace(clerk, roles=("own", "gone")))

    told = await me(directory, caller="clerk")

    assert list(told.groups) == ["staff"]
    assert list(told.roles) == ["admin", "of-group", "of-rule", "own"]


async def test_another_tenants_client_of_the_same_name_is_not_taken_for_it(directory: Directory) -> None:
    acme = TenantId("acme")
    store = directory.deployment.store
    operator = await store.of(CLIENTS).get(DEFAULT, "operator")
    assert operator
    await store.of(GROUPS).insert(Group(tenant_id=acme, id="g", name="staff"))
    twin = replace(operator, tenant_id=acme, groups=("staff",), name="Twin")
    await store.of(CLIENTS).insert(twin)

    told = await me(directory, acting_in=acme)

    assert (told.display_name, list(told.groups)) == (operator.name, [])
