"""Assumptions of searches about tables, views and indexes."""

import hashlib
from itertools import count
from urllib.parse import urlsplit

import asyncpg
import pytest

from server.platform.postgres.migrations import migrate
from server.platform.postgres.pool import open_pool
from server.platform.postgres.pooled import PooledDatabase
from server.platform.query import FieldType, equals
from server.platform.query.sql.relation import guard_of, start_of
from server.store.entities import ElementInstance, Entity, GlobalTaskListener, UserTask
from server.store.postgres.buckets import create_buckets
from server.store.postgres.columns import TABLES
from server.store.postgres.reads import PostgresStore
from server.store.postgres.relations import RELATIONS
from server.store.searchables import SEARCHABLES
from tests.server.store.durable import DAY, schemas_of, write
from tests.server.store.postgres.databases import name_of
from tests.server.store.postgres.ledgers import MIGRATIONS
from tests.server.store.postgres.queries import row_of

# Texts of which the contract has every one.
CLOSED_SETS: dict[type[Entity], set[str]] = {ElementInstance: {"type"}}
# Texts that the engine bounds, at 256 characters.
BOUNDED: dict[type[Entity], set[str]] = {UserTask: {"assignee"}, GlobalTaskListener: {"id"}}
SPELLING = str.maketrans("", "", '"() ')

every_entity = pytest.mark.parametrize("entity", RELATIONS, ids=lambda entity: entity.__name__)


async def definitions(pool: asyncpg.Pool, schema: str, table: str) -> list[str]:
    """Definitions of a table's indexes."""
    text = "SELECT indexdef FROM pg_indexes WHERE schemaname = $1 AND tablename = $2"
    return [row[0] for row in await pool.fetch(text, schema, table)]


def bare(expression: str) -> str:
    """An expression however it is bracketed and quoted."""
    return expression.translate(SPELLING)


@every_entity
async def test_a_view_has_the_fields_of_its_entity_and_the_partition(
    pool: asyncpg.Pool, entity: type[Entity]
) -> None:
    text = """
        SELECT attname::text, attcollation = 'pg_catalog."C"'::regcollation OR attcollation = 0
        FROM pg_attribute WHERE attrelid = $1::text::regclass AND attnum > 0
    """

    columns = dict(await pool.fetch(text, RELATIONS[entity].name))

    assert {"partition_id", *entity.__struct_fields__} == columns.keys()
    assert all(columns.values())


@every_entity
async def test_an_index_has_what_searches_look_for_in_it(pool: asyncpg.Pool, entity: type[Entity]) -> None:
    relation, table = RELATIONS[entity], TABLES[entity].name
    schema = schemas_of(entity)[-1]

    indexes = [bare(found) for found in await definitions(pool, schema, table)]

    for column in relation.by_start:
        assert any(bare(start_of(column)) in index for index in indexes)
    for column in relation.guarded:
        assert any(index.endswith(bare(f"WHERE {guard_of(column)}")) and column in index for index in indexes)


@every_entity
async def test_every_index_for_searches_leads_with_the_tenant(
    pool: asyncpg.Pool, entity: type[Entity]
) -> None:
    for schema in schemas_of(entity):
        for definition in await definitions(pool, schema, TABLES[entity].name):
            is_plain = "_pkey" in definition or "USING brin" in definition
            assert is_plain or "(tenant_id, " in definition


def noise(length: int) -> str:
    """A text that nothing makes shorter, of characters that take four bytes."""
    digest = hashlib.shake_128(b"noise").digest(3 * length)
    numbers = (int.from_bytes(digest[place : place + 3]) for place in range(0, 3 * length, 3))
    return "".join(chr(0x10000 + number % 0x100000) for number in numbers)


@every_entity
async def test_a_row_with_long_texts_has_its_place_in_every_index_and_is_found(
    pool: asyncpg.Pool, entity: type[Entity]
) -> None:
    searchable, tenant = SEARCHABLES[entity], noise(256)
    await create_buckets(PooledDatabase(pool), [DAY])
    # Rows of even keys are live, those of odd keys have ended.
    for key, length in zip(count(2), (64, 64, 256, 256, 20_000, 20_000), strict=False):
        text = chr(ord("0") + key) + noise(length - 1)
        long = dict.fromkeys(names_of_texts(entity, length), text)
        row = row_of(entity, **long, **{searchable.key.name: key, "tenant_id": tenant})

        await write(pool, [row])

        conditions = [equals(searchable, name, text) for name in long]
        page = await PostgresStore(pool).search(entity, searchable.query(*conditions), tenant_id=tenant)
        assert [row] == list(page.items)


def names_of_texts(entity: type[Entity], length: int) -> list[str]:
    """Names of its fields that may have a text of this length."""
    closed = {"tenant_id", *RELATIONS[entity].short, *CLOSED_SETS.get(entity, ())}
    if length > 256:
        closed |= BOUNDED.get(entity, set())
    texts = [field.name for field in SEARCHABLES[entity].fields.values() if field.type is FieldType.TEXT]
    return sorted(set(texts) - closed)


async def test_a_server_without_the_extensions_lacks_their_indexes_alone(empty_dsn: str, dsn: str) -> None:
    address = urlsplit(empty_dsn)
    superuser = address._replace(netloc=address.netloc.replace("gnomon:", "postgres:")).geturl()
    connection = await asyncpg.connect(superuser)
    await connection.execute(f"ALTER DATABASE {name_of(empty_dsn)} SET extension_control_path = '/nowhere'")
    await connection.close()

    await migrate(empty_dsn, MIGRATIONS)

    text = "SELECT schemaname, indexname FROM pg_indexes WHERE schemaname IN ('runtime', 'history')"
    found: list[set[tuple[str, str]]] = []
    for address_of_one in (empty_dsn, dsn):
        async with open_pool(address_of_one, 1) as opened:
            found.append({(schema, name) for schema, name in await opened.fetch(text)})
    lacking = {name for _, name in found[1] - found[0]}
    texts = {"process_definition_text", "process_instance_text", "job_text", "incident_text"}
    assert lacking == {*texts, "user_task_candidates"}
