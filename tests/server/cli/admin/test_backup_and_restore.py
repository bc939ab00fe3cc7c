import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from server.cli.admin.dsn import with_database
from server.platform.postgres.pool import open_pool
from server.platform.postgres.pooled import PooledDatabase
from server.store.ports import LeaseLost
from server.store.postgres.ledger import PostgresLedger
from tests.server.cli.admin.conftest import Operator, execute, operator_of, value
from tests.server.store.postgres.deployment import STATEMENT_SECONDS, Owner, owner

LIVE = "SELECT count(*) FROM gnomon.document"
POSITION = "SELECT position FROM gnomon.partition WHERE partition_id = 1"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "gnomon.dump"


@asynccontextmanager
async def load(owner: Owner) -> AsyncIterator[None]:
    """Process instances are started and go on, for as long as the block runs."""

    async def work() -> None:
        while True:
            await owner.start()
            await owner.complete()

    working = asyncio.ensure_future(work())
    try:
        yield
    finally:
        working.cancel()
        await asyncio.wait((working,))


async def test_what_was_backed_up_under_load_is_whole_and_goes_on_elsewhere(
    operator: Operator, empty: Operator, file: Path
) -> None:
    async with open_pool(operator.dsn, 2) as pool, owner(operator.dsn, pool, 1) as loaded:
        before = await value(operator.dsn, LIVE)
        async with load(loaded):
            backed_up = (await asyncio.to_thread(operator, "backup", str(file), "--json")).json
    restored = (await asyncio.to_thread(empty, "restore", str(file), "--json")).json
    found = await value(empty.dsn, LIVE)
    verified = await asyncio.to_thread(empty, "verify", "--json")
    async with (
        open_pool(empty.dsn, 2) as pool,
        owner(empty.dsn, pool, 1) as first,
        owner(empty.dsn, pool, 2) as second,
    ):
        await second.catch_up()
        await first.start()
        await first.finish()
        await second.finish()
        # The homes of messages close the subscriptions of what has ended.
        await first.catch_up()
        await second.catch_up()
    finished = await asyncio.to_thread(empty, "verify")

    assert backed_up["backup"]["size"] > 0
    assert [row["owner"] for row in restored["items"]] == [None, None]
    assert isinstance(found, int)
    assert isinstance(before, int)
    assert found >= before
    assert verified.exit_code == 0, verified.output
    assert await value(empty.dsn, LIVE) == 0
    assert finished.exit_code == 0, finished.output


async def test_an_owner_from_before_the_backup_commits_nothing_to_what_was_restored(
    operator: Operator, empty: Operator, file: Path
) -> None:
    async with open_pool(operator.dsn, 2) as pool, owner(operator.dsn, pool, 1) as former:
        await former.start()
        await asyncio.to_thread(operator, "backup", str(file))
        await asyncio.to_thread(empty, "restore", str(file))
    position = await value(empty.dsn, POSITION)
    assert isinstance(position, int)

    async with open_pool(empty.dsn, 1) as pool:
        # As if its database had been put in the place of the one that it knows.
        lease = replace(former.lease, position=position)
        async with PostgresLedger(
            empty.dsn, lease, database=PooledDatabase(pool), statement_seconds=STATEMENT_SECONDS
        ) as ledger:
            with pytest.raises(LeaseLost):
                await Owner(lease, former.state, ledger).start()

    assert await value(empty.dsn, POSITION) == position


def test_keys_that_were_given_after_the_backup_are_not_given_again(
    operator: Operator, empty: Operator, file: Path
) -> None:
    operator("backup", str(file))

    async def lost() -> int:
        async with open_pool(operator.dsn, 2) as pool, owner(operator.dsn, pool, 1) as goes_on:
            return await goes_on.start()

    async def next_one() -> int:
        async with open_pool(empty.dsn, 2) as pool, owner(empty.dsn, pool, 1) as begins_anew:
            return await begins_anew.start()

    key = asyncio.run(lost())
    empty("restore", str(file))

    assert asyncio.run(next_one()) > key


def test_only_its_owner_reads_a_backup(operator: Operator, file: Path) -> None:
    operator("backup", str(file))

    assert file.stat().st_mode & 0o777 == 0o600
    assert list(file.parent.iterdir()) == [file]


def test_a_backup_replaces_no_file(operator: Operator, file: Path) -> None:
    file.write_text("yesterday's")

    ended = operator("backup", str(file))

    assert (ended.exit_code, ended.output) == (2, "")
    assert f"expected no file {file}" in ended.errors
    assert file.read_text() == "yesterday's"


def test_a_backup_that_fails_leaves_no_file(empty: Operator, file: Path) -> None:
    ended = empty("backup", str(file))

    assert (ended.exit_code, ended.output) == (1, "")
    assert "not a backup of a deployment" in ended.errors
    assert list(file.parent.iterdir()) == []


def test_a_database_in_use_is_not_restored_into(operator: Operator, file: Path) -> None:
    operator("backup", str(file))

    ended = operator("restore", str(file))

    assert (ended.exit_code, ended.output) == (1, "")
    assert "is not empty" in ended.errors
    assert operator("verify").exit_code == 0


def test_a_backup_is_restored_beside_the_database_that_is_in_use(operator: Operator, file: Path) -> None:
    operator("backup", str(file))
    other = operator_of(with_database(operator.dsn, "beside"))

    restored = operator("restore", str(file), "--into", "beside", "--json")
    again = operator("restore", str(file), "--into", "beside")
    verified = other("verify")
    asyncio.run(execute(operator.dsn, "DROP DATABASE beside"))

    assert [row["partitionId"] for row in restored.json["items"]] == [1, 2]
    assert again.exit_code == 1
    assert "already exists" in again.errors
    assert verified.exit_code == 0


def test_a_database_that_was_made_for_a_restore_that_fails_is_gone_again(
    operator: Operator, file: Path
) -> None:
    operator("backup", str(file))
    content = file.read_bytes()
    file.write_bytes(content[: len(content) * 9 // 10])

    ended = operator("restore", str(file), "--into", "half")

    assert (ended.exit_code, ended.output) == (1, "")
    found = asyncio.run(value(operator.dsn, "SELECT count(*) FROM pg_database WHERE datname = 'half'"))
    assert found == 0


@pytest.mark.parametrize(
    ("name", "content", "exit_code"),
    [
        pytest.param("nothing.dump", None, 2, id="no file"),
        pytest.param("text.dump", b"SELECT 1", 1, id="something else"),
    ],
)
def test_what_is_no_backup_is_not_restored(
    empty: Operator, tmp_path: Path, name: str, content: bytes | None, exit_code: int
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)

    ended = empty("restore", str(tmp_path / name))

    assert (ended.exit_code, ended.output) == (exit_code, "")
    assert len(ended.errors.splitlines()) == 1


def test_a_name_that_needs_quotes_is_refused(operator: Operator, file: Path) -> None:
    operator("backup", str(file))

    ended = operator("restore", str(file), "--into", "a; DROP TABLE b")

    assert (ended.exit_code, ended.output) == (2, "")
