"""A deployment reaches every partition once, also those that are away when it comes."""

import asyncpg

from server.bpmn.builder import process
from server.engine import deployment_commands
from server.engine.answers import CreatedInstance
from server.partition.local import LocalPartition
from server.store.ports import EVERY_OTHER_PARTITION
from tests.server.engine.scenario import resource
from tests.server.partition.durable import deployment
from tests.server.partition.harness import creation

FIRST = resource(process("order").service_task("a", type="a").end())
SECOND = resource(process("order").service_task("b", type="b").end())


async def deploy(local: LocalPartition, *resources: deployment_commands.Resource) -> None:
    await local.submit(deployment_commands.DeployResources("default", resources))


async def version(local: LocalPartition) -> int:
    """Of the process instance that is started there."""
    answer = await local.submit(creation())
    assert isinstance(answer, CreatedInstance)
    return answer.head.version


async def waiting(pool: asyncpg.Pool) -> dict[int, int]:
    """Commands on their way, by target."""
    return dict(await pool.fetch("SELECT target, count(*) FROM gnomon.outbox GROUP BY target"))


async def test_a_partition_that_catches_up_knows_what_was_deployed(durable_dsn: str) -> None:
    async with deployment(durable_dsn, 3) as deployed, deployed.open(1) as first, deployed.open(2) as second:
        await deploy(first, FIRST)

        await second.catch_up()

        assert await version(second) == 1
        assert await waiting(deployed.pool) == {3: 1}


async def test_what_was_sent_is_reported_with_its_commit_and_by_the_next_owner(durable_dsn: str) -> None:
    async with deployment(durable_dsn, 3) as deployed:
        async with deployed.open(1) as first, deployed.open(2) as second:
            await deploy(first, FIRST)
            await second.catch_up()
            reported = set(deployed.sent)

        deployed.sent.clear()
        async with deployed.open(1):
            pass

    assert reported == {(1, EVERY_OTHER_PARTITION)}
    assert deployed.sent == [(1, 3)]


async def test_a_partition_that_was_away_knows_it_when_it_comes(durable_dsn: str) -> None:
    async with deployment(durable_dsn, 3) as deployed, deployed.open(1) as first:
        await deploy(first, FIRST)
        await deploy(first, SECOND)

        async with deployed.open(2) as second:
            assert await version(second) == 2
            await second.catch_up()
            assert await waiting(deployed.pool) == {3: 2}


async def test_a_definition_is_taken_in_once_whatever_tells_of_it(durable_dsn: str) -> None:
    """The outbox, the documents at a recovery, and both again at the next one."""
    async with deployment(durable_dsn, 2) as deployed:
        async with deployed.open(1) as first, deployed.open(2) as second:
            await deploy(first, FIRST)
            await second.catch_up()
            await second.catch_up()
            live = second.partition.state
        async with deployed.open(1) as first:
            await deploy(first, SECOND)
        async with deployed.open(2) as second:
            await second.catch_up()
            state = second.partition.state

    assert [len(keys) for keys in live.versions.values()] == [1]
    assert [len(keys) for keys in state.versions.values()] == [2]
    assert len(state.definitions) == 2


async def test_what_reads_see_of_a_definition_is_one_row(durable_dsn: str) -> None:
    async with deployment(durable_dsn, 3) as deployed:
        async with deployed.open(1) as first, deployed.open(2) as second, deployed.open(3) as third:
            await deploy(first, FIRST)
            await second.catch_up()
            await third.catch_up()

        rows = await deployed.pool.fetch("SELECT partition_id, version FROM gnomon.process_definition")
        assert [tuple(row) for row in rows] == [(1, 1)]
        assert await waiting(deployed.pool) == {}


async def test_what_was_not_committed_is_carried_out_by_the_next_owner(durable_dsn: str) -> None:
    async with deployment(durable_dsn, 2) as deployed:
        async with deployed.open(1) as first:
            await deploy(first, FIRST)
        before = await waiting(deployed.pool)

        async with deployed.open(2) as second:
            known = await version(second)
            await second.partition.settle()

        assert (before, known) == ({2: 1}, 1)
        assert await waiting(deployed.pool) == {}
