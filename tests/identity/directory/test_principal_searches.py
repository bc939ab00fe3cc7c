"""Users and clients are searched by the store: in memory and in PostgreSQL alike, at a cost that does not grow."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import asyncpg
import pytest

from identity.directory.client import CLIENTS, Client
from identity.directory.user import USERS, User
from identity.people.searches import SEARCHABLE_USER, UserSearch
from server.platform.call import TenantId
from server.platform.clock import VirtualClock
from server.platform.postgres.pool import open_pool
from server.platform.postgres.pooled import PooledDatabase
from server.platform.query import Condition, Field, FieldType, Operator, Page, Query, SortKey, Window
from server.platform.query.cursor import position_of
from server.platform.query.sql import Statement
from server.platform.records import Records
from server.platform.records.memory import MemoryRecordStore
from server.platform.records.postgres import PostgresRecordStore
from server.platform.records.search import FEW, Search, search_of
from tests.durable import migrated_database

T = TypeVar("T")

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)
ACME, UMBRELLA = TenantId("acme"), TenantId("umbrella")
FIELDS = SEARCHABLE_USER.fields
WORDS = Field("words", FieldType.TEXTS)
ORDERS = [
    (),
    (SortKey(FIELDS["username"], is_descending=True),),
    (SortKey(FIELDS["name"]),),
    (SortKey(FIELDS["name"], is_descending=True),),
    (SortKey(FIELDS["name"]), SortKey(FIELDS["email"], is_descending=True)),
    (SortKey(FIELDS["email"]), SortKey(FIELDS["username"], is_descending=True)),
]
FILTERS: Sequence[tuple[Condition, ...]] = [
    (),
    (Condition(Field("groups", FieldType.TEXTS), Operator.EQ, "staff"),),
    (Condition(Field("tenant_ids", FieldType.TEXTS), Operator.EQ, UMBRELLA),),
    (Condition(FIELDS["name"], Operator.EXISTS, operand=False),),
    (Condition(FIELDS["name"], Operator.LIKE, "A*"), Condition(FIELDS["email"], Operator.LIKE, "*1*")),
    (Condition(FIELDS["username"], Operator.GTE, "m"),),
    *(
        (Condition(WORDS, Operator.BEGINS, text),)
        for text in ("x1", "lovel", "bó", "o’2", "example", "ada l")
    ),
    *((Condition(WORDS, Operator.BEGINS, text),) for text in ("'", "x\\", "a' | 'b", "&", "b:*")),
    (Condition(WORDS, Operator.BEGINS, "ada"), Condition(WORDS, Operator.BEGINS, "x")),
]


@pytest.fixture(scope="session")
def dsn(postgres_dsn: str) -> str:
    return asyncio.run(migrated_database(postgres_dsn, "principal_searches"))


@pytest.fixture
async def pool(dsn: str) -> AsyncIterator[asyncpg.Pool]:
    async with open_pool(dsn, 2) as opened:
        await opened.execute('TRUNCATE identity."user", identity.client')
        yield opened


def users(number: int) -> Sequence[User]:
    """Some without names, with addresses that are no usernames, of another tenant, or expired."""
    return [
        User(
            tenant_id=pick(index, 1, [ACME, ACME, ACME, UMBRELLA]),
            id=f"{index * 7919 % 1000:03}",
            email=f"{pick(index, 2, ['x', 'y', 'o’'])}{index}@example.com",
            preferred_username=pick(index, 3, ["", f"{pick(index, 1, ['a', 'm', 'z'])}{index}"]),
            given_name=pick(index, 5, ["", "Ada", "Zoë", "A" * 64, "nul\0"]),
            family_name=pick(index, 1, ["", "Lovelace", "Bó"]),
            groups=pick(index, 2, [(), ("staff",), ("crew", "staff")]),
            tenant_ids=pick(index, 3, [(), (UMBRELLA,), (ACME, UMBRELLA)]),
            expires_at=pick(index, 4, [None, None, None, NOON, NOON + timedelta(hours=1)]),
        )
        for index in range(number)
    ]


def pick(index: int, step: int, options: Sequence[T]) -> T:
    """Each option for some successive numbers."""
    return options[index // step % len(options)]


def query(order: Sequence[SortKey], clauses: Sequence[Condition], window: Window) -> Query:
    return SEARCHABLE_USER.query(*clauses, sort=order, window=window)


async def ids(records: Records[User], asked: Query) -> tuple[Sequence[str], Page[User]]:
    page = await records.search(ACME, asked)
    return [user.id for user in page.items], page


async def test_both_stores_answer_the_same_and_pages_join(pool: asyncpg.Pool) -> None:
    clock = VirtualClock(pinned=NOON)
    memory = MemoryRecordStore(clock).of(USERS)
    postgres = PostgresRecordStore(PooledDatabase(pool), clock).of(USERS)
    for user in users(60):
        for records in (memory, postgres):
            # NUL is U+FFFD in what PostgreSQL sorts by.
            name = user.given_name.replace("\0", "\ufffd") if records is memory else user.given_name
            await records.insert(replace(user, given_name=name))

    for order in ORDERS:
        for clauses in FILTERS:
            whole, page = await ids(memory, query(order, clauses, Window(limit=None)))
            found, kept = await ids(postgres, query(order, clauses, Window(limit=None)))
            assert found == whole
            assert kept.total == page.total == len(whole)
            assert await walked(postgres, order, clauses) == whole
            assert await walked_back(postgres, order, clauses) == whole
    everybody = await memory.search(ACME, query((), (), Window(limit=None)))
    assert all(user.tenant_id == ACME for user in everybody.items)
    assert all(user.expires_at is None or user.expires_at > NOON for user in everybody.items)


async def walked(
    records: Records[User], order: Sequence[SortKey], clauses: Sequence[Condition]
) -> Sequence[str]:
    found, window = [], Window(limit=7)
    while True:
        asked = query(order, clauses, window)
        items, page = await ids(records, asked)
        if page.end_cursor is None:
            return found
        found += items
        window = Window(limit=7, after=position_of(page.end_cursor, asked.clauses, asked.sort))


async def walked_back(
    records: Records[User], order: Sequence[SortKey], clauses: Sequence[Condition]
) -> Sequence[str]:
    """From the last one, which no walk backwards returns."""
    everything = query(order, clauses, Window(limit=None))
    found, page = await ids(records, everything)
    if page.end_cursor is None:
        return []
    last, cursor, behind = found[-1], page.end_cursor, []
    while True:
        window = Window(limit=7, before=position_of(cursor, everything.clauses, everything.sort))
        items, page = await ids(records, query(order, clauses, window))
        if page.start_cursor is None:
            return [*behind, last]
        behind, cursor = [*items, *behind], page.start_cursor


async def test_the_database_names_users_as_the_program_does(pool: asyncpg.Pool) -> None:
    records = PostgresRecordStore(PooledDatabase(pool), VirtualClock(pinned=NOON)).of(USERS)
    for user in users(60):
        await records.insert(user)

    rows = await pool.fetch(
        'SELECT tenant_id, id, username, name, tenant_ids, tsvector_to_array(words) AS words FROM identity."user"'
    )

    assert len(rows) == 60
    for row in rows:
        kept = await records.get(row["tenant_id"], row["id"])
        if kept is None:
            continue
        name = kept.name.replace("\0", "\ufffd") if kept.name else None
        assert (row["username"], row["name"], row["tenant_ids"]) == (
            kept.username,
            name,
            list(kept.tenant_ids),
        )
        words = {word.replace("\0", "\ufffd") for word in kept.words}
        assert set(row["words"]) == {f"{kept.tenant_id}/{word}" for word in words}


async def test_clients_of_a_group_are_found_whichever_program_wrote_them(pool: asyncpg.Pool) -> None:
    """Programs of before write the columns that they know; the database makes the others."""
    content = json.dumps({"tenant_id": "acme", "id": "old", "groups": ["staff"], "claims": "\0"})
    await pool.execute(
        "INSERT INTO identity.client (tenant_id, id, revision, content) VALUES ('acme', 'old', 1, $1)",
        content,
    )
    records = PostgresRecordStore(PooledDatabase(pool), VirtualClock(pinned=NOON)).of(CLIENTS)
    await records.insert(Client(tenant_id=ACME, id="new", groups=("crew", "staff")))
    await records.insert(Client(tenant_id=ACME, id="other"))
    staff = Condition(Field("groups", FieldType.TEXTS), Operator.EQ, "staff")

    page = await records.search(ACME, Query((staff,), (SortKey(Field("id", FieldType.TEXT)),)))

    assert [client.id for client in page.items] == ["new", "old"]


@pytest.fixture(scope="session")
def dsn_of_many(postgres_dsn: str) -> str:
    """Thirty thousand users of a tenant, of whom thirty are in a group, and twenty users of another one."""
    dsn = asyncio.run(migrated_database(postgres_dsn, "principal_searches_of_many"))
    asyncio.run(_fill(dsn))
    return dsn


async def _fill(dsn: str) -> None:
    async with open_pool(dsn, 1) as pool:
        await pool.execute("""
            INSERT INTO identity."user" (tenant_id, id, revision, content, email, preferred_username, groups, roles)
            SELECT 'acme', 'u' || n, 1, json_build_object('given_name', 'Ada' || n, 'family_name', 'L'),
                'u' || n || '@example.com', 'u' || n,
                CASE WHEN n % 1000 = 0 THEN '{staff}' ELSE '{crew}' END::text[], '{}'
            FROM generate_series(1, 30000) AS n
        """)
        await pool.execute("""
            INSERT INTO identity."user" (tenant_id, id, revision, content, email, groups, roles)
            SELECT 'umbrella', 'v' || n, 1, '{"given_name": "Ada"}', 'v' || n || '@example.com', '{}', '{}'
            FROM generate_series(1, 20) AS n
        """)
        await pool.execute('VACUUM ANALYZE identity."user"')


@pytest.fixture
async def thirty_thousand(dsn_of_many: str) -> AsyncIterator[asyncpg.Pool]:
    async with open_pool(dsn_of_many, 2) as opened:
        yield opened


@pytest.mark.parametrize(
    "order", ORDERS, ids=lambda order: "-".join(key.field.name for key in order) or "none"
)
async def test_a_page_of_thirty_thousand_users_comes_from_an_index(
    thirty_thousand: asyncpg.Pool, order: Sequence[SortKey]
) -> None:
    assert await rows_read(thirty_thousand, query(order, (), Window(limit=50))) <= 500


@pytest.mark.parametrize("group", ["staff", "crew"])
async def test_a_page_of_members_comes_from_an_index(thirty_thousand: asyncpg.Pool, group: str) -> None:
    """Of few members the index of groups leads to all, of many the order of the usernames to the first."""
    member = Condition(Field("groups", FieldType.TEXTS), Operator.EQ, group)

    assert await rows_read(thirty_thousand, query((), (member,), Window(limit=50))) <= 500


@pytest.mark.parametrize("text", ["u7777", "ada42 l", "u4242@example.com"])
@pytest.mark.parametrize("sort", ["username", "name", "email"])
async def test_words_of_few_among_thirty_thousand_users_lead_to_them(
    thirty_thousand: asyncpg.Pool, text: str, sort: str
) -> None:
    search = searched(UserSearch(text=text, sort=sort))

    assert await rows_of(thirty_thousand, search.counted_page) <= 500


@pytest.mark.parametrize("sort", ["username", "name", "email"])
async def test_of_a_word_of_thirty_thousand_users_the_order_leads_to_a_page(
    thirty_thousand: asyncpg.Pool, sort: str
) -> None:
    search = searched(UserSearch(text="ad", sort=sort))

    (matches,) = await thirty_thousand.fetch(search.count.text, *search.count.arguments)

    assert matches[0] > FEW
    assert await rows_of(thirty_thousand, search.page) <= 500


async def test_a_search_reads_no_users_of_other_tenants(thirty_thousand: asyncpg.Pool) -> None:
    search = searched(UserSearch(text="ada", sort="email"), tenant=UMBRELLA)

    assert await rows_of(thirty_thousand, search.counted_page) == 20


async def rows_read(pool: asyncpg.Pool, asked: Query) -> int:
    """The most rows that a step of the plan looks at."""
    return await rows_of(pool, search_of(USERS, asked, tenant_id=ACME, now=NOON).page)


def searched(search: UserSearch, *, tenant: TenantId = ACME) -> Search:
    return search_of(USERS, search.query(token="", most=50), tenant_id=tenant, now=NOON)


async def rows_of(pool: asyncpg.Pool, statement: Statement) -> int:
    (plan,) = await pool.fetchrow(f"EXPLAIN (ANALYZE, FORMAT JSON) {statement.text}", *statement.arguments)
    return most_rows(json.loads(plan)[0]["Plan"])


def most_rows(step: dict[str, Any]) -> int:
    own = int(step["Actual Rows"] * step["Actual Loops"]) + int(step.get("Rows Removed by Filter", 0))
    return max([own, *map(most_rows, step.get("Plans", ()))])
