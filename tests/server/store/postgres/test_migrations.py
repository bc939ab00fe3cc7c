"""The schema comes in numbered steps, each once, whoever is at it."""

import asyncio
from pathlib import Path

import asyncpg
import pytest

from server.platform.postgres.migrations import MigrationError, migrate, pending
from server.platform.postgres.pool import open_pool
from server.platform.postgres.pooled import PooledDatabase
from server.store.entities import Entity
from server.store.postgres.columns import TABLES
from tests.server.store.durable import schemas_of
from tests.server.store.postgres.ledgers import MIGRATIONS, somebody_waits_for_a_lock, until

FIRST = "CREATE TABLE thing (key bigint PRIMARY KEY);"
SECOND = "ALTER TABLE thing ADD COLUMN name text; INSERT INTO thing VALUES (1, 'one');"
ADDITIVE = (
    "-- Additive: older programs name the columns that they write.\nALTER TABLE thing ADD COLUMN size bigint;"
)
NUMBERS = tuple(range(1, len(list(Path(str(MIGRATIONS)).glob("*.sql"))) + 1))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path, **{"0001_things": FIRST, "0002_names": SECOND})
    (tmp_path / "README").write_text("no migration")
    return tmp_path


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        (folder / f"{name}.sql").write_text(text)


async def things(dsn: str) -> list[tuple[object, ...]]:
    connection = await asyncpg.connect(dsn)
    try:
        return [tuple(row) for row in await connection.fetch("SELECT * FROM thing")]
    finally:
        await connection.close()


async def test_an_empty_database_gets_all_of_them_and_then_none(empty_dsn: str, folder: Path) -> None:
    assert await pending(empty_dsn, folder) == (1, 2)
    assert await migrate(empty_dsn, folder) == (1, 2)
    assert await pending(empty_dsn, folder) == ()
    assert await migrate(empty_dsn, folder) == ()
    assert await things(empty_dsn) == [(1, "one")]


async def test_a_database_gets_what_it_lacks(empty_dsn: str, folder: Path) -> None:
    await migrate(empty_dsn, folder)
    write(folder, **{"0003_more": "INSERT INTO thing VALUES (2, 'two')"})

    assert await pending(empty_dsn, folder) == (3,)
    assert await migrate(empty_dsn, folder) == (3,)

    assert await things(empty_dsn) == [(1, "one"), (2, "two")]


async def test_nodes_that_start_at_once_apply_each_of_them_once(empty_dsn: str, folder: Path) -> None:
    applied = await asyncio.gather(*(migrate(empty_dsn, folder) for _ in range(6)))

    assert sorted(number for numbers in applied for number in numbers) == [1, 2]
    assert await things(empty_dsn) == [(1, "one")]


async def test_a_node_waits_while_another_one_is_at_it(empty_dsn: str, folder: Path) -> None:
    await migrate(empty_dsn, folder)
    write(folder, **{"0003_more": "INSERT INTO thing VALUES (2, 'two')"})
    other = await asyncpg.connect(empty_dsn)
    async with open_pool(empty_dsn, 1) as pool, asyncio.TaskGroup() as tasks, other.transaction():
        await other.execute("LOCK TABLE gnomon_migration IN SHARE ROW EXCLUSIVE MODE")
        migrating = tasks.create_task(migrate(empty_dsn, folder))
        await until(lambda: somebody_waits_for_a_lock(PooledDatabase(pool)))

        assert not migrating.done()
    await other.close()

    assert migrating.result() == (3,)


async def test_a_migration_that_fails_leaves_those_before_it_and_nothing_of_its_own(
    empty_dsn: str, folder: Path
) -> None:
    write(folder, **{"0003_bad": "INSERT INTO thing VALUES (2, 'two'); INSERT INTO nothing VALUES (1)"})

    with pytest.raises(MigrationError, match='0003_bad failed: relation "nothing" does not exist'):
        await migrate(empty_dsn, folder)

    assert await things(empty_dsn) == [(1, "one")]
    assert await pending(empty_dsn, folder) == (3,)


async def test_a_file_that_changed_after_it_was_applied_is_refused(empty_dsn: str, folder: Path) -> None:
    await migrate(empty_dsn, folder)
    write(folder, **{"0001_things": FIRST + " -- harmless"})

    for refused in (migrate, pending):
        with pytest.raises(MigrationError, match="0001_things is not what was applied as 0001_things"):
            await refused(empty_dsn, folder)


async def test_a_database_that_is_newer_than_the_program_is_refused(empty_dsn: str, folder: Path) -> None:
    await migrate(empty_dsn, folder)
    (folder / "0002_names.sql").unlink()

    for refused in (migrate, pending):
        with pytest.raises(MigrationError, match=r"newer than the program.*found 0002_names"):
            await refused(empty_dsn, folder)


async def test_a_program_lives_with_additive_migrations_that_it_does_not_have(
    empty_dsn: str, folder: Path
) -> None:
    write(folder, **{"0003_more": ADDITIVE})
    assert await migrate(empty_dsn, folder) == (1, 2, 3)

    (folder / "0003_more.sql").unlink()

    assert await pending(empty_dsn, folder) == ()
    assert await migrate(empty_dsn, folder) == ()


async def test_a_program_from_before_additive_migrations_does_not_see_them(
    empty_dsn: str, folder: Path
) -> None:
    write(folder, **{"0003_more": ADDITIVE})

    await migrate(empty_dsn, folder)

    connection = await asyncpg.connect(empty_dsn)
    found = await connection.fetch("SELECT number FROM gnomon_migration ORDER BY number")
    await connection.close()
    assert [row[0] for row in found] == [1, 2]


async def test_additive_migrations_never_change_either(empty_dsn: str, folder: Path) -> None:
    write(folder, **{"0003_more": ADDITIVE})
    await migrate(empty_dsn, folder)
    write(folder, **{"0003_more": ADDITIVE + " -- harmless"})

    for refused in (migrate, pending):
        with pytest.raises(MigrationError, match="0003_more is not what was applied as 0003_more"):
            await refused(empty_dsn, folder)


async def test_an_additive_migration_may_come_before_one_that_is_lacking(
    empty_dsn: str, folder: Path
) -> None:
    write(folder, **{"0003_more": ADDITIVE})
    await migrate(empty_dsn, folder)
    write(folder, **{"0004_last": "INSERT INTO thing VALUES (4, 'four')"})

    assert await pending(empty_dsn, folder) == (4,)
    assert await migrate(empty_dsn, folder) == (4,)


@pytest.mark.parametrize(
    "name", ["0004_gap", "0002_twice", "3_short", "00003_long", "0003-dash", "third", "0003_"]
)
async def test_files_are_numbered_without_gaps(empty_dsn: str, folder: Path, name: str) -> None:
    write(folder, **{name: "SELECT 1"})

    with pytest.raises(MigrationError, match=r"expected a file 000\d_name.sql, found .*\.sql"):
        await migrate(empty_dsn, folder)

    assert await pending_is_untouched(empty_dsn)


async def pending_is_untouched(dsn: str) -> bool:
    connection = await asyncpg.connect(dsn)
    try:
        untouched: bool = await connection.fetchval("SELECT to_regclass('gnomon_migration') IS NULL")
        return untouched
    finally:
        await connection.close()


async def test_the_programs_own_migrations_apply_to_an_empty_database(empty_dsn: str) -> None:
    assert await migrate(empty_dsn, MIGRATIONS) == NUMBERS


@pytest.mark.parametrize("entity", TABLES)
async def test_every_field_has_its_column_in_every_table_of_its_entity(
    database: PooledDatabase, entity: type[Entity]
) -> None:
    table = TABLES[entity]
    text = """
        SELECT table_schema, array_agg(column_name::text ORDER BY column_name COLLATE "C")
        FROM information_schema.columns
        WHERE table_name = $1 AND table_schema IN ('runtime', 'history') GROUP BY 1
    """

    found = dict(await database.fetch(text, table.name))

    names = {"partition_id", *entity.__struct_fields__}
    expected = {"runtime": sorted(names), "history": sorted([*names, "bucket"])}
    assert found == {schema: expected[schema] for schema in schemas_of(entity)}
