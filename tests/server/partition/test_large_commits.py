"""Large bodies stop no partition: a commit that the database gives up ends with an answer, and the others go on."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import asyncpg
import pytest

from server.app import DurableEngine, durable_engine
from server.bpmn.builder import process
from server.config import EngineConfig
from server.engine import deployment_commands
from server.engine.answers import CreatedInstance
from server.partition.config import ClusterConfig, PartitionConfig
from server.partition.origin import Origin
from server.platform.errors import ResourceExhausted, Unavailable
from server.platform.postgres.config import DatabaseConfig
from server.platform.sockets import free_port
from server.store.ports import PartitionId
from tests.durable import emptied
from tests.server.engine.scenario import resource
from tests.server.partition.harness import creation
from tests.waits import PATIENCE_SECONDS, until_so

HOST = "127.0.0.1"
ORIGIN = Origin("default", "client", "r-1")
BODIES = 60
BODY = f'"{"x" * 1_000_000}"'
# Every attempt counts, also one that is rolled back.
SLOWLY = """
    CREATE SEQUENCE attempts;
    CREATE FUNCTION slowly() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        PERFORM nextval('attempts'), pg_sleep(600);
        RETURN NEW;
    END $$;
    CREATE TRIGGER slowly BEFORE INSERT ON runtime.variable FOR EACH ROW
    WHEN (NEW.name = 'slow') EXECUTE FUNCTION slowly();
"""
NO_MORE = "DROP FUNCTION slowly CASCADE; DROP SEQUENCE attempts"


@asynccontextmanager
async def serving(dsn: str, seconds: float) -> AsyncIterator[DurableEngine]:
    """A process with one partition, whose statements may take this long."""
    async with emptied(dsn, connections=1):
        pass
    cluster = ClusterConfig(
        node_id="a", host=HOST, port=free_port(HOST), secret="s", poll_seconds=0.05, lease_seconds=2.0
    )
    config = EngineConfig(
        cluster=cluster,
        partition=PartitionConfig(commit_seconds=seconds, statement_seconds=seconds),
        database=DatabaseConfig(dsn=dsn, pool_connections=4),
    )
    async with durable_engine(config) as engine, asyncio.TaskGroup() as tasks:
        running = tasks.create_task(engine.run())
        await engine.ready()
        order = resource(process("order").service_task("a", type="a").end())
        await engine.router.submit(deployment_commands.DeployResources("default", (order,)), ORIGIN)
        yield engine
        engine.stop()
        await asyncio.wait((running,), timeout=PATIENCE_SECONDS)
        running.cancel()


async def start(engine: DurableEngine, **variables: str) -> CreatedInstance:
    answer = await engine.router.submit(creation(variables), ORIGIN)
    assert isinstance(answer, CreatedInstance)
    return answer


async def outcome_of(engine: DurableEngine, **variables: str) -> CreatedInstance | Exception:
    try:
        return await start(engine, **variables)
    except (Unavailable, ResourceExhausted) as refusal:
        return refusal


async def until_started(engine: DurableEngine) -> None:
    async def is_started() -> bool:
        return isinstance(await outcome_of(engine), CreatedInstance)

    await until_so(is_started)


async def test_many_large_bodies_at_once_stop_no_partition(durable_dsn: str) -> None:
    """Together they take longer than a statement may, each alone does not."""
    async with serving(durable_dsn, seconds=1.0) as engine:
        async with asyncio.timeout(PATIENCE_SECONDS):
            outcomes = await asyncio.gather(*(outcome_of(engine, v=BODY) for _ in range(BODIES)))
            await until_started(engine)

        assert any(isinstance(outcome, CreatedInstance) for outcome in outcomes)


@pytest.fixture
async def slow_dsn(durable_dsn: str) -> AsyncIterator[str]:
    """A database in which a variable named `slow` is never written in time."""
    connection = await asyncpg.connect(durable_dsn)
    await connection.execute(SLOWLY)
    yield durable_dsn
    await connection.execute(NO_MORE)
    await connection.close()


async def test_a_commit_that_the_database_gives_up_is_not_repeated_and_others_go_on(slow_dsn: str) -> None:
    async with serving(slow_dsn, seconds=0.5) as engine:
        outcome = await outcome_of(engine, slow="1")
        await until_started(engine)

        assert engine.node.find_local(PartitionId(1)).partition.is_careful
        connection = await asyncpg.connect(slow_dsn)
        attempts = await connection.fetchval("SELECT last_value FROM attempts")
        left = await connection.fetchval("SELECT count(*) FROM runtime.variable WHERE name = 'slow'")
        await connection.close()

    assert isinstance(outcome, Unavailable)
    assert (attempts, left) == (1, 0)
