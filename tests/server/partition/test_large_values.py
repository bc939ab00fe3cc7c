"""Commands beside large values write, in either store, little more than what they changed."""

from collections.abc import Mapping, Sequence

import asyncpg

from server.bpmn.builder import process
from server.engine import deployment_commands
from server.engine.answers import CreatedInstance
from server.engine.keys import Key
from server.engine.pages import LARGE_OCTETS
from server.partition.config import PartitionConfig
from server.store.ports import Batch
from tests.server.engine.scenario import resource
from tests.server.partition.durable import deployment
from tests.server.partition.harness import Serving, activation, completion_of, creation

FEW_OCTETS = 4_096
REPORT = f'"{"x" * (1 << 20)}"'
LETTER = f'"{"y" * 100_000}"'
NOTES = [f'"{str(number) * LARGE_OCTETS}"' for number in range(5)]
ORDER = process("order").service_task("a", type="a").service_task("b", type="b").end()
SMALL = PartitionConfig(max_loaded_instances=1)


def octets_of(batches: Sequence[Batch]) -> int:
    return sum(
        len(page.content)
        for batch in batches
        for pages in batch.documents.values()
        for page in (pages or {}).values()
        if page is not None
    )


async def test_jobs_of_an_instance_with_a_large_value_are_committed_without_it(serving: Serving) -> None:
    async with serving() as served:
        await served.deploy(ORDER)
        await served.start(report=REPORT, total="5")
        begun = len(served.store.batches)

        (job,) = (await served.submit(activation())).jobs
        await served.submit(completion_of(job.key))

        assert job.variables == {"report": REPORT, "total": "5"}
        assert 0 < octets_of(served.store.batches[begun:]) < 2 * FEW_OCTETS


Rows = Mapping[int, tuple[int, int]]


async def rows_of(pool: asyncpg.Pool, key: Key) -> Rows:
    """Of each page of a process instance: the transaction that wrote it, and the octets."""
    text = "SELECT page, xmin::text::bigint, octet_length(content) FROM gnomon.document WHERE key = $1"
    return {row[0]: (row[1], row[2]) for row in await pool.fetch(text, key)}


def rewritten(before: Rows, after: Rows) -> int:
    """The octets of the pages that were written meanwhile."""
    return sum(row[1] for page, row in after.items() if before.get(page) != row)


async def test_postgresql_rewrites_only_the_pages_that_changed(durable_dsn: str) -> None:
    async with deployment(durable_dsn) as deployed, deployed.open() as local:
        await local.submit(deployment_commands.DeployResources("default", (resource(ORDER),)))
        created = await local.submit(creation({"report": REPORT}))
        assert isinstance(created, CreatedInstance)
        started = await rows_of(deployed.pool, created.head.key)

        (job,) = (await local.activate(activation(), 0)).jobs
        activated = await rows_of(deployed.pool, created.head.key)
        await local.submit(completion_of(job.key))
        completed = await rows_of(deployed.pool, created.head.key)

    assert sum(row[1] for row in started.values()) > len(REPORT)
    assert 0 < rewritten(started, activated) < FEW_OCTETS
    assert 0 < rewritten(activated, completed) < FEW_OCTETS


async def test_large_values_are_there_after_an_instance_left_memory_and_its_partition_moved(
    durable_dsn: str,
) -> None:
    async with deployment(durable_dsn, config=SMALL, quota=10) as deployed:
        async with deployed.open() as local:
            await local.submit(deployment_commands.DeployResources("default", (resource(ORDER),)))
            for notes in NOTES:
                await local.submit(creation({"letter": LETTER, "notes": notes}))
            jobs = (await local.activate(activation(2), 0)).jobs
            for job in jobs:
                await local.submit(completion_of(job.key))

        async with deployed.open() as local:
            left = (await local.activate(activation(10), 0)).jobs
            following = (await local.activate(activation(10, job_type="b"), 0)).jobs

    found = [dict(job.variables) for job in (*following, *left)]
    assert found == [{"letter": LETTER, "notes": notes} for notes in NOTES]
