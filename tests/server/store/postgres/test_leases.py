"""Leases of partitions, by the database's clock."""

import asyncio

import asyncpg
import pytest

from server.engine.keys import Key, first_key
from server.platform.postgres.pooled import PooledDatabase
from server.store.ports import PartitionId
from server.store.postgres.leases import FormatRow, Lease, LeaseHolder, Leases, NodeFormats, Survey
from tests.server.store.postgres.ledgers import PARTITIONS, somebody_waits_for_a_lock, until

FIRST, SECOND, THIRD = (PartitionId(number) for number in (1, 2, 3))
LONG = 600.0
OVER = -1.0


class Counted:
    """A database that counts statements."""

    def __init__(self, database: PooledDatabase) -> None:
        self._database = database
        self.statements = 0

    async def fetch(self, text: str, *arguments: object) -> list[asyncpg.Record]:
        self.statements += 1
        return await self._database.fetch(text, *arguments)

    async def execute(self, text: str) -> str:
        self.statements += 1
        return await self._database.execute(text)


@pytest.fixture
def leases(database: PooledDatabase) -> Leases:
    return Leases(database)


async def take(
    leases: Leases, node: str, partition_id: PartitionId = FIRST, seconds: float = LONG
) -> Lease | None:
    return await leases.take(partition_id, node, address=f"{node}:1", seconds=seconds)


async def test_partitions_begin_before_their_first_key(leases: Leases) -> None:
    taken = await take(leases, "a", SECOND)

    assert taken == Lease(SECOND, epoch=1, position=0, last_key=first_key(SECOND))


async def test_missing_partitions_are_added_and_none_is_taken_away(leases: Leases) -> None:
    await take(leases, "a", THIRD)

    await asyncio.gather(*(leases.create_partitions(count) for count in (PARTITIONS + 2, PARTITIONS + 1, 1)))

    found = [(holding.partition_id, holding.owner) for holding in await leases.holdings()]
    assert found == [(1, None), (2, None), (3, "a"), (4, None), (5, None)]


@pytest.mark.parametrize("count", [0, -1, 4096])
async def test_there_are_as_many_partitions_as_keys_can_tell_apart(leases: Leases, count: int) -> None:
    with pytest.raises(ValueError, match="expected 1 to 4095 partitions"):
        await leases.create_partitions(count)


async def test_a_partition_that_somebody_has_is_not_taken(leases: Leases) -> None:
    await take(leases, "a")

    assert await take(leases, "b") is None
    assert await take(leases, "a") is None


async def test_a_lease_that_expired_is_taken_in_a_new_epoch(leases: Leases) -> None:
    await take(leases, "a", seconds=OVER)

    assert await take(leases, "b") == Lease(FIRST, epoch=2, position=0, last_key=first_key(FIRST))


async def test_a_partition_that_is_not_there_is_not_taken(leases: Leases) -> None:
    assert await take(leases, "a", PartitionId(77)) is None


async def test_of_many_that_take_a_partition_at_once_one_has_it(leases: Leases) -> None:
    taken = await asyncio.gather(*(take(leases, f"node-{number}") for number in range(8)))

    assert [lease.epoch for lease in taken if lease] == [1]


async def test_a_partition_with_a_commit_under_way_is_not_taken(leases: Leases, pool: asyncpg.Pool) -> None:
    await take(leases, "a", seconds=OVER)
    async with pool.acquire() as committing, committing.transaction():
        await committing.execute("UPDATE gnomon.partition SET position = position WHERE partition_id = 1")

        assert await take(leases, "b") is None

    assert await take(leases, "b")


async def test_a_lease_lives_while_a_commit_is_under_way_as_long_as_its_node(
    leases: Leases, pool: asyncpg.Pool
) -> None:
    for partition_id in (FIRST, SECOND):
        await take(leases, "a", partition_id, seconds=OVER)
    await leases.beat("a", "a:1", seconds=LONG)
    async with pool.acquire() as committing, committing.transaction():
        await committing.execute("UPDATE gnomon.partition SET position = position WHERE partition_id = 1")

        renewed = await leases.renew("a", {FIRST: 1, SECOND: 1}, seconds=LONG)

        assert renewed == {FIRST, SECOND}
        assert [holding.is_live for holding in await leases.holdings()] == [True, True, False]
        await leases.beat("a", "a:1", seconds=OVER)
        assert [holding.is_live for holding in await leases.holdings()] == [False, True, False]


async def test_a_partition_of_a_node_that_lives_is_not_taken(leases: Leases) -> None:
    await take(leases, "a", seconds=OVER)
    await leases.beat("a", "a:1", seconds=LONG)

    assert await take(leases, "b") is None
    await leases.leave("a")
    assert await take(leases, "b") is not None


async def test_a_renewal_waits_for_no_commit(leases: Leases, pool: asyncpg.Pool) -> None:
    await take(leases, "a", seconds=OVER)
    async with pool.acquire() as committing, committing.transaction():
        await committing.execute("UPDATE gnomon.partition SET position = position WHERE partition_id = 1")

        renewed = await leases.renew("a", {FIRST: 1}, seconds=LONG)

    assert renewed == {FIRST}


async def test_a_renewed_lease_lives_on(leases: Leases) -> None:
    await take(leases, "a", seconds=OVER)

    renewed = await leases.renew("a", {FIRST: 1}, seconds=LONG)

    assert renewed == {FIRST}
    assert await take(leases, "b") is None


async def test_leases_are_renewed_together_and_those_lost_are_told_by_their_absence(leases: Leases) -> None:
    for partition_id in (FIRST, SECOND, THIRD):
        await take(leases, "a", partition_id, seconds=OVER)
    await take(leases, "b", SECOND)
    released = Lease(THIRD, epoch=1, position=0, last_key=Key(0))
    await leases.release(released, "a")

    renewed = await leases.renew("a", {FIRST: 1, SECOND: 1, THIRD: 1, PartitionId(77): 1}, seconds=LONG)

    assert renewed == {FIRST}
    assert await leases.renew("a", {}, seconds=LONG) == frozenset()


async def test_a_released_partition_is_free_at_once(leases: Leases) -> None:
    lease = await take(leases, "a")
    assert lease is not None

    await leases.release(lease, "a")

    taken = await take(leases, "b")
    assert taken is not None
    assert taken.epoch == 2


async def test_what_was_taken_over_is_not_released_by_its_former_owner(leases: Leases) -> None:
    former = await take(leases, "a", seconds=OVER)
    assert former is not None
    await take(leases, "b")

    await leases.release(former, "a")

    assert [holding.owner for holding in await leases.holdings()] == ["b", None, None]


async def test_holdings_tell_who_has_what_and_whether_it_lasts(leases: Leases) -> None:
    await take(leases, "a", FIRST)
    await take(leases, "b", SECOND, seconds=OVER)

    assert await leases.holdings() == [
        LeaseHolder(FIRST, "a", "a:1", epoch=1, position=0, is_live=True),
        LeaseHolder(SECOND, "b", "b:1", epoch=1, position=0, is_live=False),
        LeaseHolder(THIRD, None, None, epoch=0, position=0, is_live=False),
    ]


async def test_nodes_live_for_as_long_as_they_said_last(leases: Leases) -> None:
    await leases.beat("a", "a:1", seconds=LONG)
    await leases.beat("b", "b:1", seconds=OVER)
    await leases.beat("c", "c:1", seconds=LONG)
    assert (await leases.survey("new")).other_nodes == 2
    assert (await leases.survey("a")).other_nodes == 1

    await leases.beat("b", "b:2", seconds=LONG)
    await leases.beat("a", "a:1", seconds=OVER)
    await leases.leave("c")
    await leases.leave("nobody")

    assert (await leases.survey("new")).other_nodes == 1


async def test_nodes_that_died_long_ago_are_forgotten(leases: Leases, database: PooledDatabase) -> None:
    await leases.beat("old", "old:1", seconds=-100_000.0)
    await leases.beat("recent", "recent:1", seconds=-3_600.0)

    await leases.beat("a", "a:1", seconds=LONG)

    found = await database.fetch("SELECT node_id FROM gnomon.node ORDER BY node_id")
    assert [row[0] for row in found] == ["a", "recent"]


async def test_a_lease_runs_out_by_itself(leases: Leases) -> None:
    await take(leases, "a", seconds=0.2)

    async def is_taken_by_another() -> bool:
        return await take(leases, "b") is not None

    assert not await is_taken_by_another()
    await until(is_taken_by_another)


async def cluster_format(leases: Leases) -> int:
    return (await leases.formats()).cluster


async def test_the_cluster_format_is_the_latest_that_all_live_nodes_read(leases: Leases) -> None:
    await leases.beat("a", "a:1", seconds=LONG, formats=NodeFormats(latest=3))
    await leases.beat("b", "b:1", seconds=LONG, formats=NodeFormats(latest=2))
    await leases.beat("dead", "c:1", seconds=OVER, formats=NodeFormats(latest=1))

    await leases.raise_format(5)

    assert await leases.formats() == FormatRow(2, lowest=2, laggard="b")
    assert (await leases.survey("new")).formats == FormatRow(2, lowest=2, laggard="b")
    await leases.leave("b")
    await leases.raise_format(5)
    assert await leases.formats() == FormatRow(3, lowest=3, laggard="a")


async def test_a_node_of_a_version_without_numbers_keeps_the_first_format(
    leases: Leases, database: PooledDatabase
) -> None:
    await database.fetch("""
        INSERT INTO gnomon.node (node_id, address, started_at, expires_at)
        VALUES ('old', 'old:1', clock_timestamp(), clock_timestamp() + interval '1 hour')
    """)
    await leases.beat("a", "a:1", seconds=LONG, formats=NodeFormats(latest=2))

    await leases.raise_format(2)

    assert await leases.formats() == FormatRow(1, lowest=1, laggard="old")


async def test_the_cluster_format_never_falls(leases: Leases) -> None:
    await leases.raise_format(4)
    await leases.beat("old", "old:1", seconds=LONG, formats=NodeFormats(latest=1))

    await leases.raise_format(2)

    assert await leases.formats() == FormatRow(4, lowest=1, laggard="old")


async def test_nodes_that_raise_the_format_at_once_raise_it_to_the_highest(leases: Leases) -> None:
    await asyncio.gather(*(leases.raise_format(number) for number in (2, 5, 3, 4)))

    assert await cluster_format(leases) == 5


async def test_a_node_that_cannot_read_the_cluster_format_takes_no_partition(leases: Leases) -> None:
    await leases.raise_format(3)

    assert await leases.take(FIRST, "old", address="old:1", seconds=LONG, latest_format=2) is None
    assert await leases.take(FIRST, "new", address="new:1", seconds=LONG, latest_format=3) is not None


async def test_the_format_waits_for_a_node_that_is_taking_a_partition(
    leases: Leases, pool: asyncpg.Pool
) -> None:
    await leases.raise_format(1)
    async with pool.acquire() as taking, asyncio.TaskGroup() as tasks:
        async with taking.transaction():
            await taking.execute("SELECT FROM gnomon.cluster_format FOR SHARE")
            await taking.execute("""
                INSERT INTO gnomon.node (node_id, address, started_at, expires_at)
                VALUES ('old', 'old:1', clock_timestamp(), clock_timestamp() + interval '1 hour')
            """)
            raising = tasks.create_task(leases.raise_format(2))
            await until(lambda: somebody_waits_for_a_lock(PooledDatabase(pool)))

        await raising

    assert await cluster_format(leases) == 1


async def test_nodes_that_cannot_read_something_have_no_share(leases: Leases) -> None:
    await leases.raise_format(2)
    await leases.beat("a", "a:1", seconds=LONG, formats=NodeFormats(latest=2))
    await leases.beat("old", "b:1", seconds=LONG, formats=NodeFormats(latest=1))
    await leases.beat("blind", "c:1", seconds=LONG, formats=NodeFormats(latest=2, unreadable=1))

    assert (await leases.survey("new")).other_nodes == 1


async def test_a_node_finds_all_that_it_looks_at_in_one_statement(
    leases: Leases, database: PooledDatabase
) -> None:
    counted = Counted(database)
    await take(leases, "a", SECOND)
    await leases.beat("a", "a:1", seconds=LONG)

    survey = await Leases(counted).survey("new")

    assert counted.statements == 1
    assert survey == Survey(await leases.formats(), 1, await leases.holdings())


async def test_a_database_without_partitions_and_nodes_can_be_looked_at(
    leases: Leases, database: PooledDatabase
) -> None:
    await database.execute("DELETE FROM gnomon.partition")

    assert await leases.survey("new") == Survey(FormatRow(1), 0, [])
