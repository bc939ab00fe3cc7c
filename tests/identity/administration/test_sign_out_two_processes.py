"""The sign-out of all users at one process ends tokens at another over one PostgreSQL."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from datetime import timedelta

import grpc
import pytest

from gnomon.identity.v1 import session_administration_service_pb2 as pb
from gnomon.identity.v1.caller_pb2 import Caller
from gnomon.identity.v1.session_administration_service_pb2_grpc import SessionAdministrationServiceStub
from identity.crypto.keys.config import EncryptionConfig
from identity.crypto.keys.master_keys import new_master_key
from identity.directory.version import PASS_SECONDS
from identity.foundation.randomness import SystemRandomness
from server.platform.channels import error_of
from server.platform.clock import VirtualClock
from server.platform.errors import Unauthenticated
from server.platform.postgres.pool import open_pool
from server.platform.postgres.pooled import PooledDatabase
from server.platform.records.postgres import PostgresRecordStore
from tests.durable import migrated_database
from tests.identity.deployment import CONFIG, NOON, Deployment, deployed

PASSES = 100


@dataclass(frozen=True)
class Processes:
    one: Deployment
    other: Deployment

    async def is_admitted(self, deployment: Deployment, token: str) -> bool:
        sessions = SessionAdministrationServiceStub(deployment.channel)
        try:
            await sessions.ListSessions(pb.ListSessionsRequest(caller=Caller(access_token=token)))
        except grpc.RpcError as failure:
            if isinstance(error_of(failure), Unauthenticated):
                return False
            raise
        return True

    async def other_refuses(self, token: str) -> None:
        for _ in range(PASSES):
            if not await self.is_admitted(self.other, token):
                return
            await asyncio.sleep(PASS_SECONDS)
        raise AssertionError("the other process hears of nothing")


@pytest.fixture
async def processes(postgres_dsn: str) -> AsyncIterator[Processes]:
    dsn = await migrated_database(postgres_dsn, "sign_out_processes")
    config = replace(CONFIG, encryption=EncryptionConfig(keys=(new_master_key(SystemRandomness()),)))
    async with AsyncExitStack() as stack:
        started = []
        for _ in range(2):
            pool = await stack.enter_async_context(open_pool(dsn, 2))
            store = PostgresRecordStore(PooledDatabase(pool), VirtualClock(pinned=NOON))
            started.append(await stack.enter_async_context(deployed(config, store)))
        yield Processes(*started)


async def test_tokens_end_at_the_other_process_too(processes: Processes) -> None:
    token = (await processes.one.issue()).access_token
    assert await processes.is_admitted(processes.other, token)
    for deployment in (processes.one, processes.other):
        deployment.clock.advance(timedelta(seconds=10))

    await SessionAdministrationServiceStub(processes.one.channel).EndAllSessions(
        pb.EndAllSessionsRequest(caller=Caller(access_token=token))
    )

    assert not await processes.is_admitted(processes.one, token)
    await processes.other_refuses(token)
    assert await processes.is_admitted(processes.other, (await processes.one.issue()).access_token)
