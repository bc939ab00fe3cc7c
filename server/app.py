"""The composition root of the engine: the only module that depends on all of it."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import asyncpg
from google.protobuf.descriptor import ServiceDescriptor

from gnomon.engine.v1 import (
    audit_log_service_pb2,
    batch_operation_service_pb2,
    clock_service_pb2,
    cluster_variable_service_pb2,
    conditional_service_pb2,
    console_service_pb2,
    decision_definition_service_pb2,
    decision_instance_service_pb2,
    decision_requirements_service_pb2,
    deployment_service_pb2,
    document_service_pb2,
    element_instance_service_pb2,
    expression_service_pb2,
    global_task_listener_service_pb2,
    history_service_pb2,
    incident_service_pb2,
    job_service_pb2,
    lint_service_pb2,
    message_service_pb2,
    message_subscription_service_pb2,
    operations_service_pb2,
    personal_data_service_pb2,
    process_definition_service_pb2,
    process_instance_service_pb2,
    refusal_service_pb2,
    resource_service_pb2,
    signal_service_pb2,
    system_service_pb2,
    timer_service_pb2,
    topology_service_pb2,
    user_task_service_pb2,
    variable_service_pb2,
)
from gnomon.partition.v1 import partition_service_pb2
from server.config import EngineConfig
from server.engine import State
from server.engine.formats import Feature
from server.erasures import ProcessErasure
from server.partition.audit_trail import WaitingEntries
from server.partition.config import ClusterConfig
from server.partition.delivery import Delivery
from server.partition.durable import DurablePartitions
from server.partition.job_streams import JobStreams
from server.partition.lease_renewal import renewing
from server.partition.local import LocalPartition, OnlyPartition
from server.partition.maintenance import (
    keep_batch_operations,
    keep_decisions,
    keep_documents,
    keep_history,
    note_refusals,
)
from server.partition.meter import UNMEASURED, Meter
from server.partition.node import Node
from server.partition.partition import Partition
from server.partition.quota import Quota
from server.partition.removal_watch import Removals
from server.partition.router import Router
from server.partition.samples import Samples
from server.partition.tenant_removals import TenantRemovals
from server.partition.tunnels import Tunnels
from server.platform.clock import Clock, SystemClock, VirtualClock
from server.platform.dispatch import Dispatcher, Interceptor, Refused, unnoticed
from server.platform.grpc_server import GrpcConfig, GrpcServer
from server.platform.interceptors import identify_request
from server.platform.metrics import Gauge, Metrics
from server.platform.observation_config import MetricsConfig
from server.platform.policy import Mode
from server.platform.postgres.pool import open_pool, report_pool
from server.platform.postgres.pooled import PooledDatabase
from server.platform.records import AuditLog
from server.rpc.audit_log import AuditLogServicer
from server.rpc.batch_operation import BatchOperationServicer
from server.rpc.clock import ClockServicer
from server.rpc.cluster_variable import ClusterVariableServicer
from server.rpc.conditional import ConditionalServicer
from server.rpc.console import ConsoleServicer
from server.rpc.decision_definition import DecisionDefinitionServicer
from server.rpc.decision_instance import DecisionInstanceServicer
from server.rpc.decision_requirements import DecisionRequirementsServicer
from server.rpc.deployment import DeploymentServicer
from server.rpc.document import DocumentServicer
from server.rpc.element_instance import ElementInstanceServicer
from server.rpc.expression import ExpressionServicer
from server.rpc.global_task_listener import GlobalTaskListenerServicer
from server.rpc.history import HistoryServicer
from server.rpc.incident import IncidentServicer
from server.rpc.job import JobServicer
from server.rpc.lint import LintServicer
from server.rpc.message import MessageServicer
from server.rpc.message_subscription import MessageSubscriptionServicer
from server.rpc.operations import OperationsServicer
from server.rpc.partition import PartitionServicer, check_secret
from server.rpc.personal_data import Names, PersonalDataServicer
from server.rpc.process_definition import ProcessDefinitionServicer
from server.rpc.process_instance import ProcessInstanceServicer
from server.rpc.refusal_reports import RefusalServicer
from server.rpc.refusals import Refusals
from server.rpc.resource import ResourceServicer
from server.rpc.signal import SignalServicer
from server.rpc.system import SystemServicer
from server.rpc.timer import TimerServicer
from server.rpc.topology import TopologyServicer
from server.rpc.user_task import UserTaskServicer
from server.rpc.user_task_list import DurableUserTaskServicer
from server.rpc.variable import VariableServicer
from server.store.memory import MemoryStore
from server.store.memory_documents import MemoryDocuments
from server.store.memory_pseudonyms import MemoryPseudonyms
from server.store.memory_tenant_rows import MemoryTenantRows
from server.store.ports import Store
from server.store.postgres.backlog import backlog
from server.store.postgres.dedicated import DedicatedDatabase
from server.store.postgres.history import History
from server.store.postgres.identity_audit import IdentityAudit
from server.store.postgres.leases import Leases
from server.store.postgres.pseudonyms import PostgresPseudonyms
from server.store.postgres.reads import PostgresStore
from server.store.postgres.stored_documents import PostgresDocuments
from server.store.postgres.tenant_rows import PostgresTenantRows
from server.store.stored_documents import DocumentStore

MOST_REFUSALS = 10_000

Servicers = Mapping[ServiceDescriptor, object | None]
Work = Callable[[], Coroutine[None, None, None]]


class Engine(Protocol):
    """The services of the engine; `run` must run while they are served."""

    @property
    def servicers(self) -> Servicers: ...

    @property
    def refused(self) -> Refused:
        """A listener for commands that were refused before they reached the engine."""
        ...

    @property
    def audit(self) -> AuditLog | None:
        """The audit log for identity changes, or None without an audit log."""
        ...

    @property
    def store(self) -> Store:
        """The rows of all partitions."""
        ...

    @property
    def erasure(self) -> ProcessErasure:
        """The erasure of persons in rows of processes."""
        ...

    @property
    def removals(self) -> Removals:
        """Removals of tenants from the partitions of this process."""
        ...

    async def run(self) -> None: ...

    async def ready(self) -> None:
        """Return when the engine accepts commands."""
        ...

    def drain(self) -> None:
        """End all calls that wait for future events."""
        ...

    def stop(self) -> None:
        """Accept no more commands; `run` returns after the accepted ones were executed."""
        ...


@dataclass(frozen=True, slots=True)
class MemoryEngine:
    """An engine of one partition in memory, with a virtual clock."""

    clock: VirtualClock
    partition: Partition
    streams: JobStreams
    servicers: Servicers
    removals: Removals
    store: Store
    erasure: ProcessErasure
    refused: Refused = unnoticed
    audit: AuditLog | None = None

    async def run(self) -> None:
        await self.partition.run()

    async def ready(self) -> None:
        await self.partition.opened()

    def drain(self) -> None:
        self.streams.drain()
        self.partition.drain()

    def stop(self) -> None:
        self.partition.stop()


def create_embedded_engine(
    config: EngineConfig, clock: VirtualClock | None = None, *, meter: Meter = UNMEASURED
) -> MemoryEngine:
    clock = clock or VirtualClock()
    store = MemoryStore(config.history.max_finished_instances)
    quota = Quota(config.quota)
    partition = Partition(
        State(), store, clock, config.partition, instances=config.instances, quota=quota, meter=meter
    )
    local = LocalPartition(partition, store, config.jobs, config.instances)
    meter.watch(local)
    router = Router(OnlyPartition(local, config.grpc.host, config.grpc.port))
    streams = _streams(config, router, meter)
    documents = MemoryDocuments(config.documents)
    servicers: Servicers = {
        **_servicers(config, store, router, clock, streams=streams),
        **_documents(config, documents, clock),
        _service(clock_service_pb2): ClockServicer(clock, partition),
        _service(timer_service_pb2): TimerServicer(store, router, partition.state, store),
        # Only available with durable history; the mode gate answers these calls.
        _service(history_service_pb2): None,
        _service(console_service_pb2): None,
        _service(operations_service_pb2): None,
        _service(audit_log_service_pb2): None,
        _service(refusal_service_pb2): None,
    }
    rows = MemoryTenantRows(store, documents, partition.state.removed_tenants)
    return MemoryEngine(
        clock,
        partition,
        streams,
        servicers,
        TenantRemovals(lambda: (local,), rows),
        store,
        ProcessErasure(MemoryPseudonyms(store), router),
    )


@dataclass(frozen=True, slots=True)
class DurableEngine:
    """The partitions that this process owns, in PostgreSQL, and routes to all others."""

    node: Node
    router: Router
    streams: JobStreams
    servicers: Servicers
    refused: Refused
    audit: AuditLog
    removals: Removals
    maintenance: Sequence[Work]
    store: Store
    erasure: ProcessErasure

    async def run(self) -> None:
        """Serve until `stop`, then hand the partitions over."""
        async with asyncio.TaskGroup() as tasks:
            beside = [tasks.create_task(work()) for work in self.maintenance]
            await self.node.run()
            for work in beside:
                work.cancel()

    async def ready(self) -> None:
        await self.node.ready()

    def drain(self) -> None:
        self.streams.drain()
        self.router.drain()
        self.node.drain()

    def stop(self) -> None:
        self.node.stop()


@asynccontextmanager
async def durable_engine(
    config: EngineConfig,
    clock: Clock | None = None,
    *,
    meter: Meter = UNMEASURED,
    metrics: Metrics | None = None,
) -> AsyncIterator[DurableEngine]:
    """Create a durable engine; other processes can reach its partitions during the block. Raises Unavailable."""
    dsn = config.database.dsn
    async with (
        open_pool(dsn, config.database.pool_connections) as searches,
        open_pool(dsn, config.database.partition_connections) as partition_reads,
        open_pool(dsn, config.database.row_connections) as rows,
        DedicatedDatabase(dsn, name="node", statement_seconds=config.partition.statement_seconds) as own,
        Tunnels() as tunnels,
    ):
        database, clock = PooledDatabase(rows), clock or SystemClock()
        store = PostgresStore(searches, database)
        delivery = Delivery()
        partitions = DurablePartitions(
            dsn=dsn,
            database=PooledDatabase(partition_reads),
            background=database,
            store=store,
            clock=clock,
            partition=config.partition,
            jobs=config.jobs,
            instances=config.instances,
            quota=config.quota,
            sent=delivery.sent,
            meter=meter,
            lease_seconds=config.cluster.lease_seconds,
        )
        node = Node(
            config.cluster,
            Leases(own),
            renewing(dsn, config.cluster),
            open_partition=partitions.open,
            tunnels=tunnels,
        )
        router, waiting = Router(node), WaitingEntries(MOST_REFUSALS)
        documents = PostgresDocuments(database, config.documents)
        streams = _streams(config, router, meter)
        refused = Refusals(waiting, clock, partial(_audits_identity, node))
        servicers = {
            **_servicers(config, store, router, clock, streams=streams, refused=refused),
            **_documents(config, documents, clock),
            **_durable_servicers(store, router),
        }
        maintenance: Sequence[Work] = (
            partial(delivery.run, node),
            partial(note_refusals, waiting, router),
            partial(keep_history, History(database), config.history, clock),
            partial(keep_decisions, database, config.history, clock),
            partial(keep_batch_operations, database, config.history, clock),
            partial(keep_documents, documents, clock),
            *_samples(
                metrics,
                config.metrics,
                {"searches": searches, "partitions": partition_reads, "rows": rows},
                node,
            ),
        )
        async with _reachable_by_others(node, config.cluster):
            yield DurableEngine(
                node,
                router,
                streams,
                servicers,
                refused,
                IdentityAudit(database, partial(_audits_identity, node)),
                TenantRemovals(
                    node.open_partitions,
                    PostgresTenantRows(database),
                    lambda: node.format.has(Feature.TENANT_REMOVALS),
                ),
                maintenance,
                store,
                ProcessErasure(PostgresPseudonyms(database), router),
            )


def _audits_identity(node: Node) -> bool:
    return node.format.has(Feature.AUDITED_IDENTITY)


def _samples(
    metrics: Metrics | None, config: MetricsConfig, pools: Mapping[str, asyncpg.Pool], node: Node
) -> Iterator[Work]:
    """Yield reports on the database and the cluster format, if there are metrics."""
    if metrics is not None:
        for name, pool in pools.items():
            report_pool(metrics, name, pool)
        meaning = "Format that the nodes of the deployment write"
        metrics.gauge("gnomon_cluster_format", meaning, lambda: (Gauge(node.format.number),))
        count = partial(backlog, PooledDatabase(pools["rows"]), node.node_id)
        yield partial(Samples(metrics).run, count, seconds=config.sample_seconds)


@asynccontextmanager
async def _reachable_by_others(node: Node, config: ClusterConfig) -> AsyncIterator[None]:
    servicers = {_service(partition_service_pb2): PartitionServicer(node.find_local)}
    dispatcher = Dispatcher(servicers, (identify_request, check_secret(config.secret)))
    listener = GrpcServer(dispatcher, GrpcConfig(host=config.host, port=config.port), section="cluster")
    await listener.start()
    try:
        yield
    finally:
        await listener.stop()


def _streams(config: EngineConfig, router: Router, meter: Meter) -> JobStreams:
    streams = JobStreams(router, config.jobs, meter=meter)
    meter.watch_streams(streams)
    return streams


def _servicers(
    config: EngineConfig,
    store: Store,
    router: Router,
    clock: Clock,
    *,
    streams: JobStreams,
    refused: Refused = unnoticed,
) -> Servicers:
    return {
        _service(deployment_service_pb2): DeploymentServicer(router, config.decisions),
        _service(resource_service_pb2): ResourceServicer(router, store, config.batches),
        _service(process_definition_service_pb2): ProcessDefinitionServicer(store),
        _service(process_instance_service_pb2): ProcessInstanceServicer(
            store, router, config.instances, refused=refused
        ),
        _service(element_instance_service_pb2): ElementInstanceServicer(store, router),
        _service(job_service_pb2): JobServicer(store, router, config.jobs, streams, refused=refused),
        _service(user_task_service_pb2): UserTaskServicer(store, router),
        _service(variable_service_pb2): VariableServicer(store),
        _service(cluster_variable_service_pb2): ClusterVariableServicer(
            store, router, config.cluster_variables
        ),
        _service(global_task_listener_service_pb2): GlobalTaskListenerServicer(store, router),
        _service(incident_service_pb2): IncidentServicer(store, router),
        _service(batch_operation_service_pb2): BatchOperationServicer(store, router, config.batches),
        _service(message_service_pb2): MessageServicer(router),
        _service(message_subscription_service_pb2): MessageSubscriptionServicer(store),
        _service(conditional_service_pb2): ConditionalServicer(router),
        _service(signal_service_pb2): SignalServicer(router),
        _service(decision_requirements_service_pb2): DecisionRequirementsServicer(store),
        _service(decision_definition_service_pb2): DecisionDefinitionServicer(store, router),
        _service(decision_instance_service_pb2): DecisionInstanceServicer(store, router),
        _service(lint_service_pb2): LintServicer(),
        _service(expression_service_pb2): ExpressionServicer(clock, store),
        _service(system_service_pb2): SystemServicer(store, config.max_body_bytes),
        _service(topology_service_pb2): TopologyServicer(router.partitions),
    }


def _documents(config: EngineConfig, documents: DocumentStore, clock: Clock) -> Servicers:
    servicer = DocumentServicer(documents, config.documents, clock, origin=config.origin)
    return {_service(document_service_pb2): servicer}


def _durable_servicers(store: Store, router: Router) -> Servicers:
    """Return the servicers that are only available with durable history."""
    return {
        _service(user_task_service_pb2): DurableUserTaskServicer(store, router),
        _service(history_service_pb2): HistoryServicer(store),
        _service(console_service_pb2): ConsoleServicer(store),
        _service(operations_service_pb2): OperationsServicer(router),
        _service(audit_log_service_pb2): AuditLogServicer(store),
        # Only embedded mode has virtual time.
        _service(clock_service_pb2): None,
        _service(timer_service_pb2): None,
    }


def refusal_reports(engine: Engine, authenticate: Interceptor, mode: Mode) -> Servicers:
    """Return the servicer for edges, which report the requests that they refuse."""
    return {
        _service(refusal_service_pb2): RefusalServicer(authenticate, mode, engine.refused, time.monotonic),
    }


def personal_data(engine: Engine, names: Names) -> Servicers:
    """Return the servicer for rows that name a person."""
    return {_service(personal_data_service_pb2): PersonalDataServicer(lambda: engine.store, names)}


def _service(module: object) -> ServiceDescriptor:
    """Return the only service of a generated module."""
    (service,) = module.DESCRIPTOR.services_by_name.values()  # type: ignore[attr-defined]  # generated modules have it
    assert isinstance(service, ServiceDescriptor)  # noqa: S101  # narrows the type
    return service
