"""Commands beside searches that the database does not answer."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import asyncpg
import pytest

from server.bpmn.builder import process
from server.platform.channels import LocalChannel
from server.platform.dispatch import Dispatcher
from server.platform.interceptors import interceptors
from tests.server.rpc.caller import Caller
from tests.server.rpc.conftest import NewEngine, authenticate
from tests.waits import until, until_so

ORDER = process("order").service_task("charge", type="charge").end()
SEARCHES = 8
"""Twice the connections for searches."""

_ARE_WAITING = """
    SELECT count(*) >= 4 FROM pg_locks
    WHERE NOT granted AND relation = 'runtime.cluster_variable'::regclass
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""


@pytest.fixture
async def caller(bundled_engine: NewEngine) -> AsyncIterator[Caller]:
    async with bundled_engine() as running:
        dispatcher = Dispatcher(running.engine.servicers, interceptors(running.mode, authenticate))
        yield Caller(LocalChannel(dispatcher))


@asynccontextmanager
async def slow_searches(caller: Caller, dsn: str) -> AsyncIterator[list["asyncio.Task[object]"]]:
    """Searches of cluster variables, of which each connection for searches runs one during the block."""
    async with AsyncExitStack() as stack:
        connection = await asyncpg.connect(dsn)
        stack.push_async_callback(connection.close)
        async with connection.transaction():
            await connection.execute("LOCK TABLE runtime.cluster_variable IN ACCESS EXCLUSIVE MODE")
            found = [asyncio.ensure_future(caller("SearchClusterVariables")) for _ in range(SEARCHES)]
            await until_so(lambda: connection.fetchval(_ARE_WAITING))
            yield found


async def test_commands_do_not_wait_for_searches(caller: Caller, durable_dsn: str) -> None:
    await caller.deploy(ORDER)

    async with slow_searches(caller, durable_dsn) as searches:
        keyed = asyncio.ensure_future(caller.with_key("k-1").start("order"))
        await until(keyed.done)
        repeat = asyncio.ensure_future(caller.with_key("k-1").start("order"))
        plain = asyncio.ensure_future(caller.start("order"))
        await until(lambda: repeat.done() and plain.done())

        assert await repeat == await keyed != await plain
        assert not any(search.done() for search in searches)

    await asyncio.gather(*searches)


async def test_rows_by_key_and_awaited_results_do_not_wait_for_searches(
    caller: Caller, durable_dsn: str
) -> None:
    await caller.deploy(process("short").end())
    started = await caller.start("short")

    async with slow_searches(caller, durable_dsn) as searches:
        read = asyncio.ensure_future(caller("GetProcessInstance", process_instance_key=started))
        awaited = asyncio.ensure_future(
            caller("CreateProcessInstance", process_definition_id="short", await_completion=True)
        )
        await until(lambda: read.done() and awaited.done())

        assert (await read).process_instance.process_instance_key == started
        assert (await awaited).process_definition_id == "short"
        assert not any(search.done() for search in searches)

    await asyncio.gather(*searches)
