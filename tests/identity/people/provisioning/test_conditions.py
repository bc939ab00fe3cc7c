"""Filters on users find the same in memory and in PostgreSQL, by indexes where there are many."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg
import pytest

from identity.directory.user import USERS, Provisioned, User
from identity.people.provisioning import filters
from identity.people.provisioning.conditions import SEARCHABLE, clauses_of, sort_key_of
from server.platform.call import TenantId
from server.platform.clock import VirtualClock
from server.platform.errors import InvalidArgument
from server.platform.postgres.pool import open_pool
from server.platform.postgres.pooled import PooledDatabase
from server.platform.query import Query, Window
from server.platform.records import Records
from server.platform.records.memory import MemoryRecordStore
from server.platform.records.postgres import PostgresRecordStore
from server.platform.records.search import search_of
from tests.durable import migrated_database

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)
ACME = TenantId("acme")
GROUPS = {"g1": "staff", "g2": "guests"}
EVERYBODY = "abcdef"
MANY = 100_000


def user(name: str, **fields: Any) -> User:
    return User(tenant_id=ACME, id=name, email=f"{name}@example.com", **fields)


PEOPLE = [
    user("a", created_at=NOON, groups=("staff",), given_name="Ada", family_name="Lovelace"),
    user("b", created_at=NOON, changed_at=NOON + timedelta(hours=1), is_enabled=False),
    user("c", preferred_username="carl", provisioned=Provisioned(external_id="X-1")),
    user("d", provisioned=Provisioned(user_name="Dora_%*?\\", external_id="x-1", display_name="Dora D")),
    user("e", provisioned=Provisioned(user_name="E@Other.example"), groups=("staff", "guests")),
    user("f", changed_at=NOON + timedelta(microseconds=1), family_name="F" * 3000 + "\0"),
]

FOUND = [
    ('userName eq "A@EXAMPLE.com"', "a"),
    ('userName eq "carl"', "c"),
    ('userName eq "e@other.EXAMPLE"', "e"),
    ('userName eq "e@example.com"', ""),
    ('userName sw "D" or userName sw "e@"', "de"),
    (r'userName ew "_%*?\\"', "d"),
    ('not (userName co "example")', "cd"),
    ('externalId eq "x-1"', "d"),
    ('externalId ne "x-1"', "abcef"),
    ("externalId pr", "cd"),
    ("not (externalId pr)", "abef"),
    ('not (externalId sw "x")', "abcef"),
    ("externalId eq null", "abef"),
    ('not (externalId gt "Y")', "abcef"),
    ('emails eq "B@example.com"', "b"),
    ('emails.value co "e@"', "e"),
    ('emails[type eq "work" and value sw "f"]', "f"),
    ('emails[type eq "home"]', ""),
    ("emails[primary eq true]", EVERYBODY),
    ('displayName eq "ada lovelace"', "a"),
    ('displayName eq "DORA d"', "d"),
    ("displayName pr", "adf"),
    ('displayName ew "fff"', "f"),
    ("active eq false", "b"),
    ("active ne false", "acdef"),
    ('meta.lastModified gt "2030-01-01T12:00:00Z"', "bf"),
    ('meta.lastModified ge "2030-01-01T13:00:00+01:00"', "abf"),
    ('not (meta.lastModified gt "2030-01-01T12:00:00Z")', "acde"),
    ("meta.lastModified pr", "abf"),
    ('groups eq "g1"', "ae"),
    ('groups.value ne "g1"', "bcdf"),
    ('groups[value eq "g2"]', "e"),
    ('groups eq "gone"', ""),
    ("groups pr", "ae"),
    ('id eq "a" or id eq "b" and active eq true', "a"),
    ('(id eq "a" or id eq "b") and not (active eq true and id pr)', "b"),
    ('meta.resourceType eq "Group" or id eq "c"', "c"),
]


@pytest.fixture(scope="session")
def dsn(postgres_dsn: str) -> str:
    return asyncio.run(migrated_database(postgres_dsn, "provisioning_conditions"))


@pytest.fixture
async def pool(dsn: str) -> AsyncIterator[asyncpg.Pool]:
    async with open_pool(dsn, 2) as opened:
        await opened.execute('TRUNCATE identity."user"')
        yield opened


def query(text: str, *, sort_by: str = "", window: Window | None = None) -> Query:
    sort = (sort_key_of(sort_by, is_descending=False),) if sort_by else ()
    clauses = clauses_of(filters.parse(text), GROUPS) if text else ()
    return Query(clauses, SEARCHABLE.order(sort), window or Window())


async def ids(records: Records[User], asked: Query) -> tuple[str, int]:
    page = await records.search(ACME, asked)
    return "".join(each.id for each in page.items), page.total


async def test_filters_find_the_same_users_in_both_stores(pool: asyncpg.Pool) -> None:
    clock = VirtualClock(pinned=NOON)
    stores: Sequence[Records[User]] = [
        MemoryRecordStore(clock).of(USERS),
        PostgresRecordStore(PooledDatabase(pool), clock).of(USERS),
    ]
    for records in stores:
        for person in PEOPLE:
            await records.insert(person)
            await records.insert(replace(person, tenant_id=TenantId("other"), id=f"other-{person.id}"))

    for text, expected in FOUND:
        for records in stores:
            assert (expected, len(expected)) == await ids(records, query(text)), text
    for sort_by in ("id", "username", "externalid", "displayname", "emails", "meta.lastmodified"):
        one, other = [await ids(records, query("", sort_by=sort_by)) for records in stores]
        assert one == other, sort_by


@pytest.mark.parametrize(
    "text",
    [
        'title eq "x"',
        'emails.display eq "x"',
        'name[givenName eq "x"]',
        'emails[groups eq "x"]',
        "active gt true",
        "active eq 5",
        "userName eq 5",
        'groups co "x"',
        'meta.lastModified eq "yesterday"',
        'meta.lastModified co "2030"',
        'emails.type co "w"',
        "userName gt null",
        'password eq "x"',
    ],
)
def test_filters_that_no_index_answers_are_refused(text: str) -> None:
    with pytest.raises(InvalidArgument, match="filter"):
        query(text)


async def insert_many(pool: asyncpg.Pool) -> None:
    for first in range(1, MANY, _STEP):
        await pool.execute(_INSERT, first, first + _STEP - 1)
    await pool.execute('ANALYZE identity."user"')


_STEP = 5000
_INSERT = """
        INSERT INTO identity."user" (tenant_id, id, revision, content, email, provisioned_name, groups, roles)
        SELECT 'acme', 'id' || n, 1,
            json_build_object(
                'tenant_id', 'acme', 'id', 'id' || n, 'revision', 1, 'email', 'p' || n || '@example.com',
                'changed_at', to_char(
                    timestamptz '2029-01-01Z' AT TIME ZONE 'UTC' + n * interval '1 minute', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'
                ),
                'provisioned', json_build_object(
                    'user_name', 'User' || n, 'external_id', 'ext-' || n, 'display_name', 'Person ' || n
                )
            ),
            'p' || n || '@example.com', 'user' || n, '{}', '{}'
        FROM generate_series($1::int, $2::int) AS n
        """


LOOKUPS = [
    ('userName eq "USER4711"', "user_account_name"),
    ('externalId eq "ext-4711"', "user_external_id"),
    ('emails eq "p4711@example.com"', "user_email"),
    ('userName sw "user4711"', "user_account_name"),
    ('meta.lastModified gt "2029-03-11T10:00:00Z"', "user_last_modified_at"),
]


async def plan(pool: asyncpg.Pool, text: str, arguments: Sequence[object]) -> tuple[str, float]:
    """Return the plan and the milliseconds that the statement takes."""
    rows = await pool.fetchval(f"EXPLAIN (ANALYZE, FORMAT JSON) {text}", *arguments)
    (found,) = json.loads(rows)
    return json.dumps(found["Plan"]), found["Execution Time"]


async def test_lookups_among_many_users_go_by_an_index_and_the_worst_filter_ends_soon(
    pool: asyncpg.Pool,
) -> None:
    await insert_many(pool)
    records = PostgresRecordStore(PooledDatabase(pool), VirtualClock(pinned=NOON)).of(USERS)

    for text, index in LOOKUPS:
        search = search_of(USERS, query(text), tenant_id=ACME, now=NOON)
        found = await records.search(ACME, query(text))
        assert found.total > 0, text
        for statement in (search.counted_page, search.count):
            chosen, milliseconds = await plan(pool, statement.text, statement.arguments)
            assert index in chosen, (text, chosen)
            assert milliseconds < 200, text

    worst = " or ".join(
        f'not ({path} co "{letter}z{letter}")' if n % 2 else f'{path} co "{letter}z{letter}"'
        for n, (path, letter) in enumerate(
            (path, letter)
            for path in ("userName", "displayName", "emails", "externalId")
            for letter in "abcdefgh"
        )
        if n % 2 == 0
    )
    search = search_of(USERS, query(worst, sort_by="displayname"), tenant_id=ACME, now=NOON)
    _, milliseconds = await plan(pool, search.count.text, search.count.arguments)
    assert milliseconds < 5000
