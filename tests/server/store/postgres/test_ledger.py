"""A commit writes its batch, and nothing when its epoch or position is not the partition's."""

import asyncio
from collections import Counter

import pytest

from server.engine.keys import COUNTER_BITS, Key, first_key
from server.platform.errors import Unavailable
from server.platform.postgres.pooled import PooledDatabase
from server.store.entities import (
    Job,
    JobState,
    ProcessInstance,
    ProcessInstanceState,
)
from server.store.ports import (
    EVERY_OTHER_PARTITION,
    Batch,
    IncomingCommand,
    Insert,
    LeaseLost,
    OutgoingCommand,
    PartitionId,
    Update,
)
from server.store.postgres.history import History
from server.store.postgres.leases import Lease
from tests.server.store.postgres.ledgers import (
    PARTITION,
    answer,
    audit_entry,
    batch_of,
    contents,
    document_of,
    instance_keys,
    ledger_of,
    position,
    somebody_waits_for_a_lock,
    taken,
    until,
    whole,
)
from tests.server.store.rows import START, TENANT, element_instance, incident, job, process_instance, variable

OTHER = PartitionId(2)


async def begun(dsn: str, database: PooledDatabase) -> Lease:
    """The lease of a partition with what a full batch changes and removes."""
    first = await taken(database)
    async with (
        ledger_of(dsn, first, database) as ledger,
        ledger_of(dsn, await taken(database, OTHER), database) as other,
    ):
        await ledger.commit(
            Batch([Insert(process_instance(900))], documents={document_of(901): whole(b"old")})
        )
        await other.commit(Batch(outgoing=[OutgoingCommand(PARTITION, b"to do")]))
    return Lease(PARTITION, first.epoch, 1, first.last_key)


def full_batch() -> Batch:
    """Something for every table that a commit writes, and every way of writing."""
    return Batch(
        changes=[
            *map(Insert, (process_instance(1), element_instance(2, 1), job(3, 1))),
            *map(Insert, (variable(4, 1), incident(5, 1))),
            Update(ProcessInstance, Key(900), {"has_incident": True}),
        ],
        last_key=Key(5),
        documents={document_of(1): whole(b"one"), document_of(901): None},
        definitions={Key(7): b"order"},
        answers=[answer("k-1")],
        audit=[audit_entry(), audit_entry(actor_id="bob")],
        outgoing=[OutgoingCommand(OTHER, b"to one"), OutgoingCommand(EVERY_OTHER_PARTITION, b"to all")],
        taken=[IncomingCommand(OTHER, 1 << 12, b"")],
        active_instances=Counter({TENANT: 1}),
    )


async def test_everything_of_a_batch_is_there_after_its_commit(dsn: str, database: PooledDatabase) -> None:
    lease = await begun(dsn, database)

    async with ledger_of(dsn, lease, database) as ledger:
        await ledger.commit(full_batch())

    found = await contents(database)
    written = {name.partition(".")[2]: len(rows) for name, rows in found.items() if rows}
    once = ("element_instance", "job", "variable", "incident", "document", "definition_document")
    twice = ("process_instance", "audit_entry")
    assert written == {
        **dict.fromkeys((*once, "idempotency", "active_instances"), 1),
        **dict.fromkeys(twice, 2),
        **dict.fromkeys(("partition", "outbox"), 3),
    }
    changed = await database.fetch(
        "SELECT has_incident FROM runtime.process_instance ORDER BY process_instance_key"
    )
    assert [row[0] for row in changed] == [False, True]
    assert await position(database) == (lease.epoch, 2)


async def test_commands_keep_the_number_of_the_format_that_they_are_packed_in(
    dsn: str, database: PooledDatabase
) -> None:
    lease = await begun(dsn, database)
    sent = [OutgoingCommand(OTHER, b"to one", 2), OutgoingCommand(EVERY_OTHER_PARTITION, b"to all", 3)]

    async with ledger_of(dsn, lease, database) as ledger:
        await ledger.commit(Batch(outgoing=sent))

    async with ledger_of(dsn, await taken(database, OTHER), database) as receiver:
        found = await receiver.incoming({}, 10)
    assert [(each.command, each.format) for each in found] == [(b"to one", 2), (b"to all", 3)]


async def test_a_ledger_of_an_older_epoch_writes_nothing_at_all(dsn: str, database: PooledDatabase) -> None:
    lease = await begun(dsn, database)
    newer = await taken(database)
    before = await contents(database)

    async with ledger_of(dsn, lease, database) as ledger:
        with pytest.raises(LeaseLost):
            await ledger.commit(full_batch())

    assert before == await contents(database)
    assert await position(database) == (newer.epoch, 1)


@pytest.mark.parametrize("off", [-1, 1, 2])
async def test_a_ledger_that_is_not_where_the_partition_is_writes_nothing_at_all(
    dsn: str, database: PooledDatabase, off: int
) -> None:
    lease = await begun(dsn, database)
    elsewhere = Lease(PARTITION, lease.epoch, lease.position + off, lease.last_key)
    before = await contents(database)

    async with ledger_of(dsn, elsewhere, database) as ledger:
        with pytest.raises(LeaseLost):
            await ledger.commit(full_batch())

    assert before == await contents(database)


async def test_of_two_owners_the_later_one_commits_and_the_earlier_one_is_told(
    dsn: str, database: PooledDatabase, lease: Lease
) -> None:
    async with ledger_of(dsn, lease, database) as earlier:
        await earlier.commit(batch_of(1))
        newer = await taken(database)
        async with ledger_of(dsn, newer, database) as later:
            await later.commit(batch_of(2))

            with pytest.raises(LeaseLost):
                await earlier.commit(batch_of(3))
            await later.commit(batch_of(4))

    assert await instance_keys(database) == [1, 2, 4]
    assert (newer.epoch, newer.position) == (lease.epoch + 1, 1)


async def test_a_ledger_that_lost_its_lease_commits_no_more(
    dsn: str, database: PooledDatabase, lease: Lease
) -> None:
    await taken(database)
    async with ledger_of(dsn, lease, database) as ledger:
        for key in (1, 2):
            with pytest.raises(LeaseLost):
                await ledger.commit(batch_of(key))

    assert await instance_keys(database) == []


async def test_of_two_ledgers_of_one_lease_the_one_that_is_behind_is_told(
    dsn: str, database: PooledDatabase, lease: Lease
) -> None:
    async with ledger_of(dsn, lease, database) as ahead, ledger_of(dsn, lease, database) as behind:
        await ahead.commit(batch_of(1))

        with pytest.raises(LeaseLost):
            await behind.commit(batch_of(2))

    assert await instance_keys(database) == [1]


async def test_a_partition_that_is_not_there_is_a_lost_lease(dsn: str, database: PooledDatabase) -> None:
    nobodys = Lease(PartitionId(77), 1, 0, Key(0))

    async with ledger_of(dsn, nobodys, database) as ledger:
        with pytest.raises(LeaseLost):
            await ledger.commit(batch_of(1))


async def test_the_next_owner_goes_on_where_the_last_one_left_off(
    dsn: str, database: PooledDatabase, lease: Lease
) -> None:
    async with ledger_of(dsn, lease, database) as ledger:
        await ledger.commit(Batch(last_key=Key(first_key(PARTITION) + 9)))
        await ledger.commit(Batch())

    assert await taken(database) == Lease(PARTITION, 2, 2, Key(first_key(PARTITION) + 9))


@pytest.mark.parametrize(
    "faulty",
    [
        pytest.param(Insert(process_instance(1)), id="a key that is taken"),
        pytest.param(Insert(process_instance(2)), id="a key twice in one batch"),
        pytest.param(Insert(audit_entry()), id="an audit entry as a change"),
        pytest.param(Insert(process_instance(3, tenant_id=None)), id="nothing where something has to be"),
        pytest.param(
            Insert(process_instance(3, process_definition_version=1 << 70)), id="a number too large"
        ),
        pytest.param(Insert(process_instance(3, process_definition_version="many")), id="no number"),
        pytest.param(Update(ProcessInstance, Key(1), {"colour": "red"}), id="an unknown field"),
        pytest.param(Update(ProcessInstance, Key(1), {"process_instance_key": Key(9)}), id="another key"),
        pytest.param(Update(ProcessInstance, Key(1), {"state": None}), id="nothing where something was"),
    ],
)
async def test_a_batch_with_a_fault_changes_nothing_and_the_next_one_counts(
    dsn: str, database: PooledDatabase, lease: Lease, faulty: Insert | Update
) -> None:
    async with ledger_of(dsn, lease, database) as ledger:
        await ledger.commit(batch_of(1))
        batch = batch_of(2)
        batch.changes.append(faulty)

        with pytest.raises(Exception, match=r".") as raised:
            await ledger.commit(batch)

        assert not isinstance(raised.value, LeaseLost | Unavailable)
        assert await instance_keys(database) == [1]
        await ledger.commit(batch_of(3))
    assert await instance_keys(database) == [1, 3]


@pytest.mark.parametrize(("entries", "positions"), [(1, 1), (4096, 1), (4097, 2), (10_000, 3)])
async def test_a_batch_takes_a_position_for_each_stretch_of_its_audit_entries(
    dsn: str, database: PooledDatabase, lease: Lease, entries: int, positions: int
) -> None:
    async with ledger_of(dsn, lease, database) as ledger:
        await ledger.commit(Batch(audit=[audit_entry()] * entries))
        await ledger.commit(Batch(audit=[audit_entry()]))

    rows = await database.fetch("SELECT audit_entry_key FROM history.audit_entry ORDER BY 1")
    first = (PARTITION << COUNTER_BITS) + (1 << 12)
    assert [row[0] - first for row in rows] == [*range(entries), positions << 12]
    assert await position(database) == (lease.epoch, positions + 1)


async def test_a_change_of_a_row_that_moved_to_history_is_without_effect(
    dsn: str, database: PooledDatabase, lease: Lease
) -> None:
    end = {"state": ProcessInstanceState.COMPLETED, "end_date": START}
    async with ledger_of(dsn, lease, database) as ledger:
        await ledger.commit(Batch([Insert(process_instance(1)), Insert(job(2, 1))]))
        await ledger.commit(Batch([Update(ProcessInstance, Key(1), end)]))
        await History(database).move(PARTITION, [Key(1)])
        before = await contents(database)

        await ledger.commit(Batch([Update(Job, Key(2), {"state": JobState.FAILED})]))

    after = await contents(database)
    assert before["history.job"] == after["history.job"]
    assert after["runtime.job"] == []


async def test_a_commit_waits_for_whoever_holds_the_partitions_row(
    dsn: str, database: PooledDatabase, lease: Lease
) -> None:
    async with (
        ledger_of(dsn, lease, database) as ledger,
        asyncio.TaskGroup() as tasks,
        database.connection() as connection,
        connection.transaction(),
    ):
        await connection.execute("UPDATE gnomon.partition SET expires_at = now()")
        commit = tasks.create_task(ledger.commit(batch_of(1)))
        await until(lambda: somebody_waits_for_a_lock(database))

        assert not commit.done()

    assert await instance_keys(database) == [1]


async def test_after_a_commit_that_was_cancelled_the_lease_counts_as_lost(
    dsn: str, database: PooledDatabase, lease: Lease
) -> None:
    async with ledger_of(dsn, lease, database) as ledger:
        async with database.connection() as connection, connection.transaction():
            await connection.execute("UPDATE gnomon.partition SET expires_at = now()")
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.1):
                    await ledger.commit(batch_of(1))

        with pytest.raises(LeaseLost, match="not known"):
            await ledger.commit(batch_of(2))
