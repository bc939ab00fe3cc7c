"""Parts of a batch beside the changes of rows, and texts in all of them."""

from collections import Counter
from datetime import UTC, datetime, timedelta

from server.engine.keys import Key, first_key
from server.engine.pages import StoredPage
from server.platform.postgres.pooled import PooledDatabase
from server.store.entities import Job
from server.store.ports import (
    EVERY_OTHER_PARTITION,
    Batch,
    Insert,
    OutgoingCommand,
    PartitionId,
    Update,
)
from server.store.postgres.leases import Lease
from server.store.postgres.ledger import MOST_INCOMING_OCTETS
from tests.server.store.postgres.ledgers import (
    PARTITION,
    answer,
    audit_entry,
    document_of,
    ledger_of,
    taken,
    whole,
)
from tests.server.store.rows import TENANT, job, process_instance, variable

OTHER = PartitionId(2)
THIRD = PartitionId(3)


async def test_texts_that_the_database_cannot_hold_are_kept_without_what_it_cannot(
    dsn: str, database: PooledDatabase, lease: Lease
) -> None:
    text, kept = "a\0b\ud800c", "a�b�c"
    batch = Batch(
        changes=[
            Insert(process_instance(1, tags=(text, ""))),
            Insert(job(2, 1, custom_headers={text: text}, error_message=text)),
            Insert(variable(3, 1, '"a\\u0000"')),
            Update(Job, Key(99), {"error_message": text}),
        ],
        answers=[answer(text)],
        audit=[audit_entry(detail=text)],
        active_instances=Counter({text: 1}),
    )

    async with ledger_of(dsn, lease, database) as ledger:
        await ledger.commit(batch)

        answers = await ledger.answers([(TENANT, text)])
    found = await database.fetch(
        "SELECT tags, custom_headers, error_message FROM runtime.process_instance, runtime.job"
    )
    assert [([kept, ""], {kept: kept}, kept)] == [tuple(row) for row in found]
    assert [row[0] for row in await database.fetch("SELECT value FROM runtime.variable")] == ['"a\\u0000"']
    assert [row[0] for row in await database.fetch("SELECT detail FROM gnomon.audit_entry")] == [kept]
    assert [answer(kept)] == answers


async def test_audit_entries_are_numbered_by_partition_position_and_place(
    dsn: str, database: PooledDatabase, lease: Lease
) -> None:
    async with ledger_of(dsn, lease, database) as ledger:
        await ledger.commit(Batch(audit=[audit_entry()]))
        await ledger.commit(Batch(audit=[audit_entry(), audit_entry()]))

    found = await database.fetch("SELECT audit_entry_key FROM gnomon.audit_entry ORDER BY 1")
    first = first_key(PARTITION)
    assert [row[0] - first for row in found] == [1 << 12, 2 << 12, (2 << 12) + 1]


async def test_an_audit_entry_of_any_day_finds_or_makes_its_bucket(
    dsn: str, database: PooledDatabase, lease: Lease
) -> None:
    days = [datetime(2026, 3, 1, 23, 59, tzinfo=UTC) + timedelta(days=step) for step in (0, 1, 400, -4000)]
    east = datetime(2026, 3, 2, 0, 30, tzinfo=UTC).astimezone(tz=None)

    async with ledger_of(dsn, lease, database) as ledger:
        await ledger.commit(Batch(audit=[audit_entry(timestamp=day) for day in (*days, east)]))

    found = await database.fetch("SELECT timestamp, bucket FROM history.audit_entry ORDER BY audit_entry_key")
    assert [(day, day.astimezone(UTC).date()) for day in (*days, east)] == [tuple(row) for row in found]


async def test_the_first_answer_under_a_key_stays(dsn: str, database: PooledDatabase, lease: Lease) -> None:
    async with ledger_of(dsn, lease, database) as ledger:
        await ledger.commit(Batch(answers=[answer("k", b"first"), answer("k", b"second")]))
        await ledger.commit(Batch(answers=[answer("k", b"third")]))

        assert await ledger.answers([(TENANT, "k"), (TENANT, "l")]) == [answer("k", b"first")]


async def test_answers_of_every_partition_are_found_and_those_of_other_tenants_are_not(
    dsn: str, database: PooledDatabase, lease: Lease
) -> None:
    async with (
        ledger_of(dsn, lease, database) as ledger,
        ledger_of(dsn, await taken(database, OTHER), database) as other,
    ):
        await other.commit(Batch(answers=[answer("k"), answer("k", tenant_id="other")]))

        assert await ledger.answers([(TENANT, "k"), (TENANT, "j")]) == [answer("k")]


async def test_documents_are_those_of_the_partition_that_have_not_ended(
    dsn: str, database: PooledDatabase, lease: Lease
) -> None:
    async with (
        ledger_of(dsn, lease, database) as ledger,
        ledger_of(dsn, await taken(database, OTHER), database) as other,
    ):
        await ledger.commit(Batch(documents={document_of(key): whole(b"%d" % key) for key in (1, 2, 3)}))
        await other.commit(Batch(documents={document_of(4): whole(b"4")}))
        changed = {document_of(1): whole(b"1 again"), document_of(2): None, document_of(5): None}
        await ledger.commit(Batch(documents=changed))

        asked = [document_of(key) for key in (1, 2, 4)]
        assert await ledger.documents(asked) == {document_of(1): whole(b"1 again")}
        assert await ledger.documents([]) == {}


async def test_pages_of_a_document_are_written_and_dropped_one_by_one(
    dsn: str, database: PooledDatabase, lease: Lease
) -> None:
    first, second = document_of(1), document_of(2)
    before = {number: StoredPage(2, b"old %d" % number) for number in range(4)}
    changed: dict[int, StoredPage | None] = {
        1: StoredPage(3, b"new"),
        2: None,
        9: None,
        1 << 45: StoredPage(3, b"far"),
    }
    async with ledger_of(dsn, lease, database) as ledger:
        await ledger.commit(Batch(documents={first: before, second: before}))
        await ledger.commit(Batch(documents={first: changed}))

        found = await ledger.documents([first, second])

    kept = {0: before[0], 1: changed[1], 3: before[3], 1 << 45: changed[1 << 45]}
    assert found == {first: kept, second: before}


async def test_a_document_that_ends_leaves_with_all_of_its_pages(
    dsn: str, database: PooledDatabase, lease: Lease
) -> None:
    pages = {number: StoredPage(2, b"%d" % number) for number in range(100)}
    async with ledger_of(dsn, lease, database) as ledger:
        await ledger.commit(Batch(documents={document_of(1): pages, document_of(2): pages}))

        await ledger.commit(Batch(documents={document_of(1): None, document_of(2): whole(b"small")}))

    text = "SELECT DISTINCT key, count(*)::integer FROM gnomon.document GROUP BY key"
    assert [tuple(row) for row in await database.fetch(text)] == [(2, 100)]


async def test_commands_reach_the_partitions_that_they_are_for_in_order(
    dsn: str, database: PooledDatabase, lease: Lease
) -> None:
    async with (
        ledger_of(dsn, lease, database) as first,
        ledger_of(dsn, await taken(database, OTHER), database) as second,
        ledger_of(dsn, await taken(database, THIRD), database) as third,
    ):
        everybody = OutgoingCommand(EVERY_OTHER_PARTITION, b"all")
        await first.commit(Batch(outgoing=[OutgoingCommand(OTHER, b"one"), everybody]))
        await first.commit(Batch(outgoing=[OutgoingCommand(OTHER, b"two")]))
        await third.commit(Batch(outgoing=[OutgoingCommand(OTHER, b"three")]))

        found = [(each.source, each.command) for each in await second.incoming({}, 10)]
        assert found == [(1, b"one"), (1, b"all"), (1, b"two"), (3, b"three")]
        assert [each.command for each in await third.incoming({}, 10)] == [b"all"]
        assert await first.incoming({}, 10) == []


async def test_a_batch_may_send_any_number_of_commands(
    dsn: str, database: PooledDatabase, lease: Lease
) -> None:
    contents = [b"%d" % number for number in range(5_000)]
    async with (
        ledger_of(dsn, lease, database) as first,
        ledger_of(dsn, await taken(database, OTHER), database) as second,
    ):
        await first.commit(Batch(outgoing=[OutgoingCommand(OTHER, content) for content in contents]))
        await first.commit(Batch(outgoing=[OutgoingCommand(EVERY_OTHER_PARTITION, b"last")]))

        found = await second.incoming({}, 10_000)

    assert [each.command for each in found] == [*contents, b"last"]
    assert len({each.number for each in found}) == len(found)


async def test_commands_are_read_on_from_where_one_was_and_no_more_than_asked_for(
    dsn: str, database: PooledDatabase, lease: Lease
) -> None:
    async with (
        ledger_of(dsn, lease, database) as first,
        ledger_of(dsn, await taken(database, OTHER), database) as second,
    ):
        await first.commit(Batch(outgoing=[OutgoingCommand(OTHER, b"%d" % number) for number in range(5)]))

        some = await second.incoming({}, 2)
        rest = await second.incoming({PARTITION: some[-1].number, THIRD: 0}, 10)

        assert [each.command for each in (*some, *rest)] == [b"0", b"1", b"2", b"3", b"4"]


async def test_commands_are_read_up_to_a_number_of_octets_and_at_least_one(
    dsn: str, database: PooledDatabase, lease: Lease
) -> None:
    sizes = [MOST_INCOMING_OCTETS // 2, MOST_INCOMING_OCTETS // 2, 1, MOST_INCOMING_OCTETS * 2, 1]
    async with (
        ledger_of(dsn, lease, database) as first,
        ledger_of(dsn, await taken(database, OTHER), database) as second,
    ):
        await first.commit(Batch(outgoing=[OutgoingCommand(OTHER, b"x" * size) for size in sizes]))

        read: list[list[int]] = []
        last = 0
        while found := await second.incoming({PARTITION: last}, 10):
            read.append([len(each.command) for each in found])
            last = found[-1].number

    assert read == [sizes[:2], sizes[2:4], sizes[4:]]


async def test_a_command_that_was_taken_leaves_with_the_commit(
    dsn: str, database: PooledDatabase, lease: Lease
) -> None:
    async with (
        ledger_of(dsn, lease, database) as first,
        ledger_of(dsn, await taken(database, OTHER), database) as second,
    ):
        await first.commit(Batch(outgoing=[OutgoingCommand(OTHER, b"%d" % number) for number in range(3)]))
        incoming = await second.incoming({}, 10)

        await second.commit(Batch(taken=[incoming[0], incoming[2]]))

        assert await second.incoming({}, 10) == [incoming[1]]
