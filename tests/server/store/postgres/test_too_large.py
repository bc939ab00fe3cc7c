"""A commit that the database gives up is not repeated, and an outage is told apart from it."""

import asyncio

import asyncpg
import pytest

from server.platform.postgres.pooled import PooledDatabase
from server.store.ports import BatchRefused
from server.store.postgres.leases import Lease, Leases
from server.store.postgres.ledger import FailedCommit, PostgresLedger
from tests.server.store.postgres.ledgers import PARTITION, batch_of, instance_keys, position, until
from tests.server.store.postgres.proxy import Cut, Way, proxied

SHORT_SECONDS = 0.5
# Every attempt counts, also one that is rolled back. An instance with this key is never written in time.
SLOW = 7
SLOW_TABLE = f"""
    CREATE SEQUENCE attempts;
    CREATE FUNCTION slowly() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        PERFORM nextval('attempts'), pg_sleep(600);
        RETURN NEW;
    END $$;
    CREATE TRIGGER slowly BEFORE INSERT ON runtime.process_instance FOR EACH ROW
    WHEN (NEW.process_instance_key = {SLOW}) EXECUTE FUNCTION slowly();
"""


class Reported:
    """A ledger whose statements have half a second, and the failures that it reported."""

    def __init__(self, dsn: str, lease: Lease, database: PooledDatabase, lease_seconds: float = 0.0) -> None:
        self.failures: list[FailedCommit] = []
        self.ledger = PostgresLedger(
            dsn,
            lease,
            database=database,
            statement_seconds=SHORT_SECONDS,
            lease_seconds=lease_seconds,
            failed=self.failures.append,
        )


async def test_a_statement_that_takes_too_long_is_refused_after_one_attempt(
    dsn: str, database: PooledDatabase, lease: Lease
) -> None:
    await database.execute(SLOW_TABLE)
    reported = Reported(dsn, lease, database)
    async with reported.ledger as ledger:
        await ledger.commit(batch_of(1))
        with pytest.raises(BatchRefused, match=r"gave up the commit after 0.5 s"):
            await ledger.commit(batch_of(SLOW))
        await ledger.commit(batch_of(8))

    (attempts,) = await database.fetch("SELECT last_value FROM attempts")
    assert attempts[0] == 1
    assert reported.failures == [FailedCommit.TOO_LARGE]
    assert await instance_keys(database) == [1, 8]
    assert await position(database) == (lease.epoch, 2)


async def test_a_lost_connection_is_an_outage_and_its_commit_is_repeated(
    dsn: str, database: PooledDatabase, lease: Lease
) -> None:
    async with proxied(dsn) as (proxy, through):
        reported = Reported(through, lease, database)
        async with reported.ledger as ledger:
            await ledger.commit(batch_of(1))
            proxy.cut(Cut(Way.TO_SERVER, 10))

            await ledger.commit(batch_of(2))

    assert set(reported.failures) == {FailedCommit.OUTAGE}
    assert await instance_keys(database) == [1, 2]


async def test_a_statement_that_waits_for_a_lock_is_repeated(
    dsn: str, pool: asyncpg.Pool, database: PooledDatabase, lease: Lease
) -> None:
    reported = Reported(dsn, lease, database)

    async def has_failed() -> bool:
        return bool(reported.failures)

    async with reported.ledger as ledger, asyncio.TaskGroup() as tasks, pool.acquire() as other:
        locking = other.transaction()
        await locking.start()
        await other.execute("LOCK TABLE runtime.process_instance IN ACCESS EXCLUSIVE MODE")
        tasks.create_task(ledger.commit(batch_of(1)))
        await until(has_failed)
        await locking.rollback()

    assert set(reported.failures) == {FailedCommit.OUTAGE}
    assert await instance_keys(database) == [1]


async def test_a_commit_prolongs_the_lease(dsn: str, database: PooledDatabase, lease: Lease) -> None:
    await database.execute("UPDATE gnomon.partition SET expires_at = clock_timestamp() - interval '1 hour'")
    async with Reported(dsn, lease, database, lease_seconds=600.0).ledger as ledger:
        await ledger.commit(batch_of(1))

    holdings = await Leases(database).holdings()
    assert [holding.partition_id for holding in holdings if holding.is_live] == [PARTITION]
