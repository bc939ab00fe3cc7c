"""Every kind of record has its table, with the needed columns and indexes."""

import asyncio
import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from dataclasses import fields
from datetime import datetime
from types import NoneType
from typing import Any, get_args, get_type_hints

import asyncpg
import pytest

import identity
from server.platform.call import TenantId
from server.platform.clock import SystemClock
from server.platform.postgres.pool import open_pool
from server.platform.postgres.pooled import PooledDatabase
from server.platform.records import Kind, Record
from server.platform.records.postgres import PostgresRecordStore
from server.platform.records.statements import OWN_COLUMNS, Statements
from server.platform.records.texts import holds_many
from tests.durable import migrated_database

# Composition roots define no records, and import all modules that do.
COMPOSITION_ROOTS = {"identity.app", "identity.__main__"}

OWN_TYPES = ("text", "text", "bigint", "timestamp with time zone", "json")

# Of derived attributes; all others are texts.
TYPES: Mapping[object, str] = {bool: "boolean", datetime: "timestamp with time zone"}

# Kinds whose living records are counted in an index alone.
COUNTED = {"user", "client"}

COLUMNS = """
    SELECT relname::text, attname::text, format_type(atttypid, atttypmod), coalesce(collname::text, '')
    FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
        LEFT JOIN pg_collation ON pg_collation.oid = attcollation
    WHERE relnamespace = 'identity'::regnamespace AND relkind = 'r' AND attnum > 0 AND NOT attisdropped
"""
INDEXES = """
    SELECT tables.relname::text, indexes.relname::text, indisunique
    FROM pg_index JOIN pg_class AS indexes ON indexes.oid = indexrelid
        JOIN pg_class AS tables ON tables.oid = indrelid
    WHERE tables.relnamespace = 'identity'::regnamespace
"""


def kinds() -> Iterator[Kind[Any]]:
    for module in pkgutil.walk_packages(identity.__path__, "identity."):
        if module.name not in COMPOSITION_ROOTS:
            yield from (
                found
                for found in vars(importlib.import_module(module.name)).values()
                if isinstance(found, Kind)
            )


KINDS: Mapping[str, Kind[Any]] = {kind.name: kind for kind in kinds()}


@pytest.fixture(scope="session")
def identity_dsn(postgres_dsn: str) -> str:
    return asyncio.run(migrated_database(postgres_dsn, "identity_tables"))


def columns(kind: Kind[Any]) -> Iterator[tuple[str, str, str, str]]:
    for name, found_type in zip(OWN_COLUMNS, OWN_TYPES, strict=True):
        yield kind.name, name, found_type, "C" if found_type == "text" else ""
    for field in (*kind.unique, *kind.indexed):
        yield kind.name, field, "text[]" if holds_many(kind.type, field) else "text", "C"
    for field in kind.derived:
        found_type = "text[]" if is_list(kind, field) else TYPES.get(type_of(kind, field), "text")
        yield kind.name, field, found_type, "C" if found_type.startswith("text") else ""
    for field in kind.words:
        yield kind.name, field, "tsvector", ""
    if kind.scheduled:
        yield kind.name, kind.scheduled, "timestamp with time zone", ""


def type_of(kind: Kind[Any], field: str) -> object:
    """Return the type of a field or a property, without None."""
    hints = get_type_hints(kind.type)
    hint = hints.get(field) or get_type_hints(getattr(kind.type, field).fget)["return"]
    return next((option for option in get_args(hint) if option is not NoneType), hint)


def is_list(kind: Kind[Any], field: str) -> bool:
    """Whether a derived attribute is a field with texts; properties are one text."""
    return field in get_type_hints(kind.type) and holds_many(kind.type, field)


def indexes(kind: Kind[Any]) -> Iterator[tuple[str, str, bool]]:
    yield kind.name, f"{kind.name}_pkey", True
    yield kind.name, f"{kind.name}_expires_at", False
    for field in (*kind.unique, *kind.indexed):
        yield kind.name, f"{kind.name}_{field}", field in kind.unique
    for field in kind.derived:
        suffix = "_missing" if field in kind.ordered else ""
        yield kind.name, f"{kind.name}_{field}{suffix}", False
    for field in kind.ordered:
        yield kind.name, f"{kind.name}_{field}_start", False
    for field in kind.words:
        yield kind.name, f"{kind.name}_{field}", False
    for path in kind.owner_paths:
        yield kind.name, f"{kind.name}_{path.replace('.', '_')}", False
    if kind.scheduled:
        yield kind.name, f"{kind.name}_{kind.scheduled}", False
    if kind.name in COUNTED:
        yield kind.name, f"{kind.name}_lives", False


async def rows(dsn: str, text: str) -> set[tuple[Any, ...]]:
    connection = await asyncpg.connect(dsn)
    try:
        return {tuple(row) for row in await connection.fetch(text)}
    finally:
        await connection.close()


async def test_tables_have_a_column_for_each_field_that_records_are_found_by(identity_dsn: str) -> None:
    assert {column for kind in KINDS.values() for column in columns(kind)} == await rows(
        identity_dsn, COLUMNS
    )


@pytest.mark.parametrize(
    ("name", "path"), [(kind.name, path) for kind in KINDS.values() for path in kind.owner_paths]
)
async def test_an_index_finds_records_by_their_owner(identity_dsn: str, name: str, path: str) -> None:
    statement = Statements.of(KINDS[name], frozenset()).find[path]
    connection = await asyncpg.connect(identity_dsn)
    try:
        await connection.execute("SET enable_seqscan = off")
        arguments = ("acme", "x", SystemClock().now(), 1)
        prepared = await connection.prepare(statement)
        plan = str(await prepared.explain(*arguments))
    finally:
        await connection.close()

    assert f"{name}_{path.replace('.', '_')}" in plan


# Of the tenant, of images, which have an owner themselves, ids that other programs gave, and names that end so.
OTHER_IDS = {
    *("tenant_id", "logo_id", "picture_id", "image_id"),
    *("external_id", "remote_id", "rp_id", "resource_id", "attr_include_id"),
}


def naming_fields(kind: Kind[Any]) -> Iterator[str]:
    """Return the fields of a kind that seem to hold the id of another record."""
    for field in fields(kind.type):
        if field.name.endswith("_id") and field.name not in OTHER_IDS:
            yield field.name
        if field.name in {"owner", "holder", "application"}:
            yield field.name


@pytest.mark.parametrize("name", sorted(KINDS))
def test_a_field_that_names_another_record_is_declared(name: str) -> None:
    kind = KINDS[name]
    declared = {owner.field for owner in kind.owners} | {*kind.outlives}

    undeclared = {field for field in naming_fields(kind) if field not in declared}

    # A link is found by its user; its holder is the user together with the usage.
    assert undeclared == ({"holder"} if name == "link" else set())


@pytest.mark.parametrize("name", sorted(KINDS))
def test_owners_and_what_a_record_outlives_exist(name: str) -> None:
    kind = KINDS[name]
    known = {field.name for field in fields(kind.type)}
    named = {owner.field for owner in kind.owners} | {*kind.outlives, kind.named_by}

    assert {owner.kind for owner in kind.owners} <= KINDS.keys()
    assert {field.split(".")[0] for field in named} <= known


def test_a_kind_without_a_word_about_its_owners_is_refused() -> None:
    with pytest.raises(TypeError, match="owners"):
        Kind(Record, "thing")  # type: ignore[call-arg]  # what is missing is the point


async def test_columns_that_records_are_found_by_have_an_index(identity_dsn: str) -> None:
    assert {index for kind in KINDS.values() for index in indexes(kind)} == await rows(identity_dsn, INDEXES)


def test_names_of_kinds_are_there_once() -> None:
    assert len({id(kind) for kind in kinds()}) == len(KINDS)


@pytest.mark.parametrize("name", sorted(KINDS))
async def test_every_statement_of_a_kind_runs(identity_dsn: str, name: str) -> None:
    kind = KINDS[name]
    tenant_id, clock = TenantId("acme"), SystemClock()
    async with open_pool(identity_dsn, 1) as pool:
        records = PostgresRecordStore(PooledDatabase(pool), clock).of(kind)

        assert await records.page(tenant_id) == []
        for field in (*kind.unique, *kind.indexed, *kind.owner_paths, "id"):
            assert await records.find(tenant_id, field, "x") == []
            assert await records.remove(tenant_id, field, "x") == 0
        if kind.scheduled:
            assert await records.due(tenant_id, clock.now(), most=1) == []
            assert await records.due_tenants(clock.now()) == []
        assert await records.remove_expired() == 0
