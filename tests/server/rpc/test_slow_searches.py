"""Commands beside searches that the database does not answer."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta

import asyncpg
import grpc
import pytest
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status

from server.bpmn.builder import process
from server.platform.channels import LocalChannel
from server.platform.dispatch import Dispatcher
from server.platform.errors import QuotaExhausted
from server.platform.interceptors import interceptors
from server.platform.search_places import SearchesConfig, SearchPlaces
from tests.server.rpc.caller import Caller
from tests.server.rpc.conftest import NewEngine, authenticate, direct
from tests.waits import until, until_so

ORDER = process("order").service_task("charge", type="charge").end()
CONNECTIONS = 4
"""Connections for searches in `bundled`."""
SEARCHES = 2 * CONNECTIONS

_ARE_WAITING = """
    SELECT count(*) >= $1 FROM pg_locks
    WHERE NOT granted AND relation = 'runtime.cluster_variable'::regclass
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""


ONE_AT_A_TIME = SearchesConfig(max_user_running=1, wait_seconds=0)


@pytest.fixture
async def caller(bundled_engine: NewEngine) -> AsyncIterator[Caller]:
    async with bundled_engine() as running:
        dispatcher = Dispatcher(running.engine.servicers, interceptors(running.mode, authenticate))
        yield Caller(LocalChannel(dispatcher))


@asynccontextmanager
async def slow_searches(
    caller: Caller, dsn: str, count: int = SEARCHES
) -> AsyncIterator[list["asyncio.Task[object]"]]:
    """Searches of cluster variables, of which each connection for searches runs one during the block."""
    async with AsyncExitStack() as stack:
        connection = await asyncpg.connect(dsn)
        stack.push_async_callback(connection.close)
        async with connection.transaction():
            await connection.execute("LOCK TABLE runtime.cluster_variable IN ACCESS EXCLUSIVE MODE")
            found = [asyncio.ensure_future(caller("SearchClusterVariables")) for _ in range(count)]
            await until_so(lambda: connection.fetchval(_ARE_WAITING, min(count, CONNECTIONS)))
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


async def test_a_user_who_searches_too_much_is_refused_and_told_when_to_come_back(
    bundled_engine: NewEngine, durable_dsn: str
) -> None:
    async with bundled_engine() as running:
        dispatcher = Dispatcher(
            running.engine.servicers,
            interceptors(running.mode, authenticate),
            searches=SearchPlaces(ONE_AT_A_TIME),
        )
        async with direct(dispatcher) as channel:
            caller = Caller(channel)
            await caller.deploy(ORDER)
            async with slow_searches(caller, durable_dsn, 1) as (search,):
                with pytest.raises(QuotaExhausted) as refusal:
                    await caller("SearchVariables")
                others = await caller.signed_in_as("stranger")("SearchVariables")
                started = await caller.start("order")

                assert refusal.value.metadata == {"retry_after_secs": "1"}
                assert refused_for(refusal.value.__cause__) == timedelta(seconds=1)
                assert (len(others.items), started > 0, search.done()) == (0, True, False)

            await search
            await caller("SearchVariables")


def refused_for(failure: BaseException | None) -> timedelta:
    """The time that a gRPC client is asked to wait."""
    assert isinstance(failure, grpc.aio.AioRpcError)
    assert failure.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    packed = dict(failure.trailing_metadata() or ())["grpc-status-details-bin"]
    status, found = Status.FromString(bytes(packed)), RetryInfo()  # type: ignore[arg-type]  # binary metadata
    assert any(detail.Unpack(found) for detail in status.details)
    return found.retry_delay.ToTimedelta()
