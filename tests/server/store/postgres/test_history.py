"""Ended process instances move, and history leaves by whole weeks."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta

import asyncpg
import pytest

from server.engine.keys import Key
from server.platform.postgres.pooled import PooledDatabase
from server.store.entities import Entity, ProcessInstanceState
from server.store.ports import Batch, Insert, PartitionId, StoredAnswer
from server.store.postgres.buckets import create_buckets
from server.store.postgres.history import MOVED_OCTETS, WEEKS_AHEAD, History
from server.store.postgres.leases import Lease
from server.store.postgres.reads import PostgresStore
from server.store.searchables import SEARCHABLES
from tests.server.store.postgres.ledgers import PARTITION, audit_entry, contents, ledger_of
from tests.server.store.rows import TENANT, element_instance, incident, job, process_instance, variable

MONDAY = datetime(2026, 3, 2, tzinfo=UTC)
WEEK = timedelta(days=7)
KEYS = [Key(1)]


def whole_instance(key: int, end: datetime | None = MONDAY, **values: object) -> Sequence[Entity]:
    """An instance that has ended, with a row of every kind; keys up to `key` + 4."""
    state = ProcessInstanceState.COMPLETED if end else ProcessInstanceState.ACTIVE
    return (
        process_instance(key, end_date=end, state=state, tags=("a", "b"), **values),
        element_instance(key + 1, key, end_date=end),
        job(key + 2, key),
        variable(key + 3, key),
        incident(key + 4, key),
    )


def rows_at(found: dict[str, Sequence[tuple[object, ...]]], schema: str) -> dict[str, int]:
    return {
        name.removeprefix(f"{schema}."): len(rows)
        for name, rows in found.items()
        if rows and name.startswith(f"{schema}.")
    }


async def write(dsn: str, database: PooledDatabase, lease: Lease, *rows: Entity) -> None:
    async with ledger_of(dsn, lease, database) as ledger:
        await ledger.commit(Batch(list(map(Insert, rows))))


WITHOUT_ROWS = ("user_task", "message_subscription", "correlated_message_subscription")
ONE_OF_EACH = {"process_instance": 1, "element_instance": 1, "job": 1, "variable": 1, "incident": 1}


async def test_a_move_takes_instances_up_to_a_number_of_octets_and_at_least_one(
    dsn: str, database: PooledDatabase, lease: Lease
) -> None:
    half, large = f'"{"x" * (MOVED_OCTETS // 2 - 2)}"', f'"{"x" * MOVED_OCTETS}"'
    values = {1: half, 11: half, 21: "1", 31: large}
    instances = [process_instance(key) for key in values]
    await write(dsn, database, lease, *instances, *(variable(key + 3, key, values[key]) for key in values))
    history = History(database)

    fitting = [
        await history.fitting(PARTITION, [Key(key) for key in keys])
        for keys in ((1, 11, 21, 31), (1, 31), (31, 1), (21, 41, 1), (21, 1, 31))
    ]

    assert fitting == [2, 1, 1, 3, 2]


async def test_an_ended_instance_moves_with_all_its_rows_and_an_active_one_stays(
    dsn: str, database: PooledDatabase, lease: Lease
) -> None:
    await write(dsn, database, lease, *whole_instance(1), *whole_instance(11, None))

    moved = await History(database).move(PARTITION, [Key(1), Key(11), Key(99)])

    found = await contents(database)
    assert moved == 1
    assert rows_at(found, "history") == rows_at(found, "runtime") == ONE_OF_EACH
    assert [row[2] for row in found["history.process_instance"]] == [1]
    assert [row[1] for row in found["runtime.process_instance"]] == [11]


async def test_rows_are_the_same_after_their_move(dsn: str, database: PooledDatabase, lease: Lease) -> None:
    rows = whole_instance(1)
    await write(dsn, database, lease, *rows)

    await History(database).move(PARTITION, KEYS)

    records = await database.fetch("SELECT * FROM history.job")
    assert [record["custom_headers"] for record in records] == [{"currency": "EUR"}]
    assert [
        record["tags"] for record in await database.fetch("SELECT tags FROM history.process_instance")
    ] == [["a", "b"]]
    assert {record["bucket"] for record in records} == {MONDAY.date()}


async def test_an_instance_of_another_partition_stays(
    dsn: str, database: PooledDatabase, lease: Lease
) -> None:
    await write(dsn, database, lease, *whole_instance(1))

    assert await History(database).move(PartitionId(2), KEYS) == 0

    assert rows_at(await contents(database), "runtime") == ONE_OF_EACH


async def test_movers_at_the_same_time_move_an_instance_once(
    dsn: str, database: PooledDatabase, lease: Lease
) -> None:
    instances = [row for key in range(100, 300, 10) for row in whole_instance(key)]
    await write(dsn, database, lease, *instances)
    history = History(database)
    await history.ensure_buckets(MONDAY)
    keys = [Key(key) for key in range(100, 300, 10)]

    moved = await asyncio.gather(
        *(history.move(PARTITION, some) for some in (keys, keys[::-1], keys[5:], keys[:9]))
    )

    assert sum(moved) == len(keys)
    assert rows_at(await contents(database), "history") == dict.fromkeys(ONE_OF_EACH, len(keys))
    assert rows_at(await contents(database), "runtime") == {}


@pytest.mark.parametrize(
    ("end", "bucket"),
    [
        pytest.param(
            datetime(2026, 3, 1, 23, 59, 59, tzinfo=UTC), date(2026, 3, 1), id="just before midnight"
        ),
        pytest.param(
            datetime.fromisoformat("2026-03-02T00:30:00+01:00"),
            date(2026, 3, 1),
            id="not yet midnight in UTC",
        ),
        pytest.param(datetime(1999, 1, 1, tzinfo=UTC), date(1999, 1, 1), id="long ago"),
        pytest.param(datetime(2500, 1, 1, tzinfo=UTC), date(2500, 1, 1), id="far ahead"),
    ],
)
async def test_an_instance_of_any_day_finds_or_makes_its_bucket(
    dsn: str, database: PooledDatabase, lease: Lease, end: datetime, bucket: date
) -> None:
    await write(dsn, database, lease, *whole_instance(1, end))

    await History(database).move(PARTITION, KEYS)

    found = await database.fetch(
        "SELECT bucket FROM history.process_instance UNION ALL SELECT bucket FROM history.job"
    )
    assert [row[0] for row in found] == [bucket] * 2


async def test_an_instance_that_ended_without_a_date_lies_where_it_began(
    dsn: str, database: PooledDatabase, lease: Lease
) -> None:
    row = process_instance(1, state=ProcessInstanceState.TERMINATED, start_date=MONDAY)
    await write(dsn, database, lease, row)

    await History(database).move(PARTITION, KEYS)

    found = await database.fetch("SELECT bucket FROM history.process_instance")
    assert [row[0] for row in found] == [MONDAY.date()]


async def test_the_buckets_of_the_coming_weeks_are_made_by_as_many_as_like_to(
    database: PooledDatabase,
) -> None:
    history = History(database)

    await asyncio.gather(*(history.ensure_buckets(MONDAY + timedelta(days=day)) for day in (0, 3, 6)))
    await history.ensure_buckets(MONDAY)

    dropped = await history.drop_before((MONDAY + 99 * WEEK).date())
    begins = {name.rpartition("_")[2] for name in dropped}
    assert begins == {f"{MONDAY + week * WEEK:%Y%m%d}" for week in range(WEEKS_AHEAD + 1)}
    assert len(dropped) == 9 * len(begins)


async def test_retention_drops_whole_weeks_and_nothing_of_live_instances(
    dsn: str, database: PooledDatabase, lease: Lease
) -> None:
    last_day = MONDAY + timedelta(days=6)
    rows = [
        *whole_instance(1, MONDAY - timedelta(days=1)),
        *whole_instance(11, last_day),
        *whole_instance(21, MONDAY + WEEK),
        *whole_instance(31, None, start_date=MONDAY - 100 * WEEK),
    ]
    await write(dsn, database, lease, *rows)
    history = History(database)
    await history.move(PARTITION, [Key(1), Key(11), Key(21), Key(31)])

    assert {name.rpartition("_")[2] for name in await history.drop_before(last_day.date())} == {"20260223"}
    found = await contents(database)
    assert rows_at(found, "history") == dict.fromkeys(ONE_OF_EACH, 2)
    assert rows_at(found, "runtime") == ONE_OF_EACH

    assert {name.rpartition("_")[2] for name in await history.drop_before((MONDAY + WEEK).date())} == {
        "20260302"
    }
    assert await history.drop_before((MONDAY + WEEK).date()) == ()
    assert rows_at(await contents(database), "history") == ONE_OF_EACH


async def test_retention_drops_audit_entries_too(dsn: str, database: PooledDatabase, lease: Lease) -> None:
    entries = [audit_entry(timestamp=moment) for moment in (MONDAY - timedelta(seconds=1), MONDAY)]
    async with ledger_of(dsn, lease, database) as ledger:
        await ledger.commit(Batch(audit=entries))

    await History(database).drop_before(MONDAY.date())

    found = await database.fetch("SELECT timestamp FROM history.audit_entry")
    assert [row[0] for row in found] == [MONDAY]


async def test_a_week_that_is_being_read_is_dropped_the_next_time(database: PooledDatabase) -> None:
    history = History(database)
    await create_buckets(database, [MONDAY.date()])
    async with database.connection() as reader, reader.transaction():
        await reader.fetch("SELECT * FROM history.job")

        dropped = await history.drop_before((MONDAY + WEEK).date())

    assert dropped == ("audit_entry_20260302",)
    rest = {f"{name}_20260302" for name in (*ONE_OF_EACH, *WITHOUT_ROWS)}
    assert set(await history.drop_before((MONDAY + WEEK).date())) == rest


class Stopped(Exception):
    """Faults that end a creation of buckets in the middle."""


class Stopping:
    """A database that carries out so many commands and no more."""

    def __init__(self, database: PooledDatabase, commands: int) -> None:
        self._database = database
        self._left = commands

    async def execute(self, text: str) -> str:
        if not self._left:
            raise Stopped
        self._left -= 1
        return await self._database.execute(text)

    async def fetch(self, text: str, *arguments: object) -> list[asyncpg.Record]:
        return await self._database.fetch(text, *arguments)


@pytest.mark.parametrize("commands", range(6))
async def test_a_bucket_of_process_instances_comes_after_those_of_what_belongs_to_them(
    database: PooledDatabase, commands: int
) -> None:
    with pytest.raises(Stopped):
        await create_buckets(Stopping(database, commands), [MONDAY.date()])

    found = await database.fetch("SELECT relname::text FROM pg_class WHERE relname LIKE '%\\_20260302'")
    names = {row[0].removesuffix("_20260302") for row in found}
    assert len(names) == commands
    assert "process_instance" not in names


async def test_what_was_dropped_can_come_again(dsn: str, database: PooledDatabase, lease: Lease) -> None:
    history = History(database)
    await create_buckets(database, [MONDAY.date()])
    await history.drop_before((MONDAY + WEEK).date())
    await write(dsn, database, lease, *whole_instance(1))

    await history.move(PARTITION, KEYS)

    assert rows_at(await contents(database), "history") == ONE_OF_EACH


async def test_reads_see_an_instance_before_and_after_its_move(
    dsn: str, pool: asyncpg.Pool, database: PooledDatabase, lease: Lease
) -> None:
    first = lease.last_key + 1
    rows = whole_instance(first)
    await write(dsn, database, lease, *rows)
    store = PostgresStore(pool)
    keys = [SEARCHABLES[type(row)].key.name for row in rows]

    async def read() -> list[Entity | None]:
        return [
            await store.get(type(row), getattr(row, key), tenant_id=TENANT)
            for row, key in zip(rows, keys, strict=True)
        ]

    before = await read()
    await History(database).move(PARTITION, [Key(first)])

    assert before == await read() == list(rows)


async def test_old_answers_are_forgotten(dsn: str, database: PooledDatabase, lease: Lease) -> None:
    answers = [
        StoredAnswer(TENANT, f"k-{day}", b"hash", b"answer", MONDAY + timedelta(days=day)) for day in range(5)
    ]
    async with ledger_of(dsn, lease, database) as ledger:
        await ledger.commit(Batch(answers=answers))

        forgotten = await History(database).forget_answers(MONDAY + timedelta(days=3))

        assert forgotten == 3
        kept = await ledger.answers([(TENANT, answer.idempotency_key) for answer in answers])
    assert sorted(answer.idempotency_key for answer in kept) == ["k-3", "k-4"]
