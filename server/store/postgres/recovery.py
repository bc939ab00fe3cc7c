"""What a new owner of a partition reads before it serves."""

from collections.abc import AsyncIterator, Sequence

from server.engine.keys import Key
from server.platform.postgres.database import Database
from server.store.ports import PartitionId

Packed = tuple[Key, bytes]

CHUNK = 4000


async def definitions(database: Database) -> Sequence[Packed]:
    """Deployed definitions of every partition by key."""
    text = """
        SELECT process_definition_key, content FROM gnomon.definition_document
        ORDER BY partition_id, process_definition_key
    """
    return [(Key(key), content) for key, content in await database.fetch(text)]


async def documents(
    database: Database, partition_id: PartitionId, *, chunk: int = CHUNK
) -> AsyncIterator[Sequence[Packed]]:
    """Live process instances of a partition by key, so many at a time."""
    text = """
        SELECT process_instance_key, content FROM gnomon.instance_document
        WHERE partition_id = $1 AND process_instance_key > $2
        ORDER BY process_instance_key LIMIT $3
    """
    last = Key(0)
    while rows := await database.fetch(text, partition_id, last, chunk):
        yield [(Key(key), content) for key, content in rows]
        last = rows[-1][0]


async def ended(database: Database, partition_id: PartitionId) -> Sequence[Key]:
    """Process instances that ended and whose move to history did not happen."""
    text = """
        SELECT process_instance_key FROM runtime.process_instance
        WHERE partition_id = $1 AND state <> 'ACTIVE' ORDER BY process_instance_key
    """
    return [Key(row[0]) for row in await database.fetch(text, partition_id)]
