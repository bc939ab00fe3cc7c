"""Composition root of the engine: the only place that sees all of it."""

from collections.abc import Mapping
from dataclasses import dataclass

from google.protobuf.descriptor import ServiceDescriptor

from gnomon.engine.v1 import (
    clock_service_pb2,
    console_service_pb2,
    deployment_service_pb2,
    element_instance_service_pb2,
    history_service_pb2,
    incident_service_pb2,
    job_service_pb2,
    operations_service_pb2,
    process_definition_service_pb2,
    process_instance_service_pb2,
    topology_service_pb2,
    user_task_service_pb2,
    variable_service_pb2,
)
from server.config import EngineConfig
from server.engine import State
from server.partition.completion_waiters import CompletionWaiters
from server.partition.job_waiters import JobWaiters
from server.partition.partition import Partition
from server.partition.quota import Quota
from server.platform.clock import VirtualClock
from server.rpc.clock import ClockServicer
from server.rpc.deployment import DeploymentServicer
from server.rpc.element_instance import ElementInstanceServicer
from server.rpc.incident import IncidentServicer
from server.rpc.job import JobServicer
from server.rpc.process_definition import ProcessDefinitionServicer
from server.rpc.process_instance import ProcessInstanceServicer
from server.rpc.topology import TopologyServicer
from server.rpc.variable import VariableServicer
from server.store.memory import MemoryStore

Servicers = Mapping[ServiceDescriptor, object | None]


@dataclass(frozen=True, slots=True)
class Engine:
    """A partition with everything that serves it; `partition.run` has to run."""

    clock: VirtualClock
    partition: Partition
    servicers: Servicers


def create_embedded_engine(config: EngineConfig, clock: VirtualClock | None = None) -> Engine:
    """One partition in memory, under a virtual clock."""
    clock = clock or VirtualClock()
    store = MemoryStore(config.history.max_finished_instances)
    partition = Partition(State(), store, clock, config.partition, quota=Quota(config.quota))
    jobs = JobServicer(store, partition, JobWaiters(partition, config.jobs), config.jobs)
    completions = CompletionWaiters(partition, store, config.instances)
    instances = ProcessInstanceServicer(store, partition, completions, config.instances)
    servicers: Servicers = {
        _service(deployment_service_pb2): DeploymentServicer(partition),
        _service(process_definition_service_pb2): ProcessDefinitionServicer(store),
        _service(process_instance_service_pb2): instances,
        _service(element_instance_service_pb2): ElementInstanceServicer(store),
        _service(job_service_pb2): jobs,
        _service(variable_service_pb2): VariableServicer(store),
        _service(incident_service_pb2): IncidentServicer(store, partition),
        _service(clock_service_pb2): ClockServicer(clock, partition),
        _service(topology_service_pb2): TopologyServicer(partition, config.grpc),
        # Offered over durable history only; the mode gate answers for them here.
        _service(user_task_service_pb2): None,
        _service(history_service_pb2): None,
        _service(console_service_pb2): None,
        _service(operations_service_pb2): None,
    }
    return Engine(clock, partition, servicers)


def _service(module: object) -> ServiceDescriptor:
    """The one service of a generated module."""
    (service,) = module.DESCRIPTOR.services_by_name.values()  # type: ignore[attr-defined]  # generated modules have it
    assert isinstance(service, ServiceDescriptor)  # noqa: S101  # narrows the type
    return service
