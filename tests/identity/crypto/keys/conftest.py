import asyncio

import pytest

from tests.durable import migrated_database


@pytest.fixture(scope="session")
def identity_dsn(postgres_dsn: str) -> str:
    """A database with the tables of records."""
    return asyncio.run(migrated_database(postgres_dsn, "identity_keys"))
