"""A caller cannot take what it could not give: each operation of the process API that takes something.

`HELPER` has authorizations for all of the directory, and no permission. `clerk` has `identity:write`.
"""

from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from typing import Any

import pytest
from google.protobuf.message import Message

from gnomon.directory.v1 import (
    authorization_service_pb2,
    authorization_service_pb2_grpc,
    group_service_pb2,
    group_service_pb2_grpc,
    role_service_pb2,
    role_service_pb2_grpc,
    user_service_pb2,
    user_service_pb2_grpc,
)
from gnomon.identity.v1 import (
    mapping_rule_service_pb2,
    mapping_rule_service_pb2_grpc,
    membership_service_pb2,
    membership_service_pb2_grpc,
)
from identity.directory.authorization import AUTHORIZATIONS, Authorization, OwnerType, owner_text
from identity.directory.client import CLIENTS
from identity.directory.labels import GROUPS, ROLES, Group, Role
from identity.directory.mapping_rule import MAPPING_RULES, MappingRule
from identity.directory.user import USERS
from identity.foundation.record_changes import rewritten
from identity.foundation.vocabulary import Permission
from identity.seeds import ClientSeed
from server.platform.errors import InvalidState, PermissionDenied
from server.platform.policy import policies_of, services
from server.platform.records import RecordStore
from tests.identity.administration.process_api.directory import ACME, DEFAULT, Directory, opened
from tests.identity.administration.process_api.test_authorizations import creation
from tests.identity.browsers import alice
from tests.identity.deployment import SECRET

HELPER = ClientSeed(id="helper", secret=SECRET)
ROBOT = ClientSeed(id="robot", secret=SECRET, tenants=("default", "acme"))

_SERVICES = {
    "UserService": (user_service_pb2, user_service_pb2_grpc.UserServiceStub),
    "RoleService": (role_service_pb2, role_service_pb2_grpc.RoleServiceStub),
    "GroupService": (group_service_pb2, group_service_pb2_grpc.GroupServiceStub),
    "AuthorizationService": (
        authorization_service_pb2,
        authorization_service_pb2_grpc.AuthorizationServiceStub,
    ),
    "MappingRuleService": (mapping_rule_service_pb2, mapping_rule_service_pb2_grpc.MappingRuleServiceStub),
    "MembershipService": (membership_service_pb2, membership_service_pb2_grpc.MembershipServiceStub),
}

# The names of the records below, by the fields of requests.
_NAMED: Mapping[str, object] = {
    "role_id": "boss",
    "group_id": "bosses",
    "tenant_id": DEFAULT,
    "mapping_rule_id": "robots",
    "client_id": "robot",
    "username": "root",
    "authorization_key": 7,
}

# The only ones of these that give the tenant.
_OPENING = {"role_id": "opener", "group_id": "openers"}

_UNASSIGNED = (
    *("RoleFromGroup", "RoleFromMappingRule", "RoleFromClient", "RoleFromUser", "RoleFromTenant"),
    *("MappingRuleFromGroup", "ClientFromGroup", "UserFromGroup"),
    *("MappingRuleFromTenant", "GroupFromTenant", "UserFromTenant", "ClientFromTenant"),
)

TAKING = (
    *(
        ("MembershipService", f"Unassign{name}", _OPENING if name.endswith("FromTenant") else {})
        for name in _UNASSIGNED
    ),
    ("UserService", "DeleteUser", {}),
    ("UserService", "UpdateUser", {"password": "another horse battery staple"}),
    ("RoleService", "DeleteRole", {}),
    ("GroupService", "DeleteGroup", {}),
    ("MappingRuleService", "DeleteMappingRule", {}),
    (
        "MappingRuleService",
        "UpdateMappingRule",
        {"name": "Robots", "claim_name": "sub", "claim_value": "nobody"},
    ),
    ("AuthorizationService", "DeleteAuthorization", {}),
    (
        "AuthorizationService",
        "UpdateAuthorization",
        {
            field.name: value
            for field, value in creation(
                "robot", resource_type="USER", permission_types=("READ",)
            ).ListFields()
        },
    ),
)

# They only give, and `test_authorizations` and `test_group_administrators` check what; or they only name and describe.
GIVING = {
    *(f"MembershipService/{name}" for name in dir(membership_service_pb2_grpc.MembershipServiceServicer))
} | {
    *("UserService/CreateUser", "RoleService/CreateRole", "GroupService/CreateGroup"),
    *("MappingRuleService/CreateMappingRule", "AuthorizationService/CreateAuthorization"),
    *("RoleService/UpdateRole", "GroupService/UpdateGroup"),
}


@pytest.fixture
async def directory() -> AsyncIterator[Directory]:
    async with opened(HELPER, ROBOT) as found:
        await _fill(found.deployment.store)
        yield found


async def _fill(store: RecordStore) -> None:
    """Make an administrator by each label, and give the helper authorizations for all of the directory."""
    own = {"roles": ("boss",), "groups": ("bosses",), "tenant_ids": (DEFAULT, ACME)}
    await store.of(USERS).insert(alice(id="root", email="root@example.com", preferred_username="root", **own))
    for name, tenant_ids in (("boss", ()), ("opener", (DEFAULT,))):
        await store.of(ROLES).insert(
            Role(
                tenant_id=DEFAULT,
                id=f"r-{name}",
                name=name,
                permissions=(Permission.IDENTITY_WRITE,),
                tenant_ids=tenant_ids,
            )
        )
    for name, tenant_ids in (("bosses", ()), ("openers", (DEFAULT,))):
        await store.of(GROUPS).insert(
            Group(tenant_id=DEFAULT, id=f"g-{name}", name=name, roles=("boss",), tenant_ids=tenant_ids)
        )
    await store.of(MAPPING_RULES).insert(
        MappingRule(
            tenant_id=DEFAULT,
            id="robots",
            name="Robots",
            claim_name="sub",
            claim_value="machine",
            roles=("boss",),
            groups=("bosses",),
            tenant_ids=(DEFAULT,),
        )
    )

    async def robot() -> Any:
        return await store.of(CLIENTS).get(DEFAULT, "robot")

    await rewritten(
        store.of(CLIENTS), robot, lambda client: replace(client, roles=("boss",), groups=("bosses",))
    )
    await store.of(AUTHORIZATIONS).insert(
        _authorization("7", "robot", "MESSAGE", ("CREATE",)),
    )
    types = {
        **dict.fromkeys(("USER", "ROLE", "GROUP", "MAPPING_RULE"), ("READ", "UPDATE", "DELETE")),
        "AUTHORIZATION": ("READ", "UPDATE", "DELETE"),
        "TENANT": ("READ", "UPDATE"),
    }
    for number, (resource_type, permission_types) in enumerate(types.items(), 100):
        await store.of(AUTHORIZATIONS).insert(
            _authorization(str(number), "helper", resource_type, permission_types)
        )


def _authorization(
    key: str, client_id: str, resource_type: str, permission_types: tuple[str, ...]
) -> Authorization:
    return Authorization(
        tenant_id=DEFAULT,
        id=key,
        owner=owner_text(OwnerType.CLIENT, client_id),
        owner_type=OwnerType.CLIENT,
        owner_id=client_id,
        resource_type=resource_type,
        resource_id="*",
        permission_types=permission_types,
    )


def _request(service: str, rpc: str, fields: Mapping[str, object]) -> Message:
    message: type[Message] = getattr(_SERVICES[service][0], f"{rpc}Request")
    wanted = {**_NAMED, **fields}
    return message(**{name: wanted[name] for name in message.DESCRIPTOR.fields_by_name if name in wanted})


async def _records(store: RecordStore) -> Mapping[str, object]:
    kinds = (USERS, CLIENTS, ROLES, GROUPS, MAPPING_RULES, AUTHORIZATIONS)
    return {kind.name: await store.of(kind).page(DEFAULT, most=1000) for kind in kinds}


taking = pytest.mark.parametrize(
    ("service", "rpc", "fields"), TAKING, ids=[f"{service}/{rpc}" for service, rpc, _ in TAKING]
)


@taking
async def test_a_caller_without_the_rights_takes_nothing_from_who_has_them(
    directory: Directory, service: str, rpc: str, fields: Mapping[str, object]
) -> None:
    before = await _records(directory.deployment.store)

    refusal = await directory.refusal(_SERVICES[service][1], _request(service, rpc, fields), caller=HELPER.id)

    assert isinstance(refusal, PermissionDenied)
    assert "the caller" in str(refusal)
    assert await _records(directory.deployment.store) == before


@taking
async def test_a_caller_with_all_rights_takes_as_before(
    directory: Directory, service: str, rpc: str, fields: Mapping[str, object]
) -> None:
    before = await _records(directory.deployment.store)

    await directory.call(_SERVICES[service][1], _request(service, rpc, fields))

    assert await _records(directory.deployment.store) != before


@pytest.mark.parametrize(
    "rpc", ["UserService/DeleteUser", "RoleService/DeleteRole", "MembershipService/UnassignRoleFromUser"]
)
async def test_a_caller_takes_what_gives_no_more_than_the_caller_has(directory: Directory, rpc: str) -> None:
    store, (service, name) = directory.deployment.store, rpc.split("/")
    await store.of(ROLES).insert(Role(tenant_id=DEFAULT, id="r-2", name="plain"))
    await store.of(USERS).insert(alice(preferred_username="alice", roles=("plain",), tenant_ids=(DEFAULT,)))
    request = _request(service, name, {"username": "alice", "role_id": "plain"})

    await directory.call(_SERVICES[service][1], request, caller=HELPER.id)

    user = await store.of(USERS).get(DEFAULT, "alice")
    assert user is None or user.roles == ()


@pytest.mark.parametrize(
    "rpc", ["UserService/DeleteUser", "RoleService/DeleteRole", "GroupService/DeleteGroup"]
)
async def test_the_last_person_who_administers_the_deployment_stays(directory: Directory, rpc: str) -> None:
    store, (service, name) = directory.deployment.store, rpc.split("/")
    (configured,) = await store.of(USERS).find(DEFAULT, "email", "admin@localhost")
    await store.of(USERS).take(DEFAULT, configured.id)
    await store.of(USERS).replace(
        alice(id="root", email="root@example.com", preferred_username="root", groups=("bosses",), revision=1)
    )

    refusal = await directory.refusal(_SERVICES[service][1], _request(service, name, {}))

    assert isinstance(refusal, InvalidState)
    assert str(refusal).startswith("this would leave the deployment without an administrator; first make")


def test_the_table_names_each_operation_that_authorizations_open() -> None:
    opened_by_authorizations = {
        f"{service.name}/{policy.name}"
        for service in services()
        for policy in policies_of(service).values()
        if policy.permission == Permission.IDENTITY_WRITE and (policy.authorizations or not policy.is_read)
    }
    of_deployment = {f"TenantService/{verb}Tenant" for verb in ("Create", "Update", "Delete")}
    table = {f"{service}/{rpc}" for service, rpc, _ in TAKING}

    assert opened_by_authorizations - table - GIVING == of_deployment
    assert {f"MembershipService/Unassign{name}" for name in _UNASSIGNED} == {
        name for name in opened_by_authorizations if "/Unassign" in name
    }
