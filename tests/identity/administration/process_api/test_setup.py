"""The first administrator over the process API, in memory and in PostgreSQL."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import grpc
import pytest

from gnomon.directory.v1 import setup_service_pb2 as pb
from gnomon.directory.v1.setup_service_pb2_grpc import SetupServiceStub
from identity.crypto.keys.config import EncryptionConfig
from identity.crypto.keys.master_keys import new_master_key
from identity.directory.user import USERS, User
from identity.foundation.events.event import EVENTS
from identity.foundation.randomness import SystemRandomness
from identity.foundation.vocabulary import Permission
from identity.seeds import UserSeed
from server.platform.call import TenantId
from server.platform.channels import error_of
from server.platform.clock import VirtualClock
from server.platform.errors import AlreadyExists, InvalidArgument, PermissionDenied, ServiceError
from server.platform.postgres.pooled import PooledDatabase
from server.platform.records import RecordStore
from server.platform.records.memory import MemoryRecordStore
from server.platform.records.postgres import PostgresRecordStore
from tests.durable import emptied, migrated_database
from tests.identity.deployment import CONFIG, NOON, Deployment, deployed

DEFAULT = TenantId("default")
OPEN = replace(CONFIG, bootstrap=replace(CONFIG.bootstrap, admin_setup=True))
ADA = pb.CreateAdminUserRequest(
    username="ada", password="correct horse battery staple", name="Ada Lovelace", email="ada@example.com"
)


@pytest.fixture(scope="session")
def dsn(postgres_dsn: str) -> str:
    return asyncio.run(migrated_database(postgres_dsn, "setup"))


@pytest.fixture(params=["memory", "postgresql"])
async def store(request: pytest.FixtureRequest, dsn: str) -> AsyncIterator[RecordStore]:
    if request.param == "memory":
        yield MemoryRecordStore(VirtualClock(pinned=NOON))
        return
    async with emptied(dsn) as pool:
        yield PostgresRecordStore(PooledDatabase(pool), VirtualClock(pinned=NOON))


async def create(deployment: Deployment, request: pb.CreateAdminUserRequest = ADA) -> Any:
    return await SetupServiceStub(deployment.channel).CreateAdminUser(request)


async def refusal(deployment: Deployment, request: pb.CreateAdminUserRequest = ADA) -> ServiceError:
    with pytest.raises(grpc.RpcError) as failure:
        await create(deployment, request)
    return error_of(failure.value)


async def users(store: RecordStore) -> list[User]:
    return list(await store.of(USERS).page(DEFAULT))


async def test_the_first_administrator_may_do_everything_and_is_the_only_one(store: RecordStore) -> None:
    async with deployed(OPEN, store) as deployment:
        assert await users(store) == []

        created = await create(deployment)
        again = await refusal(deployment)
        (kept,) = await users(store)

    assert (created.user.username, created.user.name) == ("ada", "Ada Lovelace")
    assert kept.permissions == tuple(Permission)
    assert set(kept.tenant_ids) == {"default", "acme", "umbrella"}
    assert isinstance(again, PermissionDenied)


async def test_of_many_attempts_at_once_one_succeeds(store: RecordStore) -> None:
    async with deployed(OPEN, store) as deployment:
        requests = [
            pb.CreateAdminUserRequest(
                username=f"user{number}", email=f"u{number}@example.com", password=ADA.password
            )
            for number in range(5)
        ]

        attempts = (create(deployment, request) for request in requests)
        results = await asyncio.gather(*attempts, return_exceptions=True)

        refused = [error_of(result) for result in results if isinstance(result, grpc.RpcError)]
        assert len(refused) == len(requests) - 1
        assert all(isinstance(error, PermissionDenied) for error in refused)
        assert len(await users(store)) == 1


async def test_a_refused_attempt_can_be_corrected(store: RecordStore) -> None:
    async with deployed(OPEN, store) as deployment:
        short = pb.CreateAdminUserRequest(username="ada", password="short", email="ada@example.com")
        without_address = pb.CreateAdminUserRequest(username="ada", password=ADA.password)

        refusals = [await refusal(deployment, request) for request in (short, without_address)]
        created = await create(deployment)

    assert all(isinstance(error, InvalidArgument) for error in refusals)
    assert created.user.username == "ada"


async def test_the_name_of_another_user_is_taken(store: RecordStore) -> None:
    async with deployed(OPEN, store) as deployment:
        other = User(tenant_id=DEFAULT, id="other", email="x@example.com", preferred_username="ada")
        await store.of(USERS).insert(other)

        assert isinstance(await refusal(deployment), AlreadyExists)
        assert [user.id for user in await users(store)] == ["other"]


async def test_without_the_setting_nobody_is_created(store: RecordStore) -> None:
    async with deployed(CONFIG, store) as deployment:
        (configured,) = await users(store)
        await store.of(USERS).take(DEFAULT, configured.id)

        assert isinstance(await refusal(deployment), PermissionDenied)
        assert await users(store) == []


async def test_a_deleted_administrator_leaves_it_closed(store: RecordStore) -> None:
    async with deployed(OPEN, store) as deployment:
        await create(deployment)
        (kept,) = await users(store)
        await store.of(USERS).take(DEFAULT, kept.id)

        assert isinstance(await refusal(deployment), PermissionDenied)


@pytest.mark.parametrize("roles", [("admin",), ("rauthy_admin",)])
async def test_a_user_with_a_role_of_administrators_is_one(
    store: RecordStore, roles: tuple[str, ...]
) -> None:
    seed = UserSeed(email="boss@example.com", password="s3cret-of-the-boss", roles=roles)
    config = replace(OPEN, bootstrap=replace(OPEN.bootstrap, users=(seed,)))
    async with deployed(config, store) as deployment:
        assert isinstance(await refusal(deployment), PermissionDenied)


async def test_the_administrator_of_an_earlier_configuration_is_one(store: RecordStore) -> None:
    encryption = EncryptionConfig(keys=(new_master_key(SystemRandomness()),))
    async with deployed(replace(CONFIG, encryption=encryption), store):
        assert len(await users(store)) == 1

    async with deployed(replace(OPEN, encryption=encryption), store) as deployment:
        assert isinstance(await refusal(deployment), PermissionDenied)


async def test_the_creation_is_an_entry_of_the_log_and_two_events() -> None:
    notes: list[Any] = []
    store = MemoryRecordStore(VirtualClock(pinned=NOON), notes.append)
    async with deployed(OPEN, store) as deployment:
        await create(deployment)
        await refusal(deployment)

        (note,) = notes
        told = {event.type.value for event in await store.of(EVENTS).page(DEFAULT)}
        assert (note.operation_type, note.entity_type, note.entity_id) == ("CREATE", "USER", "ada")
        assert (note.actor_type, note.tenant_id) == ("ANONYMOUS", DEFAULT)
        assert told == {"NewUserRegistered", "NewAdministrator"}
