"""Two processes over one PostgreSQL: single-use operations succeed once, whichever process gets them."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Awaitable
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace

import grpc
import pytest

from gnomon.identity.v1 import dynamic_client_service_pb2 as pb
from gnomon.identity.v1.dynamic_client_service_pb2_grpc import DynamicClientServiceStub
from identity.clients.dynamic.config import DynamicClientsConfig
from identity.clients.dynamic.first_use import FirstUse
from identity.crypto.keys.config import EncryptionConfig
from identity.crypto.keys.master_keys import new_master_key
from identity.directory.client import CLIENTS
from identity.foundation.randomness import SystemRandomness
from server.platform.call import TenantId
from server.platform.channels import error_of
from server.platform.clock import VirtualClock
from server.platform.errors import OAuthError, ResourceExhausted, ServiceError
from server.platform.postgres.pool import open_pool
from server.platform.postgres.pooled import PooledDatabase
from server.platform.records.postgres import PostgresRecordStore
from tests.durable import migrated_database
from tests.identity.deployment import CONFIG, NOON, Deployment, deployed

METADATA = pb.ClientMetadata(client_name="The app", redirect_uris=["https://app.example.com/callback"])
ALL_BUT_ONE = 9

# Each test has its own database.
NUMBERS = itertools.count(1)


@dataclass(frozen=True)
class Processes:
    one: Deployment
    other: Deployment

    def stubs(self) -> "list[DynamicClientServiceStub]":
        """Return stubs for ten callers, alternating between the processes."""
        return [DynamicClientServiceStub(process.channel) for process in (self.one, self.other)] * 5

    async def register(self, address: str) -> pb.ClientRegistration:
        asked = pb.RegisterClientRequest(peer_address=address, metadata=METADATA)
        answer = await DynamicClientServiceStub(self.one.channel).RegisterClient(asked)
        return answer.registration


@pytest.fixture
async def processes(postgres_dsn: str) -> AsyncIterator[Processes]:
    dsn = await migrated_database(postgres_dsn, f"dynamic_clients_{next(NUMBERS)}")
    master_key = EncryptionConfig(keys=(new_master_key(SystemRandomness()),))
    config = replace(CONFIG, encryption=master_key, dynamic_clients=DynamicClientsConfig(enabled=True))
    clock = VirtualClock(pinned=NOON)
    async with AsyncExitStack() as stack:
        started = []
        for _ in range(2):
            pool = await stack.enter_async_context(open_pool(dsn, 2))
            store = PostgresRecordStore(PooledDatabase(pool), clock)
            started.append(await stack.enter_async_context(deployed(config, store)))
        yield Processes(*started)


async def refusal(call: Awaitable[object]) -> ServiceError | None:
    try:
        await call
    except grpc.RpcError as failure:
        return error_of(failure)
    return None


async def test_an_address_registers_one_client_at_all_processes(processes: Processes) -> None:
    asked = pb.RegisterClientRequest(peer_address="198.51.100.7", metadata=METADATA)

    refusals = await asyncio.gather(*(refusal(stub.RegisterClient(asked)) for stub in processes.stubs()))

    assert [isinstance(each, ResourceExhausted) for each in refusals].count(True) == ALL_BUT_ONE
    assert refusals.count(None) == 1


async def test_a_token_changes_a_registration_once_at_all_processes(processes: Processes) -> None:
    client = await processes.register("198.51.100.7")
    change = pb.UpdateRegistrationRequest(
        client_id=client.client_id, token=client.registration_access_token, metadata=METADATA
    )

    refusals = await asyncio.gather(*(refusal(stub.UpdateRegistration(change)) for stub in processes.stubs()))

    assert refusals.count(None) == 1
    codes = [each.error for each in refusals if isinstance(each, OAuthError)]
    assert codes == ["invalid_token"] * ALL_BUT_ONE


async def test_tokens_at_once_keep_a_client_from_ending(processes: Processes) -> None:
    client = await processes.register("198.51.100.7")
    records = processes.one.store.of(CLIENTS)
    before = await records.get(TenantId("default"), client.client_id)
    assert before is not None
    assert before.expires_at is not None

    async with asyncio.TaskGroup() as tasks:
        for process in (processes.one, processes.other) * 5:
            tasks.create_task(FirstUse(process.store).note(before))

    after = await records.get(TenantId("default"), client.client_id)
    assert after == replace(before, expires_at=None, revision=before.revision + 1)
