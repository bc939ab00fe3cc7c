"""Commits whose outcome is open for a while: each counts once, and is acknowledged."""

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from server.platform.postgres.pool import open_pool
from server.platform.postgres.pooled import PooledDatabase
from server.store.ports import Batch
from server.store.postgres.leases import Lease
from tests.server.store.postgres.ledgers import (
    SECONDS,
    audit_entry,
    batch_of,
    instance_keys,
    ledger_of,
    position,
    taken,
)
from tests.server.store.postgres.proxy import Cut, Way, proxied

# More bytes than the statement of a commit and its answer have, and those that a new connection exchanges.
MOST_BYTES = {Way.TO_SERVER: 6_000, Way.TO_CLIENT: 2_000}

cuts = st.sampled_from(Way).flatmap(lambda way: st.builds(Cut, st.just(way), st.integers(1, MOST_BYTES[way])))


@given(st.lists(st.none() | cuts, min_size=1, max_size=8))
async def test_a_commit_whose_connection_is_cut_at_any_byte_counts_once_and_is_acknowledged(
    shared_dsn: str, plan: list[Cut | None]
) -> None:
    async with open_pool(shared_dsn, 1) as pool, proxied(shared_dsn) as (proxy, through):
        database = PooledDatabase(pool)
        lease = await taken(database)
        keys = range(lease.last_key + 1, lease.last_key + len(plan) + 1)
        async with asyncio.timeout(SECONDS), ledger_of(through, lease, database) as ledger:
            for key, cut in zip(keys, plan, strict=True):
                if cut is not None:
                    proxy.cut(cut)
                await ledger.commit(batch_of(key))

        assert await instance_keys(database, after=lease.last_key) == list(keys)
        assert await position(database) == (lease.epoch, lease.position + len(plan))


async def test_a_large_commit_that_the_server_finished_is_not_sent_again(
    dsn: str, database: PooledDatabase, lease: Lease
) -> None:
    async with proxied(dsn) as (proxy, through), ledger_of(through, lease, database) as ledger:
        await ledger.commit(batch_of(1))
        proxy.cut(Cut(Way.TO_CLIENT, 0))

        await ledger.commit(Batch(audit=[audit_entry()] * 5_000))
        await ledger.commit(batch_of(2))

    rows = await database.fetch("SELECT count(*) FROM history.audit_entry")
    assert rows[0][0] == 5_000
    assert await position(database) == (lease.epoch, 4)


async def test_a_commit_that_the_server_finished_is_not_sent_again(
    dsn: str, database: PooledDatabase, lease: Lease
) -> None:
    async with proxied(dsn) as (proxy, through), ledger_of(through, lease, database) as ledger:
        await ledger.commit(batch_of(1))
        proxy.cut(Cut(Way.TO_CLIENT, 0))

        await ledger.commit(batch_of(2))

    assert await instance_keys(database) == [1, 2]
    assert await position(database) == (lease.epoch, 2)
