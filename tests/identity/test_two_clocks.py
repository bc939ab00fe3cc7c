"""Two nodes whose system clocks differ by an hour, over one PostgreSQL: lifetimes end at both at the same time."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import datetime, timedelta

import pytest

from identity.access.sessions.config import SessionConfig, SessionLifetimes
from identity.access.sessions.session import SESSIONS
from identity.access.sessions.sessions import Sessions
from identity.access.tokens.revoked import RevokedTokens
from identity.directory.secrets import SecretHasher
from identity.directory.user import USERS, UserId
from identity.directory.version import DirectoryVersion
from identity.foundation.randomness import SystemRandomness
from identity.foundation.single_use import SPENT_IDS, SingleUse
from identity.foundation.tenants import Tenant, Tenants
from server.platform.call import TenantId
from server.platform.clock import DatabaseClock, SystemClock
from server.platform.postgres.database_time import following
from server.platform.postgres.pool import open_pool
from server.platform.postgres.pooled import PooledDatabase
from server.platform.records.postgres import PostgresRecordStore
from tests.durable import migrated_database

ADDRESS = "192.0.2.7"
LIFETIMES = SessionLifetimes(session_lifetime_secs=600, session_timeout_secs=300)


@dataclass
class Elapsed:
    """A monotonic clock that both nodes read, because they are in one process; tests move it."""

    seconds: float = 0.0

    def __call__(self) -> float:
        return self.seconds


class Skewed(SystemClock):
    def __init__(self, by: timedelta) -> None:
        self._by = by

    def now(self) -> datetime:
        return super().now() + self._by


@dataclass(frozen=True)
class Node:
    store: PostgresRecordStore
    clock: DatabaseClock

    @property
    def sessions(self) -> Sessions:
        return Sessions(
            self.store.of(SESSIONS),
            SecretHasher(b"k" * 32),
            users=self.store.of(USERS),
            version=DirectoryVersion(self.store),
            clock=self.clock,
            randomness=SystemRandomness(),
            lifetimes=LIFETIMES,
            config=SessionConfig(),
        )


@dataclass(frozen=True)
class Two:
    right: Node
    fast: Node
    elapsed: Elapsed
    tenant: Tenant

    async def upkeep(self) -> None:
        """Remove expired records at both nodes."""
        for node in (self.fast, self.right):
            for kind in (SPENT_IDS, SESSIONS):
                await node.store.of(kind).remove_expired()


@pytest.fixture(scope="session")
def clocks_dsn(postgres_dsn: str) -> str:
    return asyncio.run(migrated_database(postgres_dsn, "two_clocks"))


@pytest.fixture
async def two(clocks_dsn: str) -> AsyncIterator[Two]:
    elapsed = Elapsed()
    async with AsyncExitStack() as stack:
        nodes = []
        for skew in (timedelta(), timedelta(hours=1)):
            pool = await stack.enter_async_context(open_pool(clocks_dsn, 2))
            database = PooledDatabase(pool)
            clock = DatabaseClock(Skewed(skew), monotonic=elapsed)
            await stack.enter_async_context(following(clock, database))
            nodes.append(Node(PostgresRecordStore(database, clock), clock))
        right, fast = nodes
        yield Two(right, fast, elapsed, Tenants("https://id.example.com", TenantId("default")).default)


async def test_an_id_that_one_node_spent_is_spent_at_the_other_until_it_expires(two: Two) -> None:
    until = two.right.clock.now() + timedelta(minutes=10)
    assert await SingleUse(two.right.store).spend(two.tenant, "DPoP proof", "jti", until=until)

    await two.upkeep()

    for node in (two.right, two.fast):
        assert not await SingleUse(node.store).spend(two.tenant, "DPoP proof", "jti", until=until)
    two.elapsed.seconds += 601
    assert await SingleUse(two.fast.store).spend(two.tenant, "DPoP proof", "jti", until=until)


async def test_a_token_that_one_node_revoked_is_revoked_at_the_other(two: Two) -> None:
    until = two.right.clock.now() + timedelta(minutes=30)
    await RevokedTokens(two.right.store, DirectoryVersion(two.right.store)).add(
        two.tenant, "revoked", until=until
    )

    await two.upkeep()

    assert await RevokedTokens(two.fast.store, DirectoryVersion(two.fast.store)).has(two.tenant, "revoked")


async def test_a_session_ends_at_the_same_time_at_both_nodes(two: Two) -> None:
    cookie, _ = await two.fast.sessions.sign_in(
        two.tenant, None, UserId("ada"), amr=("pwd",), acr="urn:example:pwd", peer_address=ADDRESS
    )

    two.elapsed.seconds += 299
    await two.upkeep()
    before = [await two.right.sessions.is_signed_in(two.tenant, sid) for sid in await sids(two)]
    found_before = await two.right.sessions.find(two.tenant, cookie, ADDRESS)
    two.elapsed.seconds += 302
    after = [await node.sessions.find(two.tenant, cookie, ADDRESS) for node in (two.right, two.fast)]

    assert (before, found_before is not None) == ([True], True)
    assert after == [None, None]


async def sids(two: Two) -> list[str]:
    return [session.sid for session in await two.right.store.of(SESSIONS).page(two.tenant.tenant_id)]
