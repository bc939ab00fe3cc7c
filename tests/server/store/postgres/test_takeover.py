"""An owner that freezes keeps nobody from taking its partition, and changes nothing when it wakes up."""

import asyncio
import signal
import subprocess
import sys
from collections.abc import Awaitable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from server.platform.postgres.pooled import PooledDatabase
from server.store.ports import LeaseLost
from tests.server.store.postgres import owner
from tests.server.store.postgres.ledgers import (
    SECONDS,
    batch_of,
    has_reached,
    instance_keys,
    ledger_of,
    next_lease,
    taken,
    until,
)
from tests.server.store.postgres.proxy import proxied
from tests.server_process import killed_at_the_end

ROOT = Path(__file__).resolve().parents[4]
STATEMENT_SECONDS = 1.0


@contextmanager
def owner_process(dsn: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", owner.__name__, dsn]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    with killed_at_the_end(process):
        yield process


@pytest.mark.parametrize("commits", [1, 20, 50])
async def test_a_frozen_owner_is_succeeded_and_finds_its_lease_lost_when_it_wakes_up(
    dsn: str, database: PooledDatabase, commits: int
) -> None:
    with owner_process(dsn) as process:
        await until(lambda: has_reached(database, commits))
        process.send_signal(signal.SIGSTOP)
        lease = await next_lease(database)
        async with ledger_of(dsn, lease, database) as ledger:
            await ledger.commit(batch_of(lease.last_key + 1))
        process.send_signal(signal.SIGCONT)
        printed, _ = await asyncio.to_thread(process.communicate, timeout=SECONDS)

    first = lease.last_key - lease.position + 1
    assert int(printed) == lease.last_key
    assert await instance_keys(database) == list(range(first, lease.last_key + 2))


async def test_an_owner_that_freezes_in_the_midst_of_a_commit_is_succeeded(
    dsn: str, database: PooledDatabase
) -> None:
    lease = await taken(database)
    async with (
        proxied(dsn) as (proxy, through),
        ledger_of(through, lease, database, seconds=STATEMENT_SECONDS) as frozen,
    ):
        await frozen.commit(batch_of(1))
        proxy.hold()
        async with asyncio.TaskGroup() as tasks:
            commit = tasks.create_task(is_lost(frozen.commit(batch_of(2))))
            await proxy.held.wait()

            newer = await taken(database)
            async with ledger_of(dsn, newer, database) as ledger:
                await ledger.commit(batch_of(3))
            proxy.release()

        assert commit.result()
    assert newer.position == 1
    assert await instance_keys(database) == [1, 3]


async def is_lost(commit: Awaitable[None]) -> bool:
    try:
        await commit
    except LeaseLost:
        return True
    return False
