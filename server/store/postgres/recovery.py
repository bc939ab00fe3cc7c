"""Reads of a new partition owner before it serves."""

from collections.abc import AsyncIterator, Mapping, Sequence

from server.engine.keys import Key
from server.engine.pages import FIRST_FORMAT, HEAD_PAGE, DocumentId, Kind, StoredPage
from server.platform.postgres.database import Database
from server.store.ports import PartitionId

Packed = tuple[Key, bytes]
# The id of a document, the number of a page, and the page.
PackedPage = tuple[DocumentId, int, StoredPage]

CHUNK = 1000
# Small chunks, because each row has the content of a whole file.
DEFINITIONS_CHUNK = 100


async def definitions(
    database: Database, *, chunk: int = DEFINITIONS_CHUNK
) -> AsyncIterator[Sequence[Packed]]:
    """The definitions of all partitions by partition and key, `chunk` at a time."""
    text = """
        SELECT partition_id, process_definition_key, content FROM gnomon.definition_document
        WHERE (partition_id, process_definition_key) > ($1, $2)
        ORDER BY partition_id, process_definition_key LIMIT $3
    """
    partition_id, last = 0, 0
    while rows := await database.fetch(text, partition_id, last, chunk):
        yield [(Key(key), content) for _, key, content in rows]
        partition_id, last, _ = rows[-1]


async def documents(
    database: Database, partition_id: PartitionId, *, chunk: int = CHUNK
) -> AsyncIterator[Sequence[PackedPage]]:
    """Pages of all documents of a partition, `chunk` at a time: documents by kind and key, pages by number.

    Documents in the first format come first.
    """
    async for pages in _in_first_format(database, partition_id, chunk):
        yield pages
    text = """
        SELECT kind, key, page, format, content FROM gnomon.document
        WHERE partition_id = $1 AND (kind, key, page) > ($2, $3, $4)
        ORDER BY kind, key, page LIMIT $5
    """
    kind, key, number = 0, 0, 0
    while rows := await database.fetch(text, partition_id, kind, key, number, chunk):
        yield [(DocumentId(Kind(row[0]), Key(row[1])), row[2], StoredPage(row[3], row[4])) for row in rows]
        kind, key, number, *_ = rows[-1]


async def _in_first_format(
    database: Database, partition_id: PartitionId, chunk: int
) -> AsyncIterator[Sequence[PackedPage]]:
    text = """
        SELECT process_instance_key, content FROM gnomon.instance_document
        WHERE partition_id = $1 AND process_instance_key > $2
        ORDER BY process_instance_key LIMIT $3
    """
    last = Key(0)
    while rows := await database.fetch(text, partition_id, last, chunk):
        yield [
            (DocumentId(Kind.PROCESS_INSTANCE, Key(key)), HEAD_PAGE, StoredPage(FIRST_FORMAT, content))
            for key, content in rows
        ]
        last = rows[-1][0]


async def ended(database: Database, partition_id: PartitionId) -> Sequence[Key]:
    """Process instances that have ended and were not moved to history yet."""
    text = """
        SELECT process_instance_key FROM runtime.process_instance
        WHERE partition_id = $1 AND state <> 'ACTIVE' ORDER BY process_instance_key
    """
    return [Key(row[0]) for row in await database.fetch(text, partition_id)]


async def removed_tenants(database: Database, partition_id: PartitionId) -> Mapping[str, int]:
    """The tenants that the partition has marked as removed, with the numbers of their removals."""
    text = "SELECT tenant_id, number FROM gnomon.removed_tenant WHERE partition_id = $1"
    return {row["tenant_id"]: row["number"] for row in await database.fetch(text, partition_id)}


async def forget_reservations(database: Database, partition_id: PartitionId, epoch: int) -> None:
    """Delete the quota reservations of earlier owners, which are void."""
    text = "DELETE FROM gnomon.quota_reservation WHERE partition_id = $1 AND epoch < $2"
    await database.fetch(text, partition_id, epoch)


async def receivers(database: Database, partition_id: PartitionId) -> frozenset[PartitionId]:
    """The partitions that have not executed all commands of this one."""
    text = "SELECT DISTINCT target FROM gnomon.outbox WHERE source = $1"
    return frozenset(PartitionId(row[0]) for row in await database.fetch(text, partition_id))
