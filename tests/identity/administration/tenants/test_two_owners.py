"""E22: of tenants that verify a domain concurrently one succeeds, in every store."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from server.platform.call import TenantId
from server.platform.clock import VirtualClock
from server.platform.errors import AlreadyExists
from server.platform.postgres.pool import open_pool
from server.platform.postgres.pooled import PooledDatabase
from server.platform.records import RecordStore
from server.platform.records.memory import MemoryRecordStore
from server.platform.records.postgres import PostgresRecordStore
from tests.durable import migrated_database
from tests.identity.administration.tenants.domains import Domains
from tests.identity.deployment import NOON

NAME = "example.com"
TENANTS = tuple(TenantId(f"tenant-{number}") for number in range(8))


@pytest.fixture(scope="session")
def domains_dsn(postgres_dsn: str) -> str:
    return asyncio.run(migrated_database(postgres_dsn, "sign_in_domains"))


@pytest.fixture(params=["memory", "postgresql"])
async def store(request: pytest.FixtureRequest, domains_dsn: str) -> AsyncIterator[RecordStore]:
    clock = VirtualClock(pinned=NOON)
    if request.param == "memory":
        yield MemoryRecordStore(clock)
        return
    async with open_pool(domains_dsn, len(TENANTS)) as pool:
        yield PostgresRecordStore(PooledDatabase(pool), clock)


async def test_e22_of_many_verifications_at_a_time_one_counts(store: RecordStore) -> None:
    domains = Domains(store, others=TENANTS)
    await domains.keep_tenants()
    for tenant_id in TENANTS:
        await domains.add(tenant_id, NAME)
        await domains.publish(tenant_id, NAME)

    outcomes = await asyncio.gather(
        *(domains.verify(tenant_id, NAME) for tenant_id in TENANTS), return_exceptions=True
    )

    [winner] = [tenant for tenant, outcome in zip(TENANTS, outcomes, strict=True) if outcome is None]
    assert sum(isinstance(outcome, AlreadyExists) for outcome in outcomes) == len(TENANTS) - 1
    assert await domains.targets.owner_of(NAME) == domains.tenant(winner)
    for tenant_id in TENANTS:
        [domain] = await domains.administration.all(tenant_id)
        assert domain.is_verified is (tenant_id == winner)
