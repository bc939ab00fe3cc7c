"""Batch operations with items in several partitions, each of which may die between any two commits."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from types import MappingProxyType

from server.bpmn.builder import process
from server.engine import batch_commands, decision_commands, deployment_commands, process_instance_commands
from server.engine.answers import BatchOperationCreated, CreatedInstance, DecisionResult
from server.engine.batch_operations import BatchAction, BatchItem, BatchOperationType
from server.engine.handlers.batch_operation import ITEMS_AT_ONCE
from server.engine.keys import Key
from server.partition.local import LocalPartition
from server.partition.origin import Origin
from tests.server.engine.graphs import DISCOUNT, graph
from tests.server.engine.scenario import resource
from tests.server.partition.durable import Deployment, deployment
from tests.waits import until_so

WAITING = resource(process("order").user_task("ship").end())
ORIGIN = Origin("default", actor_id="ann", request_id="r-1")
MOST_CRASHES = 20
CANCEL = BatchAction(BatchOperationType.CANCEL_PROCESS_INSTANCE)
DELETE_DECISIONS = BatchAction(BatchOperationType.DELETE_DECISION_INSTANCE)
PRICING = graph(*DISCOUNT)
DELETE = BatchAction(BatchOperationType.DELETE_PROCESS_INSTANCE)
ERASE = BatchAction(BatchOperationType.ERASE_VARIABLES)
SECRET = "secret-of-the-customer"


class Pair:
    """Two partitions that run the same process; the first one leads batch operations."""

    def __init__(self, deployed: Deployment, first: LocalPartition, second: LocalPartition) -> None:
        self.deployed, self.first, self.second = deployed, first, second

    async def start(
        self, partition: LocalPartition, count: int, variables: Mapping[str, str] = MappingProxyType({})
    ) -> list[Key]:
        command = process_instance_commands.CreateProcessInstance(
            tenant_id="default", process_definition_id="order", variables=variables
        )
        answers = [await partition.submit(command) for _ in range(count)]
        return [answer.head.key for answer in answers if isinstance(answer, CreatedInstance)]

    async def evaluate(self, partition: LocalPartition, count: int) -> list[Key]:
        asked = {"customer": '"regular"', "amount": "120"}
        command = decision_commands.EvaluateDecision(
            tenant_id="default", decision_definition_id="discount", variables=asked
        )
        answers = [await partition.submit(command) for _ in range(count)]
        return [answer.evaluation.key for answer in answers if isinstance(answer, DecisionResult)]

    async def begin(self, keys: Sequence[Key], action: BatchAction = CANCEL) -> Key:
        return await self.begin_with([BatchItem(key, key, key) for key in keys], action)

    async def begin_with(self, items: Sequence[BatchItem], action: BatchAction) -> Key:
        answer = await self.first.submit(batch_commands.CreateBatchOperation("default", action), ORIGIN)
        assert isinstance(answer, BatchOperationCreated)
        await self.first.submit(batch_commands.AddBatchItems("default", answer.key, tuple(items)))
        await self.first.submit(batch_commands.StartBatchOperation("default", answer.key))
        return answer.key

    @property
    def running(self) -> int:
        return sum(len(each.partition.state.instances) for each in (self.first, self.second))


@asynccontextmanager
async def opened(deployed: Deployment) -> AsyncIterator[Pair]:
    async with deployed.open(1) as first, deployed.open(2) as second:
        yield Pair(deployed, first, second)


async def deploy(deployed: Deployment) -> None:
    async with opened(deployed) as both:
        await both.first.submit(deployment_commands.DeployResources("default", (WAITING,)))
        await both.second.catch_up()


async def states(deployed: Deployment) -> tuple[str, dict[str, int]]:
    """Of the only batch operation, and how many of its items have which."""
    state = await deployed.pool.fetchval("SELECT state FROM gnomon.batch_operation")
    text = "SELECT state, count(*) FROM gnomon.batch_operation_item GROUP BY state"
    return state, dict(await deployed.pool.fetch(text))


async def test_a_crash_between_any_two_commits_loses_and_doubles_nothing(durable_dsn: str) -> None:
    """Both partitions end after each step, and their next owners recover what is in documents and the outbox."""
    count = ITEMS_AT_ONCE + 2
    async with deployment(durable_dsn, 2, quota=4 * count) as deployed:
        await deploy(deployed)
        async with opened(deployed) as both:
            here, there = await both.start(both.first, 3), await both.start(both.second, count)
        async with opened(deployed) as both:
            await both.begin([*here, *there])
        for _ in range(MOST_CRASHES):
            async with opened(deployed) as both:
                await both.second.catch_up()
            async with opened(deployed) as both:
                await both.first.catch_up()
            if (await states(deployed))[0] == "COMPLETED":
                break

        async with opened(deployed) as both:
            assert both.running == 0
            assert both.first.partition.state.batches.operations == {}
        assert await states(deployed) == ("COMPLETED", {"COMPLETED": count + 3})
        text = """
            SELECT count(*), count(DISTINCT entity_key), min(actor_id), min(batch_operation_type)
            FROM gnomon.audit_entry WHERE entity_type = 'PROCESS_INSTANCE' AND operation_type = 'CANCEL'
        """
        audited = await deployed.pool.fetchrow(text)
        assert tuple(audited) == (count + 3, count + 3, "ann", "CANCEL_PROCESS_INSTANCE")
        text = """
            SELECT actor_id, batch_operation_type, count(DISTINCT entity_key) FROM gnomon.audit_entry
            WHERE entity_type = 'USER_TASK' AND operation_type = 'CANCEL' GROUP BY 1, 2
        """
        (audited,) = await deployed.pool.fetch(text)
        assert tuple(audited) == ("ann", "CANCEL_PROCESS_INSTANCE", count + 3)


async def test_a_crash_between_any_two_commits_deletes_each_history_once(durable_dsn: str) -> None:
    count = ITEMS_AT_ONCE + 2
    async with deployment(durable_dsn, 2, quota=4 * count) as deployed:
        await deploy(deployed)
        async with opened(deployed) as both:
            here, there = await both.start(both.first, 3), await both.start(both.second, count)
            for partition, keys in ((both.first, here[1:]), (both.second, there)):
                for key in keys:
                    await partition.submit(process_instance_commands.CancelProcessInstance("default", key))
        async with opened(deployed) as both:
            await both.begin([*here, *there], DELETE)
        for _ in range(MOST_CRASHES):
            async with opened(deployed) as both:
                await both.second.catch_up()
            async with opened(deployed) as both:
                await both.first.catch_up()
            if (await states(deployed))[0] == "COMPLETED":
                break

        async with opened(deployed):

            async def is_deleted() -> bool:
                return not await deployed.pool.fetch("SELECT FROM gnomon.history_deletion")

            await until_so(is_deleted)
        assert await states(deployed) == ("COMPLETED", {"COMPLETED": count + 2, "FAILED": 1})
        for table in ("process_instance", "element_instance", "user_task"):
            text = f"SELECT DISTINCT process_instance_key FROM gnomon.{table}"  # noqa: S608  # names of ours
            assert [row[0] for row in await deployed.pool.fetch(text)] == here[:1]
        text = """
            SELECT count(*), count(DISTINCT entity_key), min(batch_operation_type)
            FROM gnomon.audit_entry WHERE operation_type = 'DELETE' AND result = 'SUCCESS'
        """
        assert tuple(await deployed.pool.fetchrow(text)) == (count + 2, count + 2, "DELETE_PROCESS_INSTANCE")


async def test_a_crash_between_any_two_commits_leaves_no_value_of_an_erased_variable(
    durable_dsn: str,
) -> None:
    count = ITEMS_AT_ONCE + 2
    async with deployment(durable_dsn, 2, quota=4 * count) as deployed:
        await deploy(deployed)
        secret = {"customer": f'"{SECRET}"'}
        async with opened(deployed) as both:
            here = await both.start(both.first, 3, secret)
            there = await both.start(both.second, count, secret)
            for partition, keys in ((both.first, here[1:]), (both.second, there[1:])):
                for key in keys:
                    await partition.submit(process_instance_commands.CancelProcessInstance("default", key))
        assert await tables_with(SECRET, deployed)
        async with opened(deployed) as both:
            await both.begin([*here, *there], ERASE)
        for _ in range(MOST_CRASHES):
            async with opened(deployed) as both:
                await both.second.catch_up()
            async with opened(deployed) as both:
                await both.first.catch_up()
            if (await states(deployed))[0] == "COMPLETED":
                break

        async with opened(deployed):

            async def is_erased() -> bool:
                return not await deployed.pool.fetch("SELECT FROM gnomon.variable_erasure")

            await until_so(is_erased)
        assert await states(deployed) == ("COMPLETED", {"COMPLETED": count + 3})
        assert await tables_with(SECRET, deployed) == []
        values = await deployed.pool.fetch("SELECT value, count(*) FROM gnomon.variable GROUP BY value")
        assert dict(values) == {"null": 2, '"[erased]"': count + 1}
        text = """
            SELECT count(*), count(DISTINCT process_instance_key), min(actor_id), min(batch_operation_type)
            FROM gnomon.audit_entry WHERE entity_type = 'VARIABLE' AND operation_type = 'DELETE'
        """
        assert tuple(await deployed.pool.fetchrow(text)) == (count + 3, count + 3, "ann", "ERASE_VARIABLES")


async def tables_with(text: str, deployed: Deployment) -> list[str]:
    """The tables with a row that contains the text."""
    found = await deployed.pool.fetch(
        "SELECT schemaname || '.' || tablename FROM pg_tables WHERE schemaname IN ('gnomon', 'runtime', 'history')"
    )
    octets = text.encode().hex()
    condition = f"row::text LIKE '%{text}%' OR row::text LIKE '%{octets}%'"
    return [
        table
        for (table,) in found
        if await deployed.pool.fetch(f"SELECT FROM {table} AS row WHERE {condition} LIMIT 1")  # ours
    ]


async def test_a_crash_between_any_two_commits_deletes_each_evaluation_once(durable_dsn: str) -> None:
    count = ITEMS_AT_ONCE + 2
    async with deployment(durable_dsn, 2, quota=4 * count) as deployed:
        async with opened(deployed) as both:
            await both.first.submit(deployment_commands.DeployResources("default", (), (PRICING,)))
            await both.second.catch_up()
            here, there = await both.evaluate(both.first, 3), await both.evaluate(both.second, count)
        async with opened(deployed) as both:
            await both.begin_with(
                [BatchItem(key, None, last_place=2) for key in (*here[1:], *there)], DELETE_DECISIONS
            )
        for _ in range(MOST_CRASHES):
            async with opened(deployed) as both:
                await both.second.catch_up()
            async with opened(deployed) as both:
                await both.first.catch_up()
            if (await states(deployed))[0] == "COMPLETED":
                break

        assert await states(deployed) == ("COMPLETED", {"COMPLETED": count + 2})
        text = "SELECT decision_evaluation_key, count(*) FROM gnomon.decision_instance GROUP BY 1"
        assert [tuple(row) for row in await deployed.pool.fetch(text)] == [(here[0], 2)]
        text = """
            SELECT count(*), count(DISTINCT entity_key), min(batch_operation_type)
            FROM gnomon.audit_entry WHERE entity_type = 'DECISION' AND operation_type = 'DELETE'
        """
        audited = await deployed.pool.fetchrow(text)
        assert tuple(audited) == (count + 2, count + 2, "DELETE_DECISION_INSTANCE")


async def test_a_suspended_batch_operation_is_suspended_after_its_partition_died(durable_dsn: str) -> None:
    count = ITEMS_AT_ONCE + 2
    async with deployment(durable_dsn, 2, quota=4 * count) as deployed:
        await deploy(deployed)
        async with opened(deployed) as both:
            key = await both.begin(await both.start(both.second, count))
            await both.first.submit(batch_commands.SuspendBatchOperation("default", key))
        async with opened(deployed) as both:
            await both.second.catch_up()
            await both.first.catch_up()
        async with opened(deployed) as both:
            assert await states(deployed) == ("SUSPENDED", {"COMPLETED": ITEMS_AT_ONCE, "ACTIVE": 2})

            await both.first.submit(batch_commands.ResumeBatchOperation("default", key))
            await both.first.partition.settle()
            await both.second.catch_up()
            await both.first.catch_up()

            assert await states(deployed) == ("COMPLETED", {"COMPLETED": count})
