"""Users over the process API: they are the accounts of the administration API."""

import asyncio
from dataclasses import replace
from typing import Any

import grpc
import pytest

from gnomon.directory.v1 import user_service_pb2 as pb
from gnomon.directory.v1.user_service_pb2_grpc import UserServiceStub
from identity.directory.labels import ROLES, Role
from identity.directory.user import USERS, User
from identity.foundation.vocabulary import Permission
from server.platform.call import TenantId
from server.platform.errors import (
    AlreadyExists,
    InvalidArgument,
    NotFound,
    PermissionDenied,
    ServiceError,
    TenantMismatch,
)
from tests.identity.administration.process_api.directory import ACME, DEFAULT, Directory

PASSWORD = "correct horse battery staple"
ADA = {
    "username": "ada",
    "name": "Ada King Lovelace",
    "email": "ada@example.com",
    "password": PASSWORD,
}


async def call(directory: Directory, request: Any, **options: Any) -> Any:
    return await directory.call(UserServiceStub, request, **options)


async def refusal(directory: Directory, request: Any, **options: Any) -> ServiceError:
    return await directory.refusal(UserServiceStub, request, **options)


def shown(user: Any) -> tuple[str, str | None, str | None]:
    return (
        user.username,
        user.name if user.HasField("name") else None,
        user.email if user.HasField("email") else None,
    )


async def account(directory: Directory, username: str, tenant_id: TenantId = DEFAULT) -> User | None:
    users = await directory.deployment.store.of(USERS).page(tenant_id)
    return next((user for user in users if user.username == username), None)


async def test_a_user_lives_from_creation_to_deletion(directory: Directory) -> None:
    created = await call(directory, pb.CreateUserRequest(**ADA))
    kept = await account(directory, "ada")
    read = await call(directory, pb.GetUserRequest(username="ada"))
    update = pb.UpdateUserRequest(username="ada", name="Ada", email="countess@example.com")
    changed = await call(directory, update)
    await call(directory, pb.DeleteUserRequest(username="ada"))

    assert shown(created.user) == shown(read.user) == ("ada", "Ada King Lovelace", "ada@example.com")
    assert kept
    assert (kept.given_name, kept.family_name) == ("Ada King", "Lovelace")
    assert kept.tenant_ids == (DEFAULT,)
    assert kept.password_hash
    assert shown(changed.user) == ("ada", "Ada", "countess@example.com")
    assert isinstance(await refusal(directory, pb.GetUserRequest(username="ada")), NotFound)
    assert isinstance(await refusal(directory, pb.DeleteUserRequest(username="ada")), NotFound)
    assert directory.noted() == [(verb, "USER", "ada") for verb in ("CREATE", "UPDATE", "DELETE")]


async def test_an_address_is_a_username(directory: Directory) -> None:
    username = "ada@example.com"
    request = pb.CreateUserRequest(username=username, password=PASSWORD)

    created = await call(directory, request)
    read = await call(directory, pb.GetUserRequest(username=username))

    assert shown(created.user) == shown(read.user) == (username, None, username)
    changed = await refusal(directory, pb.UpdateUserRequest(username=username, email="new@example.com"))
    assert isinstance(changed, InvalidArgument)


async def test_an_account_with_an_address_that_no_username_may_have_goes_by_its_id(
    directory: Directory,
) -> None:
    user = User(tenant_id=DEFAULT, id="u1", email="o'hara@example.com", given_name="Scarlett")
    await directory.deployment.store.of(USERS).insert(user)

    read = await call(directory, pb.GetUserRequest(username="u1"))

    assert shown(read.user) == ("u1", "Scarlett", "o'hara@example.com")
    assert isinstance(await refusal(directory, pb.GetUserRequest(username="o'hara@example.com")), NotFound)


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param({"username": ""}, id="no username"),
        pytest.param({"email": ""}, id="no address to sign in with"),
        pytest.param({"username": "Ada"}, id="a capital letter"),
        pytest.param({"username": "admin"}, id="reserved"),
        pytest.param({"username": "other@example.com"}, id="two addresses"),
        pytest.param({"email": "nothing"}, id="no address"),
        pytest.param({"password": ""}, id="no password"),
        pytest.param({"password": "short"}, id="a password against the policy"),
        pytest.param({"password": "aaaaaaaaaaaaaaaaaaaa"}, id="a password that is easily guessed"),
        pytest.param({"name": "R2\u200bD2"}, id="a zero-width space in a name"),
    ],
)
async def test_a_user_that_cannot_be_is_refused(directory: Directory, wrong: dict[str, str]) -> None:
    before = await directory.deployment.store.of(USERS).page(DEFAULT)

    refused = await refusal(directory, pb.CreateUserRequest(**ADA | wrong))

    assert isinstance(refused, InvalidArgument)
    assert PASSWORD not in refused.detail
    assert await directory.deployment.store.of(USERS).page(DEFAULT) == before
    assert directory.notes == []


async def test_of_two_creations_at_once_one_succeeds(directory: Directory) -> None:
    creations = [
        call(directory, pb.CreateUserRequest(**ADA | {"email": f"ada{number}@example.com"}))
        for number in range(2)
    ]

    results = await asyncio.gather(*creations, return_exceptions=True)

    assert sum(isinstance(result, grpc.RpcError) for result in results) == 1
    assert isinstance(await refusal(directory, pb.CreateUserRequest(**ADA)), AlreadyExists)


async def test_a_new_password_is_the_only_one_and_an_empty_one_changes_nothing(directory: Directory) -> None:
    await call(directory, pb.CreateUserRequest(**ADA))
    first = await account(directory, "ada")
    await call(directory, pb.UpdateUserRequest(username="ada", password=""))
    same = await account(directory, "ada")
    await call(directory, pb.UpdateUserRequest(username="ada", password="another horse battery staple"))
    changed = await account(directory, "ada")

    assert first
    assert same
    assert changed
    assert same.password_hash == first.password_hash != changed.password_hash
    assert ("UserPasswordReset", "ada@example.com") in await directory.told()
    weak = await refusal(directory, pb.UpdateUserRequest(username="ada", password="short"))
    assert isinstance(weak, InvalidArgument)


async def test_absent_members_stay_and_an_empty_name_goes(directory: Directory) -> None:
    await call(directory, pb.CreateUserRequest(**ADA))

    same = await call(directory, pb.UpdateUserRequest(username="ada"))
    nameless = await call(directory, pb.UpdateUserRequest(username="ada", name=""))

    assert shown(same.user) == ("ada", "Ada King Lovelace", "ada@example.com")
    assert shown(nameless.user) == ("ada", None, "ada@example.com")
    refused = await refusal(directory, pb.UpdateUserRequest(username="ada", email=""))
    assert isinstance(refused, InvalidArgument)


async def test_a_client_takes_over_nobody_who_may_do_more(directory: Directory) -> None:
    await call(directory, pb.CreateUserRequest(**ADA))
    store = directory.deployment.store
    given = (Permission.JOB_WORK,)
    await store.of(ROLES).insert(Role(tenant_id=DEFAULT, id="r", name="worker", permissions=given))
    password = pb.UpdateUserRequest(username="ada", password="another horse battery staple")
    await call(directory, password, caller="clerk")

    ada = await account(directory, "ada")
    assert ada
    await store.of(USERS).replace(replace(ada, roles=("worker",)))

    address = pb.UpdateUserRequest(username="ada", email="mine@example.com")
    for update in (password, address):
        assert isinstance(await refusal(directory, update, caller="clerk"), PermissionDenied)
    await call(directory, pb.UpdateUserRequest(username="ada", name="Ada"), caller="clerk")
    kept = await account(directory, "ada")
    assert kept
    assert kept.email == "ada@example.com"


async def test_another_tenants_user_does_not_exist(directory: Directory) -> None:
    await call(directory, pb.CreateUserRequest(**ADA))
    kept = await account(directory, "ada")

    for request in (
        pb.GetUserRequest(username="ada"),
        pb.UpdateUserRequest(username="ada", name="Mine", password=PASSWORD),
        pb.DeleteUserRequest(username="ada"),
    ):
        assert isinstance(await refusal(directory, request, acting_in=ACME), NotFound)

    found = await call(directory, pb.SearchUsersRequest(), acting_in=ACME)
    assert "ada" not in [user.username for user in found.items]
    assert await account(directory, "ada") == kept
    clerks = await refusal(directory, pb.CreateUserRequest(**ADA), caller="clerk", acting_in=ACME)
    assert isinstance(clerks, TenantMismatch)


async def test_users_are_searched(directory: Directory) -> None:
    for username, name in (("ada", "Ada Lovelace"), ("bob", "Bob"), ("cyd", "Cyd Lovelace")):
        fields = {"username": username, "name": name, "email": f"{username}@example.org"}
        await call(directory, pb.CreateUserRequest(**ADA | fields))
    own: dict[str, Any] = {"email": {"like": "*@example.org"}}

    async def found(**fields: Any) -> list[str]:
        response = await call(directory, pb.SearchUsersRequest(**fields))
        return [user.username for user in response.items]

    assert await found(filter=own) == ["ada", "bob", "cyd"]
    assert await found(filter={"username": {"in": ["bob", "dan"]}}) == ["bob"]
    assert await found(
        filter=own | {"name": {"like": "*Lovelace"}}, sort=[{"field": "name", "order": 2}]
    ) == [
        "cyd",
        "ada",
    ]
    assert await found(filter=own, sort=[{"field": "email", "order": 2}], page={"limit": 1}) == ["cyd"]
