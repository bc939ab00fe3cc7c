"""A deployment with a past, written by partitions as they write: something of everything that they keep."""

import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from itertools import count
from typing import Any

import asyncpg

from server.bpmn.builder import process
from server.engine import (
    State,
    cluster_variable_commands,
    decision_commands,
    deployment_commands,
    global_task_listener_commands,
    job_commands,
    process_instance_commands,
    user_task_commands,
)
from server.engine.answers import ActivatedJob, ActivatedJobs, CreatedInstance
from server.engine.commands import Command
from server.engine.keys import Key
from server.engine.process_instance import JobState, ProcessInstance
from server.engine.variables import Variables
from server.partition.config import QuotaConfig
from server.partition.idempotency import IdempotencyKey
from server.partition.origin import Origin
from server.partition.quota import Quota
from server.partition.recovery import recovered
from server.partition.turn import Entry, Turn, Turns
from server.partition.wire import COMMANDS
from server.platform.audit import AuditNote
from server.platform.call import TenantId
from server.platform.clock import VirtualClock
from server.platform.errors import ServiceError
from server.platform.postgres.pooled import PooledDatabase
from server.platform.records.postgres import PostgresRecordStore
from server.store.ports import PartitionId
from server.store.postgres import recovery
from server.store.postgres.history import History
from server.store.postgres.identity_audit import IdentityAudit
from server.store.postgres.leases import Lease, Leases
from server.store.postgres.ledger import PostgresLedger
from tests.durable import EPOCH, NODE, emptied, taken
from tests.server.engine.form_files import form
from tests.server.engine.graphs import answering, graph
from tests.server.engine.resource_files import rpa
from tests.server.engine.scenario import resource

MINUTE = timedelta(minutes=1)
STATEMENT_SECONDS = 30.0
MOST_LOADED = 10_000
# More jobs than one process instance has, one after the other.
MOST_ROUNDS = 4
TENANTS = ("north", "south")

ORDER = (
    process("order")
    .service_task("charge", type="charge", inputs={"amount": "=total"})
    .service_task("ship", type="ship")
    .end()
)
TWO_AT_ONCE = (
    process("two")
    .start()
    .parallel_gateway("fork")
    .service_task("left", type="left")
    .parallel_gateway("join")
    .end()
    .branch("fork")
    .service_task("right", type="right")
    .connect_to("join")
)

ASK = (
    process("ask")
    .start()
    .user_task("ask", assignment={"assignee": "ann"})
    .end()
    .boundary_message("news", on="ask", message="news", key="=total")
    .end()
)


class Owner:
    """A partition that commits what it is told to do, one command at a time."""

    def __init__(self, lease: Lease, state: State, ledger: PostgresLedger) -> None:
        self.lease = lease
        self.state = state
        self.now = EPOCH
        self.tenant_id = TENANTS[0]
        self._ledger = ledger
        self._turns = Turns(state, Quota(QuotaConfig()))
        self._requests = count(state.last_key)

    async def do(self, command: Command) -> Any:
        """The answer, None when it is refused; asked for with an idempotency key."""
        ((_, answer),) = await self._commit(Entry(command, origin=self._origin()))
        return None if isinstance(answer, ServiceError) else answer

    async def bring(self, command: Command) -> None:
        """Commit a scheduled command."""
        await self._commit(Entry(command))

    async def catch_up(self) -> None:
        """Carry out what other partitions sent."""
        for each in await self._ledger.incoming({}, 1000):
            await self._commit(Entry(COMMANDS.unpack(each.command), incoming=each))

    async def start(self, process_id: str = "order", **variables: str) -> Key:
        command = process_instance_commands.CreateProcessInstance(
            tenant_id=self.tenant_id,
            process_definition_id=process_id,
            variables=variables or {"total": "12"},
            business_id=f"business {next(self._requests)}",
        )
        answer = await self.do(command)
        assert isinstance(answer, CreatedInstance)
        return answer.head.key

    async def activate(self, job_type: str = "charge") -> ActivatedJob:
        command = job_commands.ActivateJobs(
            tenant_id=self.tenant_id, type=job_type, worker="wörker \0", timeout=MINUTE, max_jobs=1
        )
        answer = await self.do(command)
        assert isinstance(answer, ActivatedJobs)
        return answer.jobs[0]

    async def complete(self, job_type: str = "charge", variables: Variables | None = None) -> None:
        job = await self.activate(job_type)
        await self.do(job_commands.CompleteJob(self.tenant_id, job.key, variables or {}))

    async def fail(self, retries: int = 0, back_off: timedelta = timedelta()) -> ActivatedJob:
        job = await self.activate()
        command = job_commands.FailJob(
            tenant_id=self.tenant_id, job_key=job.key, retries=retries, retry_back_off=back_off
        )
        await self.do(command)
        return job

    async def finish(self) -> None:
        """Bring every process instance to its end, whatever state it is in."""
        for _ in range(MOST_ROUNDS):
            for instance in list(self.state.instances.values()):
                await self._advance(instance)

    async def _advance(self, instance: ProcessInstance) -> None:
        tenant_id = instance.head.tenant_id
        for incident in list(instance.incidents.values()):
            update = job_commands.UpdateJob(
                tenant_id=tenant_id, job_key=incident.job_key or Key(0), retries=1
            )
            await self.do(update)
            await self.do(process_instance_commands.ResolveIncident(tenant_id, incident.key))
        for user_task_key in list(instance.user_tasks):
            await self.do(user_task_commands.CompleteUserTask(tenant_id, user_task_key))
        for job in list(instance.jobs.values()):
            if job.state is JobState.BACKING_OFF and job.due is not None:
                await self.do(job_commands.EndJobBackOff(tenant_id, job.key, job.due))
            await self.do(job_commands.CompleteJob(tenant_id, job.key))

    async def _commit(self, entry: Entry) -> list[Any]:
        turn = Turn()
        self._turns.grow(turn, [entry], now=self.now)
        self._turns.seal(turn)
        await self._ledger.commit(turn.batch)
        return turn.results

    def _origin(self) -> Origin:
        number = next(self._requests)
        key = IdempotencyKey(self.tenant_id, f"request {number}", hashlib.sha256(b"%d" % number).digest())
        return Origin(self.tenant_id, actor_id="client", request_id=f"{number}", idempotency=key)


@asynccontextmanager
async def owner(dsn: str, pool: asyncpg.Pool, partition_id: int) -> AsyncIterator[Owner]:
    """Of a partition that nobody has, as it was left."""
    database, lease = PooledDatabase(pool), await taken(pool, partition_id)
    found = await recovered(
        lease,
        recovery.definitions(database),
        recovery.documents(database, lease.partition_id),
        MOST_LOADED,
    )
    async with PostgresLedger(dsn, lease, database=database, statement_seconds=STATEMENT_SECONDS) as ledger:
        yield Owner(lease, found.state, ledger)
    await Leases(database).release(lease, NODE)


async def furnish(dsn: str) -> None:
    """Fill a database with the schema: two partitions, two tenants, and a command on its way to the second partition."""
    async with emptied(dsn, partitions=2) as pool:
        async with owner(dsn, pool, 1) as first, owner(dsn, pool, 2) as second:
            for tenant_id in TENANTS:
                await deploy(first, tenant_id)
            await second.catch_up()
            for each in (first, second):
                for each.tenant_id in TENANTS:
                    await live(each)
            for each in (first, second):
                await each.catch_up()
            await first.do(deployment_commands.DeployResources("north", (resource(ORDER, "order-3.bpmn"),)))
        await _assigned(PooledDatabase(pool))
        history = History(PooledDatabase(pool))
        for partition_id in (PartitionId(1), PartitionId(2)):
            await history.move(partition_id, await recovery.ended(PooledDatabase(pool), partition_id))
        await pool.execute("ANALYZE")


async def deploy(first: Owner, tenant_id: str) -> None:
    for builder, name in (
        (ORDER, "order.bpmn"),
        (TWO_AT_ONCE, "two.bpmn"),
        (ASK, "ask.bpmn"),
        (ORDER, "order-2.bpmn"),
    ):
        await first.do(deployment_commands.DeployResources(tenant_id, (resource(builder, name),)))
    for text in ("1", "2"):
        model = graph(answering("discount", text))
        await first.do(deployment_commands.DeployResources(tenant_id, (), (model,)))
        await first.do(
            deployment_commands.DeployResources(tenant_id, (), (), (form(title=text),), (rpa(script=text),))
        )
    await first.do(cluster_variable_commands.CreateClusterVariable(tenant_id, "rate", "1"))
    await first.do(cluster_variable_commands.UpdateClusterVariable(tenant_id, "rate", "2"))
    await first.do(
        cluster_variable_commands.CreateClusterVariable(tenant_id, f"of {tenant_id}", "1", is_global=True)
    )
    await first.do(cluster_variable_commands.CreateClusterVariable(tenant_id, "gone", "1"))
    await first.do(cluster_variable_commands.DeleteClusterVariable(tenant_id, "gone"))
    for name in ("watch", "gone"):
        await first.do(
            global_task_listener_commands.CreateGlobalTaskListener(tenant_id, name, name, ("creating",))
        )
    await first.do(
        global_task_listener_commands.UpdateGlobalTaskListener(tenant_id, "watch", "see", ("updating",))
    )
    await first.do(global_task_listener_commands.DeleteGlobalTaskListener(tenant_id, "gone"))


async def live(owner: Owner) -> None:
    """Bring a process instance into each of the states that there are; those with a job on offer come last."""
    for story in STORIES:
        owner.now += MINUTE
        await story(owner)


async def _assigned(database: PooledDatabase) -> None:
    audit = IdentityAudit(database, lambda: True)
    note = AuditNote(
        tenant_id=TenantId("north"),
        timestamp=EPOCH,
        operation_type="ASSIGN",
        actor_type="USER",
        actor_id="alice",
        entity_type="ROLE",
        entity_id="clerk",
        related_entity_type="GROUP",
        related_entity_id="staff",
        request_id="r-1",
    )
    await PostgresRecordStore(database, VirtualClock(pinned=EPOCH), audit).note(note)


async def _decided(owner: Owner) -> None:
    await owner.do(
        decision_commands.EvaluateDecision(tenant_id=owner.tenant_id, decision_definition_id="discount")
    )


async def _completed(owner: Owner) -> None:
    await owner.start("two")
    await owner.complete("left")
    await owner.complete("right")


async def _cancelled(owner: Owner) -> None:
    await owner.do(process_instance_commands.CancelProcessInstance(owner.tenant_id, await owner.start()))
    await owner.do(process_instance_commands.CancelProcessInstance(owner.tenant_id, Key(1)))


async def _cancelled_with_an_incident(owner: Owner) -> None:
    key = await owner.start()
    await owner.fail()
    await owner.do(process_instance_commands.CancelProcessInstance(owner.tenant_id, key))


async def _one_of_two_done(owner: Owner) -> None:
    await owner.start("two", text='"\\u0000 and \U0001f40d"', many='{"a": [1, 2.50]}')
    await owner.complete("left")


async def _first_of_two_done(owner: Owner) -> None:
    await owner.start()
    await owner.complete(variables={"done": '"\\u00e9"'})


async def _asked(owner: Owner) -> None:
    await owner.start("ask")


async def _activated(owner: Owner) -> None:
    await owner.start()
    job = await owner.activate()
    await owner.do(job_commands.UpdateJob(tenant_id=owner.tenant_id, job_key=job.key, retries=7))
    await owner.do(job_commands.UpdateJob(tenant_id=owner.tenant_id, job_key=job.key, timeout=2 * MINUTE))


async def _backing_off(owner: Owner) -> None:
    await owner.start()
    await owner.fail(retries=1, back_off=MINUTE)


async def _without_retries(owner: Owner) -> None:
    await owner.start()
    await owner.fail()


async def _error_thrown(owner: Owner) -> None:
    await owner.start()
    job = await owner.activate()
    await owner.do(
        job_commands.ThrowJobError(tenant_id=owner.tenant_id, job_key=job.key, error_code="declined")
    )


async def _resolved(owner: Owner) -> None:
    await owner.start()
    job = await owner.fail()
    instance = owner.state.owner_of(job.key)
    assert instance is not None
    (incident,) = instance.incidents
    await owner.do(job_commands.UpdateJob(tenant_id=owner.tenant_id, job_key=job.key, retries=3))
    await owner.do(process_instance_commands.ResolveIncident(owner.tenant_id, incident))
    await owner.complete()


async def _timed_out(owner: Owner) -> None:
    await owner.start()
    job = await owner.activate()
    await owner.bring(job_commands.TimeOutJob(owner.tenant_id, job.key, job.deadline))


async def _offered(owner: Owner) -> None:
    await owner.start()


async def _failed(owner: Owner) -> None:
    await owner.fail(retries=2)


async def _backed_off(owner: Owner) -> None:
    job = await owner.fail(retries=1, back_off=MINUTE)
    await owner.bring(job_commands.EndJobBackOff(owner.tenant_id, job.key, owner.now + MINUTE))


STORIES = (
    _decided,
    _completed,
    _cancelled,
    _cancelled_with_an_incident,
    _one_of_two_done,
    _first_of_two_done,
    _asked,
    _activated,
    _backing_off,
    _without_retries,
    _error_thrown,
    _resolved,
    _timed_out,
    _offered,
    _offered,
    _offered,
    _failed,
    _backed_off,
)
