"""Ledgers for tests, and what a database holds after them."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from importlib.resources import files
from itertools import count

from server.engine.documents import FORMAT
from server.engine.keys import Key
from server.engine.pages import HEAD_PAGE, DocumentId, Kind, StoredPage
from server.platform.errors import Unavailable
from server.platform.postgres.database import Database
from server.store.entities import AuditEntry, AuditResult
from server.store.ports import Batch, Insert, PartitionId, StoredAnswer
from server.store.postgres.leases import Lease, Leases
from server.store.postgres.ledger import PostgresLedger
from tests.server.store.rows import START, TENANT, process_instance

MIGRATIONS = files("server.store.postgres") / "migrations"
PARTITION = PartitionId(1)
PARTITIONS = 3
# Longer than any test; a statement is given up much earlier where that is what is tested.
SECONDS = 60.0
POLL_SECONDS = 0.01


async def taken(database: Database, partition_id: PartitionId = PARTITION) -> Lease:
    """The lease of a partition, whoever has it."""
    await database.fetch("UPDATE gnomon.partition SET owner = NULL WHERE partition_id = $1", partition_id)
    return await next_lease(database, partition_id)


async def next_lease(database: Database, partition_id: PartitionId = PARTITION) -> Lease:
    """The lease of a partition as soon as it is free and no commit of a former owner is under way."""
    leases: list[Lease] = []

    async def is_taken() -> bool:
        lease = await Leases(database).take(partition_id, "node-1", address="", seconds=SECONDS)
        leases.extend([lease] if lease else [])
        return bool(leases)

    await until(is_taken)
    return leases[0]


def ledger_of(dsn: str, lease: Lease, database: Database, *, seconds: float = SECONDS) -> PostgresLedger:
    return PostgresLedger(dsn, lease, database=database, statement_seconds=seconds)


def audit_entry(**values: object) -> AuditEntry:
    fields: dict[str, object] = {
        "tenant_id": TENANT,
        "timestamp": START,
        "operation_type": "CREATE",
        "result": AuditResult.SUCCESS,
        "actor_type": "CLIENT",
        "actor_id": "alice",
        "entity_type": "PROCESS_INSTANCE",
    }
    return AuditEntry(**(fields | values))


def answer(key: str, content: bytes = b"answer", tenant_id: str = TENANT) -> StoredAnswer:
    return StoredAnswer(tenant_id, key, b"hash", content, START)


def document_of(key: int) -> DocumentId:
    return DocumentId(Kind.PROCESS_INSTANCE, Key(key))


def whole(content: bytes) -> dict[int, StoredPage | None]:
    """The pages of a document that is one page."""
    return {HEAD_PAGE: StoredPage(FORMAT, content)}


def batch_of(*keys: int) -> Batch:
    """New process instances, each with a document and one more that is active."""
    batch = Batch([Insert(process_instance(key)) for key in keys], last_key=Key(max(keys)))
    batch.documents = {document_of(key): whole(b"%d" % key) for key in keys}
    batch.active_instances["acme"] = len(keys)
    return batch


async def instance_keys(database: Database, after: int = 0) -> Sequence[int]:
    """Of the process instances that are there, which have to be as many as are counted and have a document."""
    found = await database.fetch("SELECT process_instance_key FROM runtime.process_instance ORDER BY 1")
    documents = await database.fetch("SELECT key FROM gnomon.stored_page ORDER BY 1")
    counted = await database.fetch("SELECT coalesce(sum(count), 0) FROM gnomon.active_instances")
    assert [row[0] for row in found] == [row[0] for row in documents]
    assert len(found) == counted[0][0]
    return [row[0] for row in found if row[0] > after]


async def position(database: Database) -> tuple[int, int]:
    """Epoch and position of the partition."""
    text = "SELECT epoch, position FROM gnomon.partition WHERE partition_id = $1"
    found = await database.fetch(text, PARTITION)
    return found[0][0], found[0][1]


async def has_reached(database: Database, number: int) -> bool:
    """Whether the partition has come to this position, as far as one can tell."""
    try:
        return (await position(database))[1] >= number
    except Unavailable:
        return False


async def contents(database: Database) -> dict[str, Sequence[tuple[object, ...]]]:
    """All rows of all tables but those about nodes."""
    tables = await database.fetch("""
        SELECT table_schema, table_name FROM information_schema.tables
        WHERE table_schema IN ('gnomon', 'runtime') AND table_type = 'BASE TABLE' AND table_name NOT IN ('node', 'cluster_format')
        UNION SELECT 'history', relname FROM pg_class
        WHERE relnamespace = 'history'::regnamespace AND relkind = 'p'
    """)
    names = sorted(f"{schema}.{table}" for schema, table in tables)
    rows = {name: await database.fetch(f"SELECT t.* FROM {name} AS t ORDER BY t::text") for name in names}  # noqa: S608
    return {name: list(map(tuple, found)) for name, found in rows.items()}


async def somebody_waits_for_a_lock(database: Database) -> bool:
    text = "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
    return bool(await database.fetch(text))


async def until(holds: Callable[[], Awaitable[bool]]) -> None:
    """Return when it does; raises TimeoutError when it does not for long."""
    async with asyncio.timeout(SECONDS):
        for _ in count():
            if await holds():
                return
            await asyncio.sleep(POLL_SECONDS)
