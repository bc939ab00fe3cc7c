"""Clients page through 100,000 rows while others are written: each row comes once, in order, in both directions."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import islice, zip_longest
from operator import attrgetter, itemgetter

import asyncpg
import msgspec
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from server.engine.keys import Key
from server.platform.postgres.pool import open_pool
from server.platform.postgres.pooled import PooledDatabase
from server.platform.query import Condition, Operator, Query, SortKey
from server.platform.query.cursor import position_of
from server.platform.query.evaluate import evaluate, ordered
from server.platform.query.model import EVERYTHING, MAX_LIMIT, Position, Window, position_reader
from server.store.entities import ProcessInstance
from server.store.postgres.buckets import WEEK, create_buckets
from server.store.postgres.reads import PostgresStore
from server.store.searchables import PROCESS_INSTANCES
from tests.server.store.durable import DAY, write
from tests.server.store.postgres.databases import new_database
from tests.server.store.postgres.population import BEGIN, END, TENANT, WEEKS, insertion, key

ROWS = 100_000
ADDED = 5
"""Rows that are written between two pages."""

FIELDS = PROCESS_INSTANCES.fields
CONDITIONS = (
    Condition(FIELDS["state"], Operator.EQ, "COMPLETED"),
    Condition(FIELDS["state"], Operator.NEQ, "TERMINATED"),
    Condition(FIELDS["process_definition_id"], Operator.LIKE, "order-process-1*"),
    Condition(FIELDS["start_date"], Operator.GTE, BEGIN + timedelta(weeks=3)),
    Condition(FIELDS["start_date"], Operator.LT, END - timedelta(weeks=2)),
    Condition(FIELDS["tags"], Operator.CONTAINS_NONE, ("test",)),
    Condition(FIELDS["business_id"], Operator.EXISTS, True),
    Condition(FIELDS["parent_process_instance_key"], Operator.EXISTS, False),
)
SORTED = (
    "start_date",
    "end_date",
    "process_definition_id",
    "process_definition_version",
    "state",
    "business_id",
)


def _query(wanted: Sequence[int], order: Sequence[tuple[str, bool]]) -> Query:
    """`wanted` are indexes of conditions."""
    sort = [SortKey(FIELDS[name], is_descending) for name, is_descending in order]
    return PROCESS_INSTANCES.query(*(CONDITIONS[index] for index in wanted), sort=sort)


class Table:
    """A database, and the rows that are in it."""

    def __init__(self, dsn: str, rows: list[ProcessInstance]) -> None:
        self.dsn = dsn
        self.rows = rows

    async def grow(self, pool: asyncpg.Pool) -> None:
        """Add copies of rows of all dates and states; their keys stand between those of other partitions."""
        found = len(self.rows)
        copied = self.rows[found % 97 :: found // ADDED][:ADDED]
        added = [
            msgspec.structs.replace(row, process_instance_key=key(number))
            for number, row in enumerate(copied, found)
        ]
        await write(pool, added)
        self.rows += added


@pytest.fixture(scope="module")
def table(durable_dsn: str, template: str) -> Iterator[Table]:
    with asyncio.Runner() as runner:
        made = new_database(durable_dsn, template=template)
        dsn = runner.run(made.__aenter__())
        yield runner.run(_filled(dsn))
        runner.run(made.__aexit__(None, None, None))


async def _filled(dsn: str) -> Table:
    async with open_pool(dsn, 1) as pool:
        mondays = [BEGIN.date() + week * WEEK for week in range(WEEKS)]
        await create_buckets(PooledDatabase(pool), [DAY, *mondays])
        await pool.execute(insertion(ProcessInstance, ROWS, BEGIN, WEEKS), timeout=300)
        await pool.execute("UPDATE runtime.process_instance SET tenant_id = $1", TENANT)
        await pool.execute("UPDATE history.process_instance SET tenant_id = $1", TENANT, timeout=300)
        await pool.execute("VACUUM ANALYZE", timeout=300)
        found = await PostgresStore(pool).search(ProcessInstance, PROCESS_INSTANCES.query(), tenant_id=TENANT)
    assert len(found.items) == ROWS
    return Table(dsn, list(found.items))


_key = attrgetter("process_instance_key")


def _differences(found: list[Key], expected: list[Key]) -> list[tuple[int, Key | None, Key | None]]:
    """The first places at which they differ; lists of so many would take minutes to be shown."""
    pairs = enumerate(zip_longest(found, expected))
    return list(islice(((place, one, other) for place, (one, other) in pairs if one != other), 5))


# A shorter example says no more, and each takes seconds.
@settings(max_examples=2, phases=[Phase.generate])
@given(
    st.lists(st.sampled_from(range(len(CONDITIONS))), max_size=3, unique=True),
    st.lists(st.tuples(st.sampled_from(SORTED), st.booleans()), max_size=2, unique_by=itemgetter(0)),
)
async def test_each_row_comes_once_and_in_order_while_rows_are_added(
    table: Table, wanted: list[int], order: list[tuple[str, bool]]
) -> None:
    query = _query(wanted, order)
    everything = replace(query, window=EVERYTHING)
    there = [_key(row) for row in evaluate(sorted(table.rows, key=_key), everything).items]
    initial = set(there)
    async with open_pool(table.dsn, 2) as pool:

        async def walk(*, is_backward: bool, position: Position | None = None) -> list[ProcessInstance]:
            """The pages in the order in which they are asked for; `position` is where the first one begins."""
            store = PostgresStore(pool)
            walked: list[ProcessInstance] = []
            while True:
                after, before = (None, position) if is_backward else (position, None)
                window = Window(MAX_LIMIT, after=after, before=before)
                page = await store.search(ProcessInstance, replace(query, window=window), tenant_id=TENANT)
                walked.extend(reversed(page.items) if is_backward else page.items)
                cursor = page.start_cursor if is_backward else page.end_cursor
                if cursor is None:
                    return walked
                position = position_of(cursor, query.clauses, query.sort)
                await table.grow(pool)

        forward = await walk(is_backward=False)
        last = position_reader(query.sort)(forward[-1]) if forward else None
        backward = await walk(is_backward=True, position=last) if last is not None else []

    back = [found for found in reversed(there) if found != _key(forward[-1])]
    for walked, expected in ((forward, there), (backward, back)):
        keys = [_key(row) for row in walked]
        assert len(keys) == len(set(keys))
        assert _differences([found for found in keys if found in initial], expected) == []
    for rows in (forward, backward[::-1]):
        in_order = [_key(row) for row in ordered(sorted(rows, key=_key), query.sort)]
        assert _differences([_key(row) for row in rows], in_order) == []
