import asyncio
from collections.abc import AsyncIterator

import pytest

from server.platform.clock import VirtualClock
from server.platform.postgres.pool import open_pool
from server.platform.postgres.pooled import PooledDatabase
from server.platform.records.postgres import PostgresRecordStore
from tests.durable import migrated_database
from tests.edge.oidc.administration.administrator import Administrator
from tests.edge.oidc.conftest import Http
from tests.edge.oidc.provisioning.client import RIGHTS, Client
from tests.identity.deployment import NOON, Deployment, deployed


@pytest.fixture(scope="session")
def provisioning_dsn(postgres_dsn: str) -> str:
    return asyncio.run(migrated_database(postgres_dsn, "provisioning"))


@pytest.fixture(params=["memory", "postgres"])
def database(request: pytest.FixtureRequest) -> str | None:
    """The DSN of a database for the records, None when they are in memory."""
    return None if request.param == "memory" else request.getfixturevalue("provisioning_dsn")


@pytest.fixture
async def deployment(database: str | None) -> AsyncIterator[Deployment]:
    if database is None:
        async with deployed() as running:
            yield running
        return
    async with open_pool(database, 2) as pool:
        tables = await pool.fetch(
            "SELECT format('identity.%I', relname) FROM pg_class"
            " WHERE relnamespace = 'identity'::regnamespace AND relkind = 'r'"
        )
        await pool.execute(f"TRUNCATE {', '.join(table[0] for table in tables)}")
        store = PostgresRecordStore(PooledDatabase(pool), VirtualClock(pinned=NOON))
        async with deployed(store=store) as running:
            yield running


@pytest.fixture
async def administrator(http: Http, deployment: Deployment) -> Administrator:
    token = (await deployment.issue()).access_token
    return Administrator(http, f"Bearer {token}")


@pytest.fixture
async def client(administrator: Administrator) -> Client:
    key = await administrator.key("entra", Provisioning=RIGHTS)
    return Client(key.http, key.authorization.replace("API-Key", "Bearer"))
