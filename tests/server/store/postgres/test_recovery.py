"""Reads of a new owner."""

from itertools import chain

import pytest

from server.engine.keys import Key
from server.engine.pages import StoredPage
from server.platform.postgres.pooled import PooledDatabase
from server.store.entities import ProcessInstanceState
from server.store.ports import EVERY_OTHER_PARTITION, Batch, Insert, OutgoingCommand, PartitionId
from server.store.postgres.leases import Lease
from server.store.postgres.recovery import definitions, documents, ended, receivers
from tests.server.store.postgres.ledgers import PARTITION, document_of, ledger_of, taken, whole
from tests.server.store.rows import process_instance

OTHER = PartitionId(2)


@pytest.mark.parametrize("chunk", [1, 2, 100])
async def test_definitions_of_every_partition_come_by_their_keys_in_chunks(
    dsn: str, database: PooledDatabase, lease: Lease, chunk: int
) -> None:
    other = await taken(database, OTHER)
    keys = [Key(lease.last_key + 1), Key(lease.last_key + 2), Key(other.last_key + 1)]
    async with ledger_of(dsn, lease, database) as ledger, ledger_of(dsn, other, database) as others:
        await others.commit(Batch(definitions={keys[2]: b"c"}))
        await ledger.commit(Batch(definitions={keys[1]: b"b", keys[0]: b"a"}))

    chunks = [list(found) async for found in definitions(database, chunk=chunk)]
    assert max(map(len, chunks)) <= chunk
    assert list(chain.from_iterable(chunks)) == list(zip(keys, (b"a", b"b", b"c"), strict=True))


async def test_pages_of_a_partition_come_by_document_and_number_in_chunks(
    dsn: str, database: PooledDatabase, lease: Lease
) -> None:
    async with (
        ledger_of(dsn, lease, database) as ledger,
        ledger_of(dsn, await taken(database, OTHER), database) as others,
    ):
        await ledger.commit(Batch(documents={document_of(key): whole(b"%d" % key) for key in (5, 3, 9, 1)}))
        pages = {number: StoredPage(2, b"3, %d" % number) for number in (7, 2)}
        await ledger.commit(
            Batch(documents={document_of(9): None, document_of(1): whole(b"1 again"), document_of(3): pages})
        )
        await others.commit(Batch(documents={document_of(2): whole(b"2")}))

    chunks = [chunk async for chunk in documents(database, PARTITION, chunk=3)]

    assert [[(document, number, page.content) for document, number, page in chunk] for chunk in chunks] == [
        [(document_of(1), 0, b"1 again"), (document_of(3), 0, b"3"), (document_of(3), 2, b"3, 2")],
        [(document_of(3), 7, b"3, 7"), (document_of(5), 0, b"5")],
    ]


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


async def test_receivers_are_those_that_have_not_carried_out_everything(
    dsn: str, database: PooledDatabase, lease: Lease
) -> None:
    async with (
        ledger_of(dsn, lease, database) as ledger,
        ledger_of(dsn, await taken(database, OTHER), database) as others,
    ):
        await ledger.commit(Batch(outgoing=[OutgoingCommand(EVERY_OTHER_PARTITION, b"all")]))
        await others.commit(Batch(outgoing=[OutgoingCommand(PARTITION, b"one")]))
        before = await receivers(database, PARTITION)
        await others.commit(Batch(taken=list(await others.incoming({}, 10))))

        after = await receivers(database, PARTITION)

    assert (before, after) == ({2, 3}, {3})
