"""Room in quotas: what all partitions use and reserve never exceeds a quota, and nothing below it is refused."""

import asyncio
from collections import Counter

import asyncpg

from server.platform.errors import Unavailable
from server.platform.postgres.pooled import PooledDatabase
from server.store.ports import Batch, PartitionId
from server.store.postgres.leases import Lease
from server.store.postgres.reservations import Reservations
from tests.server.store.postgres.ledgers import PARTITION, ledger_of, taken
from tests.server.store.rows import TENANT

OTHER, THIRD = PartitionId(2), PartitionId(3)


class LosesAnswers:
    """A database whose connection breaks after the statements that write."""

    def __init__(self, database: PooledDatabase) -> None:
        self._database = database
        self.breaks = False

    async def fetch(self, text: str, *arguments: object) -> list[asyncpg.Record]:
        found = await self._database.fetch(text, *arguments)
        if self.breaks and "INSERT" in text:
            raise Unavailable("the database does not answer")
        return found

    async def execute(self, text: str) -> str:
        return await self._database.execute(text)


async def test_what_is_active_in_all_partitions_counts(
    dsn: str, database: PooledDatabase, lease: Lease
) -> None:
    async with (
        ledger_of(dsn, lease, database) as first,
        ledger_of(dsn, await taken(database, OTHER), database) as second,
        ledger_of(dsn, await taken(database, THIRD), database) as third,
    ):
        await first.commit(Batch(active_instances=Counter({TENANT: 100}), last_key=lease.last_key))
        await second.commit(Batch(active_instances=Counter({TENANT: 5, "other": 1})))
        await second.commit(Batch(active_instances=Counter({TENANT: -2})))
        await third.commit(Batch(active_instances=Counter({TENANT: 4})))

        reserved = await first.reserve({TENANT: 10, "other": 2, "third": 1}, 110)

        assert reserved.granted == {TENANT: 3, "other": 2, "third": 1}


async def test_a_reservation_counts_until_its_commit_in_which_starts_take_its_place(
    dsn: str, database: PooledDatabase, lease: Lease
) -> None:
    async with (
        ledger_of(dsn, lease, database) as first,
        ledger_of(dsn, await taken(database, OTHER), database) as second,
    ):
        reserved = await first.reserve({TENANT: 2}, 3)
        before = await second.reserve({TENANT: 2}, 3)
        started = Batch(active_instances=Counter({TENANT: 1}), reservations=[*reserved.numbers])
        await first.commit(started)
        await second.commit(Batch(reservations=[*before.numbers]))

        after = await second.reserve({TENANT: 3}, 3)

        assert [each.granted[TENANT] for each in (reserved, before, after)] == [2, 1, 2]


async def test_a_tenant_at_its_quota_reserves_nothing(
    dsn: str, database: PooledDatabase, lease: Lease
) -> None:
    async with ledger_of(dsn, lease, database) as ledger:
        await ledger.commit(Batch(active_instances=Counter({TENANT: 5})))

        assert [(await ledger.reserve({TENANT: 1}, most)).granted for most in (4, 5)] == [{TENANT: 0}] * 2
        assert await database.fetch("SELECT FROM gnomon.quota_reservation") == []


async def test_reservations_at_once_never_exceed_the_quota(database: PooledDatabase, lease: Lease) -> None:
    others = [await taken(database, partition_id) for partition_id in (OTHER, THIRD)]
    owners = [Reservations(database, each.partition_id, each.epoch) for each in (lease, *others)]

    granted = [
        each.granted[TENANT]
        for each in await asyncio.gather(
            *(owners[number % 3].reserve({TENANT: 1}, 7) for number in range(30))
        )
    ]

    assert sorted(granted) == [0] * 23 + [1] * 7


async def test_reservations_of_an_owner_that_is_gone_count_no_more(
    database: PooledDatabase, lease: Lease
) -> None:
    gone = Reservations(database, lease.partition_id, lease.epoch)
    await gone.reserve({TENANT: 3}, 3)
    other = await taken(database, OTHER)
    here = Reservations(database, OTHER, other.epoch)
    before = await here.reserve({TENANT: 1}, 3)

    await taken(database, PARTITION)
    late = await gone.reserve({TENANT: 3}, 3)

    assert (before.granted, late.granted) == ({TENANT: 0}, {TENANT: 3})
    assert (await here.reserve({TENANT: 4}, 3)).granted == {TENANT: 3}


async def test_a_reservation_whose_outcome_is_open_is_settled_with_the_next(
    dsn: str, database: PooledDatabase, lease: Lease
) -> None:
    breaking = LosesAnswers(database)
    reservations = Reservations(breaking, lease.partition_id, lease.epoch)
    breaking.breaks = True
    try:
        await reservations.reserve({TENANT: 2}, 3)
    except Unavailable:
        breaking.breaks = False

    found = await reservations.reserve({TENANT: 3}, 3)
    async with ledger_of(dsn, lease, database) as ledger:
        await ledger.commit(Batch(reservations=[*found.numbers]))

    assert not breaking.breaks
    assert found.granted == {TENANT: 1}
    assert await database.fetch("SELECT FROM gnomon.quota_reservation") == []
