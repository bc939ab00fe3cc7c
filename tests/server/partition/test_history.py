"""Process instances that have ended move to history in a moment, and can be read all along."""

from collections.abc import AsyncIterator
from datetime import timedelta

import asyncpg
import pytest

from server.bpmn.builder import process
from server.engine import deployment_commands, process_instance_commands
from server.engine.answers import CreatedInstance
from server.engine.keys import Key
from server.partition.local import LocalPartition
from server.store.entities import ProcessInstance, ProcessInstanceState
from server.store.postgres.reads import PostgresStore
from tests.server.engine.scenario import resource
from tests.server.partition.durable import Deployment, deployment
from tests.server.partition.harness import creation
from tests.waits import until, until_so


async def started(local: LocalPartition, *builders: deployment_commands.Resource) -> Key:
    await local.submit(deployment_commands.DeployResources("default", builders))
    answer = await local.submit(creation())
    assert isinstance(answer, CreatedInstance)
    return answer.head.key


async def counts(deployed: Deployment) -> tuple[int, int]:
    """Process instances among the live and in history."""
    text = "SELECT (SELECT count(*) FROM {0}.process_instance), (SELECT count(*) FROM {1}.process_instance)"
    (row,) = await deployed.pool.fetch(text.format("runtime", "history"))
    return tuple(row)


async def test_what_has_ended_is_moved_and_reads_the_same(durable_dsn: str) -> None:
    async with deployment(durable_dsn) as deployed, deployed.open() as local:
        store = PostgresStore(deployed.pool)
        key = await started(local, resource(process("order").end()))
        before = await store.get(ProcessInstance, key, tenant_id="default")

        async def is_moved() -> bool:
            return await counts(deployed) == (0, 1)

        await until_so(is_moved)

        assert before is not None
        assert before.state is ProcessInstanceState.COMPLETED
        assert await store.get(ProcessInstance, key, tenant_id="default") == before


@pytest.mark.parametrize("weeks", [0, 1, 60])
async def test_history_has_room_whenever_something_ends(durable_dsn: str, weeks: int) -> None:
    """Its tables are by the week, and those of most weeks are not there yet."""
    async with deployment(durable_dsn) as deployed, deployed.open() as local:
        deployed.clock.advance(timedelta(weeks=weeks))
        key = await started(local, resource(process("order").service_task("a", type="a").end()))
        live = await counts(deployed)

        await local.submit(process_instance_commands.CancelProcessInstance("default", key))

        async def is_moved() -> bool:
            return await counts(deployed) == (0, 1)

        await until_so(is_moved)
        assert live == (1, 0)


REFUSING = """
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        RAISE EXCEPTION 'no';
    END $$;
    CREATE TRIGGER refuse BEFORE INSERT ON history.process_instance FOR EACH ROW
    WHEN (NEW.process_definition_id = 'odd') EXECUTE FUNCTION refuse();
"""


@pytest.fixture
async def refusing_dsn(durable_dsn: str) -> AsyncIterator[str]:
    """A database whose history takes no process instance of the process `odd`."""
    connection = await asyncpg.connect(durable_dsn)
    await connection.execute(REFUSING)
    yield durable_dsn
    await connection.execute("DROP FUNCTION refuse CASCADE")
    await connection.close()


async def test_an_instance_that_cannot_be_moved_keeps_no_other_from_history(
    refusing_dsn: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with deployment(refusing_dsn) as deployed, deployed.open() as local:
        models = tuple(resource(process(name).end()) for name in ("odd", "order"))
        await local.submit(deployment_commands.DeployResources("default", models))
        for name in ("order", "odd", "order", "order"):
            await local.submit(creation(process_id=name))

        async def is_moved() -> bool:
            return await counts(deployed) == (1, 3)

        await until_so(is_moved)

        await until(lambda: "cannot be moved to history" in caplog.text)
        assert local.partition.is_open
