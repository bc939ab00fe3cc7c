"""Counts of rows that wait in the database."""

import asyncpg

from server.platform.postgres.pooled import PooledDatabase
from server.store.ports import PartitionId
from server.store.postgres.backlog import RETRY_QUEUES, Outbox, backlog
from server.store.postgres.leases import Leases

OURS, OTHER = PartitionId(1), PartitionId(2)


async def test_what_waits_for_the_partitions_of_a_node_is_counted(pool: asyncpg.Pool) -> None:
    database = PooledDatabase(pool)
    await Leases(database).take(OURS, "us", address="here:1", seconds=30)
    await Leases(database).take(OTHER, "them", address="there:1", seconds=30)
    rows = [(OURS, OTHER, 7), (OURS, OTHER, 8), (OTHER, OURS, 1)]
    await pool.executemany("INSERT INTO gnomon.outbox VALUES ($1, $2, $3, '')", rows)

    found = await backlog(database, "us")

    assert found.outboxes == (Outbox(OURS, OTHER, first=7, count=2),)
    assert list(found.lease_seconds) == [OURS]
    assert 0 < found.lease_seconds[OURS] <= 30


async def test_tasks_of_the_retry_queue_are_counted(pool: asyncpg.Pool) -> None:
    for name in RETRY_QUEUES:
        text = f"INSERT INTO identity.{name} (tenant_id, id, revision, content, due) VALUES ('t', $1, 1, '{{}}', $2)"  # noqa: S608  # names of ours
        await pool.executemany(text, [("one", "due"), ("two", "due"), ("over", None)])

    found = await backlog(PooledDatabase(pool), "us")

    assert found.retries == dict.fromkeys(RETRY_QUEUES, 2)
