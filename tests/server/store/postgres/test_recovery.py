"""What a new owner reads."""

from server.engine.keys import Key
from server.platform.postgres.pooled import PooledDatabase
from server.store.entities import ProcessInstanceState
from server.store.ports import Batch, Insert, PartitionId
from server.store.postgres.leases import Lease
from server.store.postgres.recovery import definitions, documents, ended
from tests.server.store.postgres.ledgers import PARTITION, ledger_of, taken
from tests.server.store.rows import process_instance

OTHER = PartitionId(2)


async def test_definitions_of_every_partition_come_by_their_keys(
    dsn: str, database: PooledDatabase, lease: Lease
) -> None:
    other = await taken(database, OTHER)
    keys = [Key(lease.last_key + 1), Key(lease.last_key + 2), Key(other.last_key + 1)]
    async with ledger_of(dsn, lease, database) as ledger, ledger_of(dsn, other, database) as others:
        await others.commit(Batch(definitions={keys[2]: b"c"}))
        await ledger.commit(Batch(definitions={keys[1]: b"b", keys[0]: b"a"}))

    assert await definitions(database) == list(zip(keys, (b"a", b"b", b"c"), strict=True))


async def test_documents_of_a_partition_come_by_their_keys_in_chunks(
    dsn: str, database: PooledDatabase, lease: Lease
) -> None:
    async with (
        ledger_of(dsn, lease, database) as ledger,
        ledger_of(dsn, await taken(database, OTHER), database) as others,
    ):
        await ledger.commit(Batch(documents={Key(key): b"%d" % key for key in (5, 3, 9, 1, 7)}))
        await ledger.commit(Batch(documents={Key(9): None, Key(1): b"1 again"}))
        await others.commit(Batch(documents={Key(2): b"2"}))

    chunks = [chunk async for chunk in documents(database, PARTITION, chunk=3)]

    assert chunks == [[(1, b"1 again"), (3, b"3"), (5, b"5")], [(7, b"7")]]


async def test_a_partition_without_documents_has_no_chunk(database: PooledDatabase) -> None:
    assert [chunk async for chunk in documents(database, PARTITION)] == []


async def test_instances_that_ended_and_were_not_moved_are_found(
    dsn: str, database: PooledDatabase, lease: Lease
) -> None:
    rows = [
        process_instance(1),
        process_instance(3, state=ProcessInstanceState.TERMINATED),
        process_instance(2, state=ProcessInstanceState.COMPLETED),
    ]
    async with (
        ledger_of(dsn, lease, database) as ledger,
        ledger_of(dsn, await taken(database, OTHER), database) as others,
    ):
        await ledger.commit(Batch(list(map(Insert, rows))))
        await others.commit(Batch([Insert(process_instance(4, state=ProcessInstanceState.COMPLETED))]))

    assert await ended(database, PARTITION) == [2, 3]
