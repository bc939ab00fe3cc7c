"""Removals of tenants from partitions, each of which may die between any two commits."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from datetime import timedelta

import pytest

from server.bpmn.builder import process
from server.engine import (
    answers,
    cluster_variable_commands,
    decision_commands,
    global_task_listener_commands,
    job_commands,
    message_commands,
    process_instance_commands,
    signal_commands,
)
from server.engine.answers import ActivatedJob, CreatedInstance
from server.engine.commands import Command
from server.engine.keys import Key
from server.engine.tenant_commands import PurgeTenant
from server.engine.tenants import definitions_of, documents_of
from server.partition.config import PartitionConfig
from server.partition.deployments import prepared
from server.partition.idempotency import IdempotencyKey
from server.partition.local import LocalPartition
from server.partition.origin import Origin
from server.partition.tenant_removals import Listed, Removal, RemovalReport, TenantRemovals
from server.platform.errors import NotFound
from server.platform.postgres.pooled import PooledDatabase
from server.store.config import DocumentsConfig
from server.store.entities import AuditEntry, AuditResult, ProcessInstance
from server.store.ports import RemovalProgress
from server.store.postgres.reads import PostgresStore
from server.store.postgres.stored_documents import PostgresDocuments
from server.store.postgres.tenant_rows import PostgresTenantRows
from server.store.searchables import SEARCHABLES
from server.store.stored_documents import StoredDocument
from tests.durable import EPOCH
from tests.server.engine.form_files import form_json
from tests.server.engine.graphs import DISCOUNT, graph_xml
from tests.server.engine.scenario import texts
from tests.server.partition.durable import Deployment, deployment
from tests.waits import until, until_so

ACME, UMBRELLA = "acme", "umbrella"
HOUR = timedelta(hours=1)
REMOVAL = Removal(ACME, 7)
ORDER = (
    process("order").parallel_gateway("fork")
    .service_task("charge", type="charge").end()
    .branch("fork").timer_catch("wait", duration="PT1H").service_task("late", type="late").end()
    .branch("fork").message_catch("paid", message="paid", key="=id").end()
    .branch("fork").user_task("approve").execution_listener("end", type="listen").end()
    .to_xml()
)  # fmt: skip
SHORT = process("short").end().to_xml()

# Every table with a tenant that is no view.
TENANT_TABLES = """
    SELECT c.table_schema || '.' || c.table_name FROM information_schema.columns AS c
    JOIN information_schema.tables AS t USING (table_schema, table_name)
    WHERE c.column_name = 'tenant_id' AND t.table_type = 'BASE TABLE'
"""


def origin(tenant_id: str, key: str = "") -> Origin:
    idempotency = IdempotencyKey(tenant_id, key, b"hash") if key else None
    return Origin(tenant_id, actor_id="ann", request_id="r-1", idempotency=idempotency)


class Cluster:
    """Partitions of one process, with everything that a tenant may have."""

    def __init__(self, deployed: Deployment, partitions: Sequence[LocalPartition]) -> None:
        self.deployed, self.partitions = deployed, partitions
        self.rows = PostgresTenantRows(PooledDatabase(deployed.pool))
        self.removals = TenantRemovals(lambda: partitions, self.rows)

    @property
    def first(self) -> LocalPartition:
        return self.partitions[0]

    async def use(self, tenant_id: str) -> Key:
        """Let the tenant have something in every table; returns a running process instance."""
        files = [
            ("order.bpmn", ORDER),
            ("short.bpmn", SHORT),
            ("pricing.dmn", graph_xml(*DISCOUNT)),
            ("form.form", form_json()),
            ("notes.txt", b"notes"),
        ]
        await self.submit(prepared(tenant_id, files), key="deploy")
        variables = texts({"id": "1", "card": "secret"})
        running = [await self.start(tenant_id, "order", variables, each) for each in self.partitions]
        await self.start(tenant_id, "short", {}, self.first)
        amount = {"customer": '"regular"', "amount": "120"}
        for command in (
            decision_commands.EvaluateDecision(
                tenant_id=tenant_id, decision_definition_id="discount", variables=amount
            ),
            message_commands.PublishMessage(
                tenant_id=tenant_id, name="later", correlation_key="9", time_to_live=HOUR
            ),
            cluster_variable_commands.CreateClusterVariable(tenant_id, "rate", "3"),
            global_task_listener_commands.CreateGlobalTaskListener(tenant_id, "all", "told", ("all",)),
        ):
            await self.submit(command)
        await self.catch_up()
        await self._store_document(tenant_id)
        return running[0]

    async def _store_document(self, tenant_id: str) -> None:
        documents = PostgresDocuments(PooledDatabase(self.deployed.pool), DocumentsConfig())
        document = StoredDocument(
            tenant_id=tenant_id,
            document_id="contract",
            content_type="text/plain",
            file_name="contract.txt",
            content_hash="",
            size=5,
            created_at=EPOCH,
            link_id=tenant_id.encode(),
            link_key=b"key",
        )
        await documents.add(document, b"terms", EPOCH)

    async def submit(self, command: Command, *, key: str = "") -> object:
        return await self.first.submit(command, origin(command.tenant_id, key))  # type: ignore[union-attr]  # of one tenant

    async def start(
        self, tenant_id: str, process_id: str, variables: dict[str, str], at: LocalPartition
    ) -> Key:
        command = process_instance_commands.CreateProcessInstance(
            tenant_id=tenant_id, process_definition_id=process_id, variables=variables
        )
        await self.catch_up()
        answer = await at.submit(command, origin(tenant_id))
        assert isinstance(answer, CreatedInstance)
        return answer.head.key

    async def catch_up(self) -> None:
        for each in self.partitions:
            await each.catch_up()

    async def jobs_of(self, tenant_id: str) -> Sequence[ActivatedJob]:
        found = [await each.activate(activation(tenant_id, "charge"), 0) for each in self.partitions]
        return [job for answer in found for job in answer.jobs]

    async def round(self, *listed: Removal) -> Sequence[RemovalReport]:
        return await self.removals.advance(listing(*listed))

    async def clear(self, removal: Removal = REMOVAL) -> None:
        """Rounds until nothing is left."""
        while not (await self.round(replace(removal, is_settled=True)))[0].is_done:
            pass

    async def release(self, removal: Removal = REMOVAL) -> None:
        while not (await self.round(replace(removal, is_releasing=True)))[0].is_done:
            pass

    async def kept_of(self, tenant_id: str) -> Counter[str]:
        """The number of rows of each kind, whether they have moved to history or not."""
        found: Counter[str] = Counter()
        for table, count in (await self.rows_of(tenant_id)).items():
            # The table of all weeks of history counts the rows of each week.
            if "_2" not in table:
                found[table.partition(".")[2]] += count
        return found

    async def rows_of(self, tenant_id: str) -> dict[str, int]:
        """The number of rows of a tenant in each table that has some."""
        tables = [row[0] for row in await self.deployed.pool.fetch(TENANT_TABLES)]
        counts = (
            f"SELECT '{table}', count(*) FROM {table} WHERE tenant_id = $1"  # noqa: S608  # names of the schema
            for table in tables
        )
        # One snapshot, because rows move to history at any time.
        found = await self.deployed.pool.fetch(" UNION ALL ".join(counts), tenant_id)
        return {table: count for table, count in found if count}


def listing(*removals: Removal) -> Listed:
    async def listed() -> Sequence[Removal]:
        return removals

    return listed


def entry_of(tenant_id: str) -> AuditEntry:
    return AuditEntry(
        tenant_id=tenant_id,
        timestamp=EPOCH,
        operation_type="CREATE",
        result=AuditResult.FAIL,
        actor_type="USER",
        actor_id="ann",
        entity_type="PROCESS_INSTANCE",
        request_id="r-2",
    )


def activation(tenant_id: str, job_type: str) -> job_commands.ActivateJobs:
    return job_commands.ActivateJobs(tenant_id=tenant_id, type=job_type, worker="w", max_jobs=9, timeout=HOUR)


def purge_of(local: LocalPartition) -> PurgeTenant:
    return PurgeTenant(ACME, tuple(documents_of(local.partition.state, ACME)))


@asynccontextmanager
async def opened(deployed: Deployment, count: int) -> AsyncIterator[Cluster]:
    async with AsyncExitStack() as stack:
        numbers = range(1, count + 1)
        yield Cluster(deployed, [await stack.enter_async_context(deployed.open(each)) for each in numbers])


@asynccontextmanager
async def cluster(dsn: str, count: int = 2) -> AsyncIterator[Cluster]:
    async with deployment(dsn, partitions=count, quota=100) as deployed, opened(deployed, count) as found:
        yield found


async def test_nothing_of_a_removed_tenant_is_left_and_everything_of_others(durable_dsn: str) -> None:
    async with cluster(durable_dsn) as found:
        await found.use(ACME)
        await found.use(UMBRELLA)
        before = await found.kept_of(UMBRELLA)
        assert await found.kept_of(ACME) == before

        await found.clear()
        await found.release()

        assert await found.rows_of(ACME) == {}
        assert await found.kept_of(UMBRELLA) == before
        for each in found.partitions:
            assert not [
                *documents_of(each.partition.state, ACME),
                *definitions_of(each.partition.state, ACME),
            ]
            assert len(each.partition.state.instances) == 1


async def test_the_history_of_a_removed_tenant_goes_with_it(durable_dsn: str) -> None:
    async with cluster(durable_dsn, 1) as found:
        await found.use(ACME)

        async def has_history() -> bool:
            return "history.process_instance" in await found.rows_of(ACME)

        await until_so(has_history)

        await found.clear()
        await found.release()

        assert await found.rows_of(ACME) == {}
        weeks = "SELECT coalesce(sum(arrived - dropped), 0) FROM history.arrivals"
        assert await found.deployed.pool.fetchval(weeks) == 0


async def test_a_successor_begins_with_nothing(durable_dsn: str) -> None:
    async with cluster(durable_dsn) as found:
        former = await found.use(ACME)
        store = PostgresStore(found.deployed.pool)
        for entity in SEARCHABLES:
            await store.search(entity, SEARCHABLES[entity].query(), tenant_id=ACME)

        await found.clear()
        await found.release()

        assert await store.get(ProcessInstance, former, tenant_id=ACME) is None
        for entity in SEARCHABLES:
            page = await store.search(entity, SEARCHABLES[entity].query(), tenant_id=ACME)
            assert (list(page.items), page.total) == ([], 0)
        assert await found.jobs_of(ACME) == []
        deployed = await found.submit(prepared(ACME, [("order.bpmn", ORDER)]), key="deploy")
        assert isinstance(deployed, answers.Deployment)
        assert [each.version for each in deployed.definitions] == [1]


async def test_a_partition_refuses_a_marked_tenant_and_keeps_nothing_of_the_refused(durable_dsn: str) -> None:
    async with cluster(durable_dsn, 1) as found:
        await found.use(ACME)
        await found.round(REMOVAL)
        entries = (await found.rows_of(ACME))["history.audit_entry"]

        with pytest.raises(NotFound, match="the tenant 'acme' is being removed"):
            await found.start(ACME, "order", texts({"id": "2"}), found.first)
        with pytest.raises(NotFound):
            await found.submit(prepared(ACME, [("short.bpmn", SHORT)]), key="deploy")
        await found.first.note([entry_of(ACME)])

        assert (await found.rows_of(ACME))["history.audit_entry"] == entries


async def test_timers_and_messages_of_a_marked_tenant_have_no_effect(durable_dsn: str) -> None:
    async with cluster(durable_dsn, 1) as found:
        await found.use(ACME)
        await found.round(REMOVAL)
        before = await found.kept_of(ACME)

        found.deployed.clock.advance(2 * HOUR)
        found.first.partition.clock_moved()
        await found.first.partition.settle()

        assert await found.kept_of(ACME) == before


async def test_an_activation_that_waits_ends_with_its_tenant(durable_dsn: str) -> None:
    async with cluster(durable_dsn, 1) as found:
        waiting = asyncio.ensure_future(found.first.activate(activation(ACME, "other"), 600))
        await until(lambda: found.first.waiting_activations)

        await found.round(REMOVAL)

        with pytest.raises(NotFound):
            await waiting


async def test_the_next_owners_go_on_with_a_removal(durable_dsn: str) -> None:
    async with deployment(durable_dsn, partitions=2, quota=100) as deployed:
        async with opened(deployed, 2) as found:
            await found.use(ACME)
            await found.round(REMOVAL)
        async with opened(deployed, 2) as found:
            with pytest.raises(NotFound):
                await found.start(ACME, "order", {}, found.first)
            await found.partitions[1].submit(purge_of(found.partitions[1]))
        async with opened(deployed, 2) as found:
            await found.clear()
        async with opened(deployed, 2) as found:
            await found.release()

            assert await found.rows_of(ACME) == {}


async def test_a_command_that_another_partition_sent_before_its_mark_has_no_effect(durable_dsn: str) -> None:
    async with cluster(durable_dsn) as found:
        await found.use(ACME)
        await found.submit(signal_commands.BroadcastSignal(ACME, "stop"))
        only = TenantRemovals(lambda: found.partitions[1:], found.rows)

        await only.advance(listing(REMOVAL))
        await found.first.submit(prepared(ACME, [("late.bpmn", process("late").end().to_xml())]))
        await found.clear()
        await found.release()

        assert await found.rows_of(ACME) == {}
        assert await found.deployed.pool.fetchval("SELECT count(*) FROM gnomon.outbox") == 0
        assert await found.deployed.pool.fetchval("SELECT count(*) FROM gnomon.definition_document") == 0


async def test_no_partition_is_clean_before_all_have_marked_the_tenant(durable_dsn: str) -> None:
    async with cluster(durable_dsn) as found:
        await found.use(ACME)
        only = TenantRemovals(lambda: found.partitions[:1], found.rows)

        for _ in range(3):
            (report,) = await only.advance(listing(replace(REMOVAL, is_settled=True)))

        assert not report.is_done
        assert await found.rows.progress(ACME, REMOVAL.number) == RemovalProgress(2, marked=1, clean=0)


async def test_a_partition_that_is_added_delays_the_end_until_it_has_marked_the_tenant(
    durable_dsn: str,
) -> None:
    async with deployment(durable_dsn, quota=100) as deployed, opened(deployed, 1) as found:
        await found.use(ACME)
        await found.round(REMOVAL)
        await deployed.add_partitions(2)
        for _ in range(3):
            (report,) = await found.round(replace(REMOVAL, is_settled=True))
        assert not report.is_done

        async with deployed.open(2) as second:
            found.partitions = [*found.partitions, second]
            found.removals = TenantRemovals(lambda: found.partitions, found.rows)
            await found.clear()


async def test_nothing_is_clean_before_the_removal_is_settled(durable_dsn: str) -> None:
    async with cluster(durable_dsn) as found:
        await found.use(ACME)

        reports = [(await found.round(REMOVAL))[0] for _ in range(3)]

        assert [report.is_done for report in reports] == [False] * 3
        assert reports[0].rows_left > 0
        assert (await found.rows.progress(ACME, REMOVAL.number)).clean == 0


async def test_a_round_purges_nothing_of_a_tenant_that_it_marks_itself(durable_dsn: str) -> None:
    async with cluster(durable_dsn) as found:
        await found.use(ACME)
        before = await found.kept_of(ACME)

        await found.round(replace(REMOVAL, is_settled=True))

        assert await found.kept_of(ACME) == before + Counter({"removed_tenant": 2})


async def test_a_mark_without_a_removal_is_dropped_and_its_tenant_keeps_everything(durable_dsn: str) -> None:
    async with cluster(durable_dsn) as found:
        await found.use(ACME)
        before = await found.kept_of(ACME)
        await found.round(REMOVAL)

        await found.round()

        assert await found.kept_of(ACME) == before
        assert len(await found.jobs_of(ACME)) == 2


async def test_nothing_is_marked_while_a_node_of_the_deployment_does_not_know_removals(
    durable_dsn: str,
) -> None:
    async with cluster(durable_dsn) as found:
        await found.use(ACME)
        removals = TenantRemovals(lambda: found.partitions, found.rows, lambda: False)

        for _ in range(3):
            (report,) = await removals.advance(listing(replace(REMOVAL, is_settled=True)))

        assert not report.is_done
        assert "gnomon.removed_tenant" not in await found.rows_of(ACME)


async def test_process_instances_beyond_the_loaded_ones_are_removed(durable_dsn: str) -> None:
    config = PartitionConfig(max_loaded_instances=2)
    async with deployment(durable_dsn, config=config, quota=100) as deployed, opened(deployed, 1) as found:
        await found.use(ACME)
        for number in range(40):
            await found.start(ACME, "order", texts({"id": str(number)}), found.first)
        assert found.first.partition.state.evicted

        await found.clear()

        state = found.first.partition.state
        assert (len(state.instances), len(state.evicted), len(state.owners)) == (0, 0, 0)
        assert await deployed.pool.fetchval("SELECT count(*) FROM gnomon.stored_page") == 0


async def test_a_change_of_a_common_cluster_variable_passes_a_marked_tenant_by(durable_dsn: str) -> None:
    async with cluster(durable_dsn) as found:
        rated = process("rated").condition_catch("dear", condition="=camunda.vars.cluster.rate > 5").end()
        for tenant_id in (ACME, UMBRELLA):
            await found.submit(prepared(tenant_id, [("rated.bpmn", rated.to_xml())]))
            await found.start(tenant_id, "rated", {}, found.first)
        await found.round(REMOVAL)

        command = cluster_variable_commands.CreateClusterVariable(UMBRELLA, "rate", "7", is_global=True)
        await found.submit(command)
        await found.first.partition.settle()

        running = {each.head.tenant_id for each in found.first.partition.state.instances.values()}
        assert running == {ACME}
