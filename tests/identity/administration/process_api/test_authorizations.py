"""Authorizations over the process API, in memory and in PostgreSQL: what they open, to whom, and what they do not."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

import grpc
import pytest

from gnomon.directory.v1 import (
    authentication_service_pb2,
    authorization_pb2,
    group_service_pb2,
    role_service_pb2,
    user_service_pb2,
)
from gnomon.directory.v1 import authorization_service_pb2 as pb
from gnomon.directory.v1.authentication_service_pb2_grpc import AuthenticationServiceStub
from gnomon.directory.v1.authorization_service_pb2_grpc import AuthorizationServiceStub
from gnomon.directory.v1.group_service_pb2_grpc import GroupServiceStub
from gnomon.directory.v1.role_service_pb2_grpc import RoleServiceStub
from gnomon.directory.v1.user_service_pb2_grpc import UserServiceStub
from gnomon.identity.v1 import mapping_rule_service_pb2, membership_service_pb2
from gnomon.identity.v1.mapping_rule_service_pb2_grpc import MappingRuleServiceStub
from gnomon.identity.v1.membership_service_pb2_grpc import MembershipServiceStub
from gnomon.query.v1 import page_pb2
from identity.directory.authorization import (
    AUTHORIZATIONS,
    Authorization,
    OwnerType,
    permission_types,
)
from identity.directory.client import CLIENTS, Client
from identity.directory.labels import GROUPS, ROLES, Group, Role
from identity.directory.mapping_rule import MAPPING_RULES, MappingRule
from identity.directory.user import USERS, User
from identity.foundation.vocabulary import Permission
from identity.seeds import ClientSeed
from server.platform.channels import error_of
from server.platform.clock import VirtualClock
from server.platform.errors import InvalidArgument, NotFound, PermissionDenied, ServiceError
from server.platform.mapping import spellings
from server.platform.postgres.pooled import PooledDatabase
from server.platform.records.postgres import PostgresRecordStore
from tests.durable import emptied, migrated_database
from tests.identity.administration.process_api.directory import ACME, DEFAULT, Directory, opened
from tests.identity.deployment import NOON, SECRET

# Has no permissions; `deputy` may keep authorizations by an authorization, and nothing else.
ROBOT = ClientSeed(id="robot", secret=SECRET)
DEPUTY = ClientSeed(id="deputy", secret=SECRET)
# May do one thing, so that its tokens can be narrowed to it.
READER = ClientSeed(id="reader", secret=SECRET, permissions=(Permission.HISTORY_READ,))


@pytest.fixture(scope="session")
def dsn(postgres_dsn: str) -> str:
    return asyncio.run(migrated_database(postgres_dsn, "authorizations"))


@pytest.fixture(params=["memory", "postgresql"])
async def directory(request: pytest.FixtureRequest, dsn: str) -> AsyncIterator[Directory]:
    if request.param == "memory":
        async with opened(ROBOT, DEPUTY, READER) as running:
            yield running
        return
    async with emptied(dsn) as pool:
        store = PostgresRecordStore(PooledDatabase(pool), VirtualClock(pinned=NOON))
        async with opened(ROBOT, DEPUTY, READER, store=store) as running:
            yield running


def creation(
    owner_id: str = "robot",
    owner_type: str = "CLIENT",
    *,
    resource_type: str = "GROUP",
    resource_id: str = "*",
    permission_types: Sequence[str] = ("READ",),
) -> pb.CreateAuthorizationRequest:
    return pb.CreateAuthorizationRequest(
        owner_id=owner_id,
        owner_type=authorization_pb2.OwnerType.Value(f"OWNER_TYPE_{owner_type}"),
        resource_id=resource_id,
        resource_type=authorization_pb2.ResourceType.Value(f"RESOURCE_TYPE_{resource_type}"),
        permission_types=[
            authorization_pb2.PermissionType.Value(f"PERMISSION_TYPE_{name}") for name in permission_types
        ],
    )


async def give(directory: Directory, *args: str, **fields: Any) -> int:
    response = await directory.call(AuthorizationServiceStub, creation(*args, **fields))
    return int(response.authorization_key)


async def give_anew(directory: Directory, key: int, *args: str, **fields: Any) -> None:
    wanted = creation(*args, **fields)
    values = {field.name: value for field, value in wanted.ListFields()}
    await directory.call(
        AuthorizationServiceStub, pb.UpdateAuthorizationRequest(authorization_key=key, **values)
    )


async def take(directory: Directory, key: int) -> None:
    await directory.call(AuthorizationServiceStub, pb.DeleteAuthorizationRequest(authorization_key=key))


async def listed(directory: Directory, **filter_fields: Any) -> Sequence[authorization_pb2.Authorization]:
    request = pb.SearchAuthorizationsRequest(
        filter=pb.AuthorizationFilter(**filter_fields), sort=[pb.AuthorizationSort(field="ownerId")]
    )
    return list((await directory.call(AuthorizationServiceStub, request)).items)


async def token_of(directory: Directory, client_id: str = "robot", scope: str = "") -> str:
    return (await directory.deployment.issue(client_id=client_id, scope=scope)).access_token


async def may_read_group(directory: Directory, token: str, name: str = "staff") -> bool:
    request = group_service_pb2.GetGroupRequest(group_id=name)
    try:
        await directory.call(GroupServiceStub, request, token=token)
    except grpc.RpcError as failure:
        assert isinstance(error_of(failure), PermissionDenied)  # noqa: PT017  # any other failure fails the test
        return False
    return True


async def furnish(directory: Directory) -> None:
    store = directory.deployment.store
    for name in ("staff", "guests"):
        await store.of(GROUPS).insert(Group(tenant_id=DEFAULT, id=f"g-{name}", name=name))


async def refusal_of(directory: Directory, request: Any, **options: Any) -> ServiceError:
    return await directory.refusal(AuthorizationServiceStub, request, **options)


async def test_an_authorization_counts_for_a_token_that_is_older(directory: Directory) -> None:
    await furnish(directory)
    token = await token_of(directory)

    before = await may_read_group(directory, token)
    key = await give(directory)
    while_given = await may_read_group(directory, token)
    await take(directory, key)
    after = await may_read_group(directory, token)

    assert (before, while_given, after) == (False, True, False)


async def test_it_opens_what_it_names_and_nothing_else(directory: Directory) -> None:
    await furnish(directory)
    await give(directory, resource_id="staff", permission_types=("READ", "UPDATE"))
    token = await token_of(directory)

    renamed = group_service_pb2.UpdateGroupRequest(group_id="staff", name="Crew")
    await directory.call(GroupServiceStub, renamed, token=token)
    refused = [
        group_service_pb2.GetGroupRequest(group_id="guests"),
        group_service_pb2.SearchGroupsRequest(),
        group_service_pb2.DeleteGroupRequest(group_id="staff"),
        group_service_pb2.CreateGroupRequest(group_id="more", name="More"),
    ]

    assert await may_read_group(directory, token)
    for request in refused:
        refusal = await directory.refusal(GroupServiceStub, request, token=token)
        assert isinstance(refusal, PermissionDenied)


async def test_every_kind_of_owner_has_what_it_gives(directory: Directory) -> None:
    await furnish(directory)
    store = directory.deployment.store
    rule = {"name": "Robots", "claim_name": "sub", "claim_value": "robot"}
    await store.of(MAPPING_RULES).insert(MappingRule(tenant_id=DEFAULT, id="robots", **rule))
    await store.of(ROLES).insert(Role(tenant_id=DEFAULT, id="r-1", name="machine"))
    robot = await store.of(CLIENTS).get(DEFAULT, "robot")
    assert robot is not None
    await store.of(CLIENTS).replace(
        Client(**{**_fields(robot), "roles": ("machine",), "groups": ("guests",)})
    )
    token = await token_of(directory)

    for owner in (
        ("robot", "CLIENT"),
        ("machine", "ROLE"),
        ("guests", "GROUP"),
        ("robots", "MAPPING_RULE"),
    ):
        assert not await may_read_group(directory, token), owner
        key = await give(directory, *owner)
        assert await may_read_group(directory, token), owner
        await take(directory, key)


def _fields(client: Client) -> dict[str, Any]:
    return {name: getattr(client, name) for name in Client.__dataclass_fields__}


async def test_a_user_in_a_session_has_it_and_a_token_as_far_as_its_scopes_go(directory: Directory) -> None:
    await furnish(directory)
    await give(directory)
    await give(directory, "reader", resource_type="GROUP")

    whole, narrowed = [await token_of(directory, "reader", scope) for scope in ("", "history:read")]

    assert await may_read_group(directory, whole)
    assert not await may_read_group(directory, narrowed)


async def test_a_changed_authorization_gives_the_new_owner_what_it_says(directory: Directory) -> None:
    await furnish(directory)
    key = await give(directory)
    robot, reader = await token_of(directory), await token_of(directory, "reader")

    await give_anew(directory, key, "reader", resource_id="staff", permission_types=("READ", "DELETE"))

    assert not await may_read_group(directory, robot)
    assert await may_read_group(directory, reader)
    (shown,) = await listed(directory)
    assert (shown.authorization_key, shown.owner_id, shown.resource_id) == (key, "reader", "staff")
    assert [authorization_pb2.PermissionType.Name(each) for each in shown.permission_types] == [
        "PERMISSION_TYPE_DELETE",
        "PERMISSION_TYPE_READ",
    ]


async def test_a_caller_gives_only_what_it_has(directory: Directory) -> None:
    await give(directory, "deputy", resource_type="AUTHORIZATION", permission_types=("CREATE", "UPDATE"))
    await give(directory, "deputy", resource_id="staff", permission_types=("READ",))
    await give(directory, "deputy", resource_type="ROLE", permission_types=("READ",))

    own = [creation(resource_id="staff"), creation(resource_type="ROLE", resource_id="auditor")]
    beyond = [
        creation(resource_id="*"),
        creation(resource_id="staff", permission_types=("READ", "UPDATE")),
        creation("deputy", resource_type="USER", permission_types=("UPDATE",)),
        creation("deputy", resource_type="PROCESS_DEFINITION", permission_types=("CREATE_PROCESS_INSTANCE",)),
    ]

    for request in own:
        assert (
            await directory.call(AuthorizationServiceStub, request, caller="deputy")
        ).authorization_key > 0
    for request in beyond:
        assert isinstance(await refusal_of(directory, request, caller="deputy"), PermissionDenied)


async def test_an_administrator_of_identities_gives_no_permission_of_the_engine(directory: Directory) -> None:
    own = creation(permission_types=("READ", "UPDATE"))
    beyond = creation(resource_type="MESSAGE", permission_types=("CREATE",))

    created = await directory.call(AuthorizationServiceStub, own, caller="clerk")
    refusal = await refusal_of(directory, beyond, caller="clerk")

    assert created.authorization_key > 0
    assert isinstance(refusal, PermissionDenied)
    assert str(refusal) == "the caller lacks CREATE on MESSAGE '*' and cannot give it"


async def test_an_update_needs_nothing_for_what_was_given_already(directory: Directory) -> None:
    key = await give(directory, resource_type="MESSAGE", permission_types=("CREATE",))
    values = {field.name: value for field, value in creation("reader").ListFields()}
    values |= {"resource_type": authorization_pb2.RESOURCE_TYPE_MESSAGE}
    values |= {"permission_types": [authorization_pb2.PERMISSION_TYPE_CREATE]}

    same = pb.UpdateAuthorizationRequest(authorization_key=key, **(values | {"owner_id": "robot"}))
    other_owner = pb.UpdateAuthorizationRequest(authorization_key=key, **values)

    await directory.call(AuthorizationServiceStub, same, caller="clerk")
    assert isinstance(await refusal_of(directory, other_owner, caller="clerk"), PermissionDenied)


async def test_a_label_with_authorizations_is_assigned_only_by_who_has_them(directory: Directory) -> None:
    store = directory.deployment.store
    await store.of(ROLES).insert(Role(tenant_id=DEFAULT, id="r-1", name="sender"))
    await store.of(GROUPS).insert(Group(tenant_id=DEFAULT, id="g-1", name="senders"))
    await give(directory, "sender", "ROLE", resource_type="MESSAGE", permission_types=("CREATE",))
    to_client = membership_service_pb2.AssignRoleToClientRequest(role_id="sender", client_id="robot")
    to_group = membership_service_pb2.AssignRoleToGroupRequest(role_id="sender", group_id="senders")

    for request in (to_client, to_group):
        refusal = await directory.refusal(MembershipServiceStub, request, caller="clerk")
        assert isinstance(refusal, PermissionDenied)
        await directory.call(MembershipServiceStub, request)


async def test_a_mapping_rule_that_gives_more_than_the_caller_has_keeps_its_condition(
    directory: Directory,
) -> None:
    rule = {"name": "Robots", "claim_name": "sub", "claim_value": "robot"}
    await directory.deployment.store.of(MAPPING_RULES).insert(
        MappingRule(tenant_id=DEFAULT, id="robots", **rule)
    )
    await give(directory, "robots", "MAPPING_RULE", resource_type="MESSAGE", permission_types=("CREATE",))
    update = mapping_rule_service_pb2.UpdateMappingRuleRequest
    redirected = update(mapping_rule_id="robots", **(rule | {"claim_value": "clerk"}))
    renamed = update(mapping_rule_id="robots", **(rule | {"name": "Machines"}))

    refusal = await directory.refusal(MappingRuleServiceStub, redirected, caller="clerk")
    await directory.call(MappingRuleServiceStub, renamed, caller="clerk")
    await directory.call(MappingRuleServiceStub, redirected)

    assert isinstance(refusal, PermissionDenied)


async def test_who_may_change_users_takes_over_no_user_who_may_do_more(directory: Directory) -> None:
    store = directory.deployment.store
    ada = {"id": "ada", "email": "ada@example.com", "preferred_username": "ada"}
    await store.of(USERS).insert(User(tenant_id=DEFAULT, tenant_ids=(DEFAULT,), **ada))
    await give(directory, "deputy", resource_type="USER", permission_types=("UPDATE",))
    change = user_service_pb2.UpdateUserRequest(username="ada", password="correct horse battery staple")

    await directory.call(UserServiceStub, change, caller="deputy")
    await give(directory, "ada", "USER", resource_type="MESSAGE", permission_types=("CREATE",))
    refusal = await directory.refusal(UserServiceStub, change, caller="deputy")

    assert isinstance(refusal, PermissionDenied)


async def test_an_owner_is_shown_by_its_present_name_and_its_successor_gets_nothing(
    directory: Directory,
) -> None:
    await furnish(directory)
    create = role_service_pb2.CreateRoleRequest(role_id="auditor", name="Auditor")
    await directory.call(RoleServiceStub, create)
    ada = {"id": "ada", "email": "ada@example.com", "preferred_username": "ada"}
    users = directory.deployment.store.of(USERS)
    kept = await users.insert(User(tenant_id=DEFAULT, tenant_ids=(DEFAULT,), **ada))
    await give(directory, "auditor", "ROLE")
    await give(directory, "ada", "USER")
    await users.replace(
        User(tenant_id=DEFAULT, **(ada | {"preferred_username": "lovelace"}), revision=kept.revision)
    )
    shown = [item.owner_id for item in await listed(directory)]

    await directory.call(RoleServiceStub, role_service_pb2.DeleteRoleRequest(role_id="auditor"))
    await directory.call(UserServiceStub, user_service_pb2.DeleteUserRequest(username="lovelace"))
    await directory.call(RoleServiceStub, create)

    assert shown == ["auditor", "lovelace"]
    assert await listed(directory) == []


async def test_the_search_finds_by_each_field(directory: Directory) -> None:
    await furnish(directory)
    await give(directory, resource_id="staff")
    await give(directory, "staff", "GROUP", resource_type="ROLE")
    await give(directory, "reader", resource_type="ROLE", resource_id="auditor")

    async def owners(**fields: Any) -> list[str]:
        return [item.owner_id for item in await listed(directory, **fields)]

    assert await owners() == ["reader", "robot", "staff"]
    assert await owners(owner_id="robot") == ["robot"]
    assert await owners(owner_type=authorization_pb2.OWNER_TYPE_GROUP) == ["staff"]
    assert await owners(resource_type=authorization_pb2.RESOURCE_TYPE_ROLE) == ["reader", "staff"]
    assert await owners(resource_ids=["staff", "auditor"]) == ["reader", "robot"]
    assert await owners(resource_property_names=["assignee"]) == []


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        pytest.param(creation("nobody", "USER"), NotFound, id="user"),
        pytest.param(creation("nobody", "CLIENT"), NotFound, id="client"),
        pytest.param(creation("nobody", "ROLE"), NotFound, id="role"),
        pytest.param(creation("nobody", "GROUP"), NotFound, id="group"),
        pytest.param(creation("nobody", "MAPPING_RULE"), NotFound, id="mapping rule"),
        pytest.param(creation(permission_types=("COMPLETE",)), InvalidArgument, id="permission type"),
        pytest.param(creation(permission_types=("READ", "READ")), InvalidArgument, id="twice"),
        pytest.param(creation(permission_types=()), InvalidArgument, id="none"),
        pytest.param(
            pb.CreateAuthorizationRequest(
                owner_id="robot",
                owner_type=authorization_pb2.OWNER_TYPE_CLIENT,
                resource_property_name="assignee",
                resource_type=authorization_pb2.RESOURCE_TYPE_USER_TASK,
                permission_types=[authorization_pb2.PERMISSION_TYPE_READ],
            ),
            InvalidArgument,
            id="property",
        ),
    ],
)
async def test_a_refused_request_changes_nothing(
    directory: Directory, request_: pb.CreateAuthorizationRequest, expected: type[ServiceError]
) -> None:
    refusal = await refusal_of(directory, request_)

    assert isinstance(refusal, expected)
    assert await listed(directory) == []


async def test_a_key_of_another_tenant_or_of_none_is_unknown(directory: Directory) -> None:
    key = await give(directory)
    values = {field.name: value for field, value in creation().ListFields()}
    requests = (
        pb.GetAuthorizationRequest,
        pb.DeleteAuthorizationRequest,
        lambda **fields: pb.UpdateAuthorizationRequest(**fields, **values),
    )

    for request in requests:
        elsewhere = await refusal_of(directory, request(authorization_key=key), acting_in=ACME)
        unknown = await refusal_of(directory, request(authorization_key=key + 1))
        assert isinstance(elsewhere, NotFound)
        assert isinstance(unknown, NotFound)
    assert len(await listed(directory)) == 1


async def test_a_tenant_may_have_more_than_a_page_of_them(directory: Directory) -> None:
    await directory.deployment.store.of(AUTHORIZATIONS).insert_all(
        [
            Authorization(
                tenant_id=DEFAULT,
                id=str(number),
                owner="CLIENT:robot",
                owner_type=OwnerType.CLIENT,
                owner_id="robot",
                resource_type="GROUP",
                resource_id=f"g{number}",
                permission_types=("READ",),
            )
            for number in range(1, 1200)
        ]
    )

    await give(directory)
    found, total, after = 0, 0, None
    while after is None or found < total:
        page = (
            page_pb2.PageRequest(limit=500) if after is None else page_pb2.PageRequest(limit=500, after=after)
        )
        answer = await directory.call(AuthorizationServiceStub, pb.SearchAuthorizationsRequest(page=page))
        found, total, after = found + len(answer.items), answer.page.total_items, answer.page.end_cursor

    assert (found, total) == (1200, 1200)


async def test_every_change_is_an_entry_of_the_log_and_an_event() -> None:
    async with opened(ROBOT) as directory:
        before = len(await directory.told())
        key = await give(directory)
        await give_anew(directory, key, permission_types=("READ", "UPDATE"))
        await take(directory, key)
        await refusal_of(directory, pb.DeleteAuthorizationRequest(authorization_key=key))

        entries = [(verb, "AUTHORIZATION", str(key)) for verb in ("CREATE", "UPDATE", "DELETE")]
        assert directory.noted() == entries
        told = (await directory.told())[before:]
        assert sorted(told) == [
            (verb, "authorization of client robot") for verb in ("Changed", "Created", "Deleted")
        ]


async def test_components_are_named_to_their_caller(directory: Directory) -> None:
    await give(directory, resource_type="COMPONENT", resource_id="tasklist", permission_types=("ACCESS",))
    request = authentication_service_pb2.GetAuthenticationRequest()

    shown = await directory.call(AuthenticationServiceStub, request, caller="robot")

    assert list(shown.authentication.authorized_components) == ["tasklist"]


def test_every_permission_type_is_one_of_the_contract() -> None:
    resources = set(spellings(authorization_pb2.ResourceType.DESCRIPTOR).values())
    permissions = set(spellings(authorization_pb2.PermissionType.DESCRIPTOR).values())

    known = permission_types()

    assert known.keys() == resources - {"UNSPECIFIED"}
    assert {name for of_type in known.values() for name in of_type} <= permissions


def test_a_permission_type_needs_all_that_its_operations_ask_for() -> None:
    """Steering a batch operation asks for the permission of its kind."""
    steered = {
        Permission.INSTANCE_CANCEL,
        Permission.INSTANCE_DELETE,
        Permission.INSTANCE_MIGRATE,
        Permission.INSTANCE_MODIFY,
        Permission.INCIDENT_RESOLVE,
        Permission.VARIABLE_ERASE,
    }

    assert permission_types()["BATCH"]["UPDATE"] == steered | {Permission.HISTORY_READ}
