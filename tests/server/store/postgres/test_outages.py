"""Commits while the database crashes, freezes and comes back: each counts once, and is acknowledged."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path

import pytest

from server.platform.errors import Unavailable
from server.platform.postgres.bundled import bundled_postgres
from server.platform.postgres.config import DatabaseConfig
from server.platform.postgres.database import Database
from server.platform.postgres.migrations import migrate
from server.platform.postgres.pool import open_pool
from server.platform.postgres.pooled import PooledDatabase
from server.store.postgres.leases import Leases
from tests.postgres import open_directory, server_process
from tests.server.store.postgres.ledgers import (
    MIGRATIONS,
    PARTITION,
    PARTITIONS,
    batch_of,
    has_reached,
    instance_keys,
    ledger_of,
    position,
    taken,
    until,
)

COMMITS = 40
SHORT_SECONDS = 0.5


class CrashingServer:
    """A server that is ended the hard way and started again, where it was and with what it had."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._running = ExitStack()

    def start(self) -> str:
        config = DatabaseConfig(data_directory=self._directory)
        return self._running.enter_context(bundled_postgres(config))

    def crash(self) -> None:
        os.kill(server_process(self._directory), signal.SIGKILL)
        self.end()

    def end(self) -> None:
        self._running.close()


@pytest.fixture
def server() -> Iterator[CrashingServer]:
    with open_directory() as directory:
        made = CrashingServer(directory)
        try:
            yield made
        finally:
            made.end()


@asynccontextmanager
async def prepared(dsn: str) -> AsyncIterator[Database]:
    await migrate(dsn, MIGRATIONS)
    async with open_pool(dsn, 2) as pool:
        await Leases(PooledDatabase(pool)).create_partitions(PARTITIONS)
        yield PooledDatabase(pool)


async def backend_of(database: Database) -> int:
    """The process that serves the ledger's connection."""
    text = "SELECT pid FROM pg_stat_activity WHERE application_name = $1"
    found = await database.fetch(text, f"gnomon partition {PARTITION}")
    return int(found[0][0])


async def test_every_batch_counts_once_while_the_server_crashes_and_comes_back(
    server: CrashingServer,
) -> None:
    dsn = server.start()
    async with prepared(dsn) as database:
        lease = await taken(database)
        async with ledger_of(dsn, lease, database) as ledger:

            async def commit_all() -> None:
                for key in range(1, COMMITS + 1):
                    await ledger.commit(batch_of(key))

            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(commit_all())
                for crash_at in (COMMITS // 4, COMMITS // 2):
                    await until(lambda crash_at=crash_at: has_reached(database, crash_at))  # type: ignore[misc]
                    server.crash()
                    assert dsn == server.start()

            # Another connection may yet find out that its server crashed.
            await until(lambda: has_reached(database, COMMITS))
        assert await instance_keys(database) == list(range(1, COMMITS + 1))
        assert await position(database) == (lease.epoch, COMMITS)


async def test_a_commit_waits_for_a_server_that_is_away(server: CrashingServer) -> None:
    dsn = server.start()
    async with prepared(dsn) as database:
        lease = await taken(database)
        async with ledger_of(dsn, lease, database) as ledger:
            await ledger.commit(batch_of(1))
            server.crash()
            async with asyncio.TaskGroup() as tasks:
                commit = tasks.create_task(ledger.commit(batch_of(2)))
                for _ in range(5):
                    with pytest.raises(Unavailable):
                        await ledger.documents([])
                assert not commit.done()
                server.start()

        assert await instance_keys(database) == [1, 2]


async def test_a_commit_that_a_frozen_server_keeps_is_sent_again_and_counts_once(
    dsn: str, database: PooledDatabase
) -> None:
    lease = await taken(database)
    async with ledger_of(dsn, lease, database, seconds=SHORT_SECONDS) as ledger:
        await ledger.commit(batch_of(1))
        frozen = await backend_of(database)
        os.kill(frozen, signal.SIGSTOP)
        try:
            await ledger.commit(batch_of(2))
        finally:
            os.kill(frozen, signal.SIGCONT)
        await until(lambda: is_gone(database, frozen))
        await ledger.commit(batch_of(3))

    assert await instance_keys(database) == [1, 2, 3]
    assert await position(database) == (lease.epoch, 3)


async def is_gone(database: Database, pid: int) -> bool:
    return not await database.fetch("SELECT FROM pg_stat_activity WHERE pid = $1", pid)
