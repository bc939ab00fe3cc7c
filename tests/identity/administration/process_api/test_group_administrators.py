"""Group administrators: users who keep the members of one group, by an authorization for it."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from gnomon.directory.v1 import group_service_pb2
from gnomon.directory.v1.group_service_pb2_grpc import GroupServiceStub
from gnomon.identity.v1 import directory_service_pb2, membership_service_pb2
from gnomon.identity.v1.directory_service_pb2_grpc import DirectoryServiceStub
from gnomon.identity.v1.membership_service_pb2_grpc import MembershipServiceStub
from identity.directory.labels import GROUPS, ROLES, Group, Role
from identity.directory.user import USERS, User
from identity.foundation.vocabulary import Permission
from identity.seeds import ClientSeed
from server.platform.errors import PermissionDenied
from tests.identity.administration.process_api.directory import DEFAULT, Directory, opened
from tests.identity.administration.process_api.test_authorizations import give
from tests.identity.deployment import SECRET

CAROL = "carol"
"""A client without permissions; the rights of an owner do not depend on its kind."""


@pytest.fixture
async def directory() -> AsyncIterator[Directory]:
    async with opened(ClientSeed(id=CAROL, secret=SECRET)) as found:
        store = found.deployment.store
        users = {"ada": "ada@example.com", "bob": "bob@example.com"}
        for name, email in users.items():
            await store.of(USERS).insert(
                User(
                    tenant_id=DEFAULT,
                    tenant_ids=(DEFAULT,),
                    id=name,
                    email=email,
                    preferred_username=name,
                    groups=("staff", "keepers") if name == "bob" else (),
                )
            )
        role = Role(tenant_id=DEFAULT, id="r", name="keepers", permissions=(Permission.IDENTITY_READ,))
        await store.of(ROLES).insert(role)
        for name, roles in (("staff", ()), ("guests", ()), ("keepers", ("keepers",))):
            await store.of(GROUPS).insert(Group(tenant_id=DEFAULT, id=f"g-{name}", name=name, roles=roles))
        for name in ("staff", "keepers"):
            await give(found, CAROL, resource_id=name, permission_types=("READ", "UPDATE"))
        yield found


def assignment(group: str, user: str = "ada") -> Any:
    return membership_service_pb2.AssignUserToGroupRequest(group_id=group, username=user)


async def members(directory: Directory) -> list[str]:
    found = await directory.call(
        GroupServiceStub, group_service_pb2.SearchUsersForGroupRequest(group_id="staff"), caller=CAROL
    )
    return sorted(item.username for item in found.items)


async def test_a_group_administrator_keeps_the_members_of_the_group(directory: Directory) -> None:
    removal = membership_service_pb2.UnassignUserFromGroupRequest(group_id="staff", username="bob")

    before = await members(directory)
    await directory.call(MembershipServiceStub, assignment("staff"), caller=CAROL)
    await directory.call(MembershipServiceStub, removal, caller=CAROL)

    assert (before, await members(directory)) == (["bob"], ["ada"])
    assert ("ASSIGN", "GROUP", "staff") in directory.noted()


async def test_a_group_administrator_keeps_no_other_group(directory: Directory) -> None:
    requests = [
        (MembershipServiceStub, assignment("guests")),
        (GroupServiceStub, group_service_pb2.GetGroupRequest(group_id="guests")),
        (GroupServiceStub, group_service_pb2.SearchGroupsRequest()),
        (GroupServiceStub, group_service_pb2.DeleteGroupRequest(group_id="staff")),
        (GroupServiceStub, group_service_pb2.CreateGroupRequest(group_id="own", name="Own")),
    ]

    for stub, request in requests:
        assert isinstance(await directory.refusal(stub, request, caller=CAROL), PermissionDenied)


async def test_a_group_administrator_neither_gives_nor_takes_a_right_by_the_group(
    directory: Directory,
) -> None:
    removal = membership_service_pb2.UnassignUserFromGroupRequest(group_id="keepers", username="bob")

    given = await directory.refusal(MembershipServiceStub, assignment("keepers"), caller=CAROL)
    taken = await directory.refusal(MembershipServiceStub, removal, caller=CAROL)

    assert isinstance(given, PermissionDenied)
    assert isinstance(taken, PermissionDenied)
    assert str(given) == "the caller lacks identity:read and cannot give it"
    assert str(taken) == "the group gives what the caller lacks, so the caller cannot take it"


async def test_a_user_is_a_group_administrator(directory: Directory) -> None:
    await give(directory, "ada", "USER", resource_id="staff", permission_types=("READ", "UPDATE"))

    asked = directory_service_pb2.GetPrincipalRequest(subject="ada")
    found = await directory.call(DirectoryServiceStub, asked)

    (grant,) = found.principal.grants
    assert (grant.resource_type, grant.resource_id, sorted(grant.permission_types)) == (
        "GROUP",
        "staff",
        ["READ", "UPDATE"],
    )
