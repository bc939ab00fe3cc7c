"""Documents that older versions wrote are read after the schema has changed."""

from pathlib import Path
from shutil import copy

import asyncpg

from server.engine.documents import unpack
from server.engine.keys import Key
from server.engine.pages import DocumentId, Kind
from server.platform.postgres.migrations import migrate
from server.platform.postgres.pool import open_pool
from server.platform.postgres.pooled import PooledDatabase
from server.store.postgres.leases import Lease
from server.store.postgres.recovery import documents
from tests.server.engine.first_format import FIRST_FORMAT, KEY
from tests.server.store.postgres.ledgers import MIGRATIONS, PARTITION, ledger_of

BEFORE = 27


def files_before(folder: Path) -> Path:
    for file in sorted(Path(str(MIGRATIONS)).glob("*.sql"))[:BEFORE]:
        copy(file, folder)
    return folder


async def fill(dsn: str, instances: int) -> None:
    """As the first version wrote them."""
    connection = await asyncpg.connect(dsn)
    try:
        await connection.execute(
            """
            INSERT INTO gnomon.instance_document (partition_id, process_instance_key, content)
            SELECT $1, $2 + number, $3 FROM generate_series(0, $4::bigint - 1) AS number
            """,
            PARTITION,
            KEY,
            FIRST_FORMAT,
            instances,
        )
    finally:
        await connection.close()


async def test_documents_of_the_first_version_are_there_after_the_migration(
    empty_dsn: str, tmp_path: Path
) -> None:
    await migrate(empty_dsn, files_before(tmp_path))
    await fill(empty_dsn, 5_000)

    done = await migrate(empty_dsn, MIGRATIONS)

    document = DocumentId(Kind.PROCESS_INSTANCE, KEY)
    async with open_pool(empty_dsn, 1) as pool:
        database = PooledDatabase(pool)
        lease = Lease(PARTITION, epoch=1, position=0, last_key=KEY)
        async with ledger_of(empty_dsn, lease, database) as ledger:
            found = await ledger.documents([document])
        read = [page async for chunk in documents(database, PARTITION) for page in chunk]
    assert done[0] == BEFORE + 1
    assert unpack(found[document]).head.key == KEY
    assert [(each.key, number, page.format) for each, number, page in read] == [
        (Key(KEY + offset), 0, 1) for offset in range(5_000)
    ]
