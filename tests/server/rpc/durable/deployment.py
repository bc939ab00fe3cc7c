"""The services of the durable modes, over a store in memory that keeps the audit log as theirs do."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count

import msgspec
from google.protobuf.descriptor import ServiceDescriptor
from google.protobuf.timestamp_pb2 import Timestamp

from gnomon.engine.v1 import (
    audit_log_service_pb2,
    console_service_pb2,
    deployment_service_pb2,
    history_service_pb2,
    incident_service_pb2,
    job_service_pb2,
    operations_service_pb2,
    process_instance_service_pb2,
    resource_service_pb2,
    user_task_service_pb2,
)
from server.engine import State
from server.engine.keys import Key
from server.partition.audit_trail import WaitingEntries
from server.partition.config import (
    BatchesConfig,
    DecisionsConfig,
    InstancesConfig,
    JobsConfig,
    PartitionConfig,
)
from server.partition.job_streams import JobStreams
from server.partition.local import LocalPartition, OnlyPartition
from server.partition.partition import Partition
from server.partition.router import Router
from server.platform.channels import LocalChannel
from server.platform.clock import VirtualClock
from server.platform.dispatch import Dispatcher, Interceptor
from server.platform.interceptors import interceptors
from server.platform.policy import Mode
from server.rpc.audit_log import AuditLogServicer
from server.rpc.console import ConsoleServicer
from server.rpc.deployment import DeploymentServicer
from server.rpc.history import HistoryServicer
from server.rpc.incident import IncidentServicer
from server.rpc.job import JobServicer
from server.rpc.operations import OperationsServicer
from server.rpc.process_instance import ProcessInstanceServicer
from server.rpc.refusals import Refusals
from server.rpc.resource import ResourceServicer
from server.rpc.user_task_list import DurableUserTaskServicer
from server.store.memory import MemoryStore
from server.store.ports import Batch, Insert
from tests.server.rpc.caller import Caller

MIDNIGHT = datetime(2026, 1, 1, tzinfo=UTC)
SECOND = timedelta(seconds=1)


class AuditingStore(MemoryStore):
    def __init__(self) -> None:
        super().__init__(1_000)
        self._keys = map(Key, count(1))

    async def commit(self, batch: Batch) -> None:
        audit = [
            Insert(msgspec.structs.replace(entry, audit_entry_key=next(self._keys))) for entry in batch.audit
        ]
        await super().commit(msgspec.structs.replace(batch, changes=[*batch.changes, *audit], audit=[]))


def stamp(instant: datetime) -> Timestamp:
    found = Timestamp()
    found.FromDatetime(instant)
    return found


@dataclass(frozen=True)
class Durable:
    caller: Caller
    clock: VirtualClock
    waiting: WaitingEntries
    router: Router

    async def write_log(self) -> None:
        """Take what waits to the audit log."""
        entries = await self.waiting.first(100)
        await self.router.note(entries)
        self.waiting.remove(len(entries))


@asynccontextmanager
async def durable(authenticate: Interceptor) -> AsyncIterator[Durable]:
    store, clock, waiting = AuditingStore(), VirtualClock(pinned=MIDNIGHT), WaitingEntries(100)
    partition = Partition(State(), store, clock, PartitionConfig())
    router = Router(
        OnlyPartition(LocalPartition(partition, store, JobsConfig(), InstancesConfig()), "localhost", 0)
    )
    refused = Refusals(waiting, clock, lambda: True)
    streams = JobStreams(router, JobsConfig())
    servicers = {
        _service(deployment_service_pb2): DeploymentServicer(router, DecisionsConfig()),
        _service(process_instance_service_pb2): ProcessInstanceServicer(
            store, router, InstancesConfig(), refused=refused
        ),
        _service(job_service_pb2): JobServicer(store, router, JobsConfig(), streams, refused=refused),
        _service(incident_service_pb2): IncidentServicer(store, router),
        _service(user_task_service_pb2): DurableUserTaskServicer(store, router),
        _service(history_service_pb2): HistoryServicer(store),
        _service(console_service_pb2): ConsoleServicer(store),
        _service(operations_service_pb2): OperationsServicer(router),
        _service(resource_service_pb2): ResourceServicer(router, store, BatchesConfig()),
        _service(audit_log_service_pb2): AuditLogServicer(store),
    }
    dispatcher = Dispatcher(servicers, interceptors(Mode.BUNDLED, authenticate), refused=refused)
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(partition.run())
        yield Durable(Caller(LocalChannel(dispatcher)), clock, waiting, router)
        running.cancel()


def _service(module: object) -> ServiceDescriptor:
    (service,) = module.DESCRIPTOR.services_by_name.values()  # type: ignore[attr-defined]  # generated modules have it
    assert isinstance(service, ServiceDescriptor)
    return service
