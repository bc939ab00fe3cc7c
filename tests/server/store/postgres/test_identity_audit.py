"""A change of identity and its entry in the audit log are one: both are there, or neither."""

import asyncio
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import asyncpg
import pytest

from server.platform.audit import AuditNote
from server.platform.call import TenantId
from server.platform.clock import VirtualClock
from server.platform.errors import Unavailable
from server.platform.postgres.pool import open_pool
from server.platform.postgres.pooled import PooledDatabase
from server.platform.query import Page, Window, equals
from server.platform.records import REMOVALS, AlreadyThere, Changed, Guard, Kind, Record, Records, Removal
from server.platform.records.postgres import PostgresRecordStore
from server.store.entities import AuditEntry, AuditResult
from server.store.ports import Batch
from server.store.postgres.identity_audit import IdentityAudit
from server.store.postgres.leases import Lease
from server.store.postgres.reads import PostgresStore
from server.store.searchables import AUDIT_ENTRIES
from tests.server.store.postgres.ledgers import audit_entry, ledger_of
from tests.server.store.rows import TENANT

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)
TENANT_ID = TenantId(TENANT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule(Record):
    name: str


RULES = Kind(Rule, "mapping_rule", owners=())


def rule(name: str = "Rule", record_id: str = "r") -> Rule:
    return Rule(tenant_id=TENANT_ID, id=record_id, name=name)


def note(**values: object) -> AuditNote:
    fields: dict[str, object] = {
        "tenant_id": TENANT_ID,
        "timestamp": NOON,
        "operation_type": "CREATE",
        "actor_type": "USER",
        "actor_id": "alice",
        "entity_type": "MAPPING_RULE",
        "entity_id": "r",
        "related_entity_type": None,
        "related_entity_id": None,
        "request_id": "r-1",
    }
    return AuditNote(**(fields | values))  # type: ignore[arg-type]  # by their names


class Directory:
    """Records whose changes are audited, and the audit log as searches see it."""

    def __init__(self, pool: asyncpg.Pool, *, is_open: bool = True) -> None:
        database = PooledDatabase(pool)
        self.audit = IdentityAudit(database, lambda: is_open)
        self.store = PostgresRecordStore(database, VirtualClock(pinned=NOON), self.audit)
        self.rules: Records[Rule] = self.store.of(RULES)
        self._reads = PostgresStore(pool)

    async def log(self, *, limit: int = 500, tenant_id: str = TENANT, **fields: str) -> Page[AuditEntry]:
        conditions = [equals(AUDIT_ENTRIES, name, value) for name, value in fields.items()]
        query = AUDIT_ENTRIES.query(*conditions, window=Window(limit=limit))
        return await self._reads.search(AuditEntry, query, tenant_id=tenant_id)


@pytest.fixture
def directory(pool: asyncpg.Pool) -> Directory:
    return Directory(pool)


async def test_an_audited_end_of_an_owner_leaves_its_removal(directory: Directory) -> None:
    await directory.rules.insert(rule())
    removal = Removal(
        tenant_id=TENANT_ID, id="end", kind="mapping_rule", owner_id="r", removed_at=NOON, next_at=NOON
    )

    await directory.rules.take(TENANT_ID, "r", note=note(operation_type="DELETE"), removal=removal)

    assert [replace(removal, revision=1)] == await directory.store.of(REMOVALS).page(TENANT_ID)
    assert [entry.operation_type for entry in (await directory.log()).items] == ["DELETE"]


async def test_an_entry_says_who_did_what_to_what_and_when(directory: Directory) -> None:
    assigned = note(
        operation_type="ASSIGN",
        entity_type="ROLE",
        entity_id="clerk",
        related_entity_type="GROUP",
        related_entity_id="staff",
    )

    await directory.rules.insert(rule(), note=assigned)

    (entry,) = (await directory.log()).items
    assert entry == AuditEntry(
        audit_entry_key=entry.audit_entry_key,
        tenant_id=TENANT,
        timestamp=NOON,
        operation_type="ASSIGN",
        result=AuditResult.SUCCESS,
        actor_type="USER",
        actor_id="alice",
        entity_type="ROLE",
        entity_id="clerk",
        related_entity_type="GROUP",
        related_entity_id="staff",
        request_id="r-1",
    )
    assert entry.audit_entry_key > 0


async def test_every_kind_of_change_leaves_an_entry(directory: Directory) -> None:
    kept = await directory.rules.insert(rule(), note=note())
    await directory.rules.replace(replace(kept, name="New"), note=note(operation_type="UPDATE"))
    await directory.rules.take(TENANT_ID, "r", note=note(operation_type="DELETE"))
    await directory.store.note(note(operation_type="ASSIGN"))

    log = await directory.log()

    assert [entry.operation_type for entry in log.items] == ["CREATE", "UPDATE", "DELETE", "ASSIGN"]
    assert await directory.rules.get(TENANT_ID, "r") is None


async def test_a_change_that_is_not_made_leaves_none(directory: Directory) -> None:
    kept = await directory.rules.insert(rule())
    with pytest.raises(AlreadyThere):
        await directory.rules.insert(rule(), note=note())
    with pytest.raises(Changed):
        await directory.rules.replace(replace(kept, revision=7), note=note())
    assert await directory.rules.take(TENANT_ID, "other", note=note()) is None

    assert (await directory.log()).items == []


async def test_a_guarded_change_leaves_an_entry_only_when_it_is_made(directory: Directory) -> None:
    kept, guard = await directory.rules.insert(rule()), await directory.rules.insert(rule(record_id="guard"))
    guarded = Guard(RULES, guard)

    changed = await directory.rules.replace(replace(kept, name="New"), note=note(), guard=guarded)
    with pytest.raises(Changed):
        await directory.rules.replace(replace(changed, name="Newer"), note=note(), guard=guarded)

    assert len((await directory.log()).items) == 1
    assert await directory.rules.get(TENANT_ID, "r") == changed


async def test_an_entry_that_cannot_be_written_undoes_the_change(
    directory: Directory, pool: asyncpg.Pool
) -> None:
    await pool.execute("ALTER TABLE history.audit_entry ADD CONSTRAINT no_alice CHECK (actor_id <> 'alice')")

    with pytest.raises((asyncpg.CheckViolationError, Unavailable)):
        await directory.rules.insert(rule(), note=note())

    assert await directory.rules.get(TENANT_ID, "r") is None
    assert (await directory.log()).items == []


async def test_a_change_in_a_week_without_a_table_makes_it(directory: Directory, pool: asyncpg.Pool) -> None:
    later = NOON + timedelta(weeks=100)

    await directory.rules.insert(rule(), note=note(timestamp=later))

    assert [entry.timestamp for entry in (await directory.log()).items] == [later]
    assert await pool.fetchval("SELECT count(*) FROM history.audit_entry") == 1


async def test_changes_at_the_same_time_all_leave_theirs(dsn: str) -> None:
    async with open_pool(dsn, 8) as pool:
        directory = Directory(pool)
        await directory.store.note(note(entity_id="first"))

        async with asyncio.TaskGroup() as tasks:
            for number in range(40):
                name = f"r-{number}"
                tasks.create_task(directory.rules.insert(rule(record_id=name), note=note(entity_id=name)))
        log = await directory.log()

    assert {entry.entity_id for entry in log.items} == {"first", *(f"r-{number}" for number in range(40))}
    assert [entry.audit_entry_key for entry in log.items] == list(range(1, 42))


async def test_counts_follow_every_entry(
    directory: Directory, dsn: str, pool: asyncpg.Pool, lease: Lease
) -> None:
    totals = []
    async with ledger_of(dsn, lease, PooledDatabase(pool)) as ledger:
        for _ in range(2):
            await directory.store.note(note())
            totals.append((await directory.log(limit=1)).total)
            await ledger.commit(Batch(audit=[audit_entry(timestamp=NOON)]))
            totals.append((await directory.log(limit=1)).total)

    assert totals == [1, 2, 3, 4]


async def test_entries_are_found_by_the_id_of_their_entity_in_their_tenant_alone(
    directory: Directory,
) -> None:
    await directory.store.note(note(entity_id="one"))
    await directory.store.note(note(entity_id="two"))

    assert [entry.entity_id for entry in (await directory.log(entity_id="two")).items] == ["two"]
    assert (await directory.log(tenant_id="other")).items == []


async def test_texts_that_no_column_holds_are_replaced(directory: Directory) -> None:
    await directory.store.note(note(entity_id="a\0b"))

    assert [entry.entity_id for entry in (await directory.log()).items] == ["a\ufffdb"]


async def test_changes_leave_no_entry_while_older_nodes_read_the_log(pool: asyncpg.Pool) -> None:
    directory = Directory(pool, is_open=False)

    await directory.rules.insert(rule(), note=note())
    await directory.store.note(note())

    assert await directory.rules.get(TENANT_ID, "r") is not None
    assert (await directory.log()).items == []
