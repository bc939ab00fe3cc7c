"""Rows of deleted process instances leave PostgreSQL while their partition has an owner."""

import asyncio
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, cast

import pytest

from server.bpmn.builder import process
from server.engine import deployment_commands, process_instance_commands
from server.engine.answers import CreatedInstance
from server.engine.keys import Key
from server.partition.durable import Deleted
from server.partition.local import LocalPartition
from server.partition.origin import Origin
from server.platform.errors import Unavailable
from server.store.entities import ProcessInstance
from server.store.postgres.reads import PostgresStore
from tests.server.engine.scenario import resource
from tests.server.partition.durable import Deployment, deployment
from tests.server.partition.harness import Harness, Serving, creation
from tests.waits import until_so

if TYPE_CHECKING:
    from server.store.postgres.deletions import Deletions

ORIGIN = Origin("default", actor_id="ann", request_id="r-1")
TABLES = ("process_instance", "element_instance", "job", "variable")


async def ended(local: LocalPartition) -> Key:
    order = process("order").service_task("ship", type="ship").end()
    await local.submit(deployment_commands.DeployResources("default", (resource(order),)))
    answer = await local.submit(creation(), ORIGIN)
    assert isinstance(answer, CreatedInstance)
    await local.submit(process_instance_commands.CancelProcessInstance("default", answer.head.key), ORIGIN)
    return answer.head.key


def deletion(key: Key) -> process_instance_commands.DeleteProcessInstance:
    return process_instance_commands.DeleteProcessInstance("default", key, is_stored=True)


async def rows(deployed: Deployment) -> int:
    counts = [f"(SELECT count(*) FROM gnomon.{table})" for table in TABLES]  # noqa: S608  # names of ours
    return int(await deployed.pool.fetchval(f"SELECT {' + '.join(counts)}"))


async def test_a_deleted_process_instance_is_not_found_from_the_answer_on(durable_dsn: str) -> None:
    async with deployment(durable_dsn) as deployed, deployed.open() as local:
        key = await ended(local)

        await local.submit(deletion(key), ORIGIN)

        store = PostgresStore(deployed.pool)
        assert await store.get(ProcessInstance, key, tenant_id="default") is None
        assert await rows(deployed) == 0


async def test_the_next_owner_deletes_what_the_last_one_left(durable_dsn: str) -> None:
    async with deployment(durable_dsn) as deployed:
        async with deployed.open() as local:
            key = await ended(local)
        text = """
            INSERT INTO gnomon.history_deletion (partition_id, process_instance_key, tenant_id)
            VALUES (1, $1, 'default')
        """
        await deployed.pool.execute(text, key)
        assert await rows(deployed) > 0

        async with deployed.open():

            async def is_gone() -> bool:
                return not await rows(deployed)

            await until_so(is_gone)


async def test_the_audit_log_stays(durable_dsn: str) -> None:
    async with deployment(durable_dsn) as deployed, deployed.open() as local:
        key = await ended(local)

        await local.submit(deletion(key), ORIGIN)

        text = "SELECT operation_type FROM gnomon.audit_entry WHERE entity_key = $1 ORDER BY audit_entry_key"
        kept = await deployed.pool.fetch(text, key)
        assert [row[0] for row in kept] == ["CREATE", "CANCEL", "DELETE"]


class FailingDeletions:
    """Each of the first calls fails."""

    def __init__(self, failures: int) -> None:
        self.failures = failures

    async def hide(self) -> int:
        if self.failures:
            self.failures -= 1
            raise Unavailable("the database is away")
        return 0

    async def delete_some(self) -> bool:
        return False


@pytest.fixture
async def harness(in_memory: Serving) -> AsyncIterator[Harness]:
    async with in_memory() as harness:
        yield harness


def deleted(harness: Harness, failures: int) -> Deleted:
    return Deleted(harness.partition, cast("Deletions", FailingDeletions(failures)))


@pytest.mark.parametrize("failures", [0, 1])
async def test_who_waits_for_a_deletion_waits_until_the_database_answers(
    harness: Harness, failures: int
) -> None:
    deletions = deleted(harness, failures)
    waiting = asyncio.ensure_future(deletions.hidden())
    running = asyncio.ensure_future(deletions.run())

    await waiting

    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


async def test_who_waits_for_a_deletion_has_an_answer_when_the_partition_ends(harness: Harness) -> None:
    deletions = deleted(harness, 1_000_000)
    waiting = asyncio.ensure_future(deletions.hidden())
    running = asyncio.ensure_future(deletions.run())
    await asyncio.sleep(0)
    assert not waiting.done()

    running.cancel()
    await asyncio.gather(running, return_exceptions=True)

    await waiting
    await deletions.hidden()
