"""The engine inside another Python program, without listeners: for process tests and experiments.

    async with EmbeddedEngine() as engine:
        await engine.deploy("order.bpmn")
        key = await engine.start("order", {"total": 120})
        await engine.work("charge", lambda variables: {"paid": True})
        await engine.advance(timedelta(hours=1))

Generated stubs reach everything else: `JobServiceStub(engine.channel)`. See docs/embedding.md.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, cast

import msgspec

from gnomon.engine.v1 import deployment_service_pb2 as deployment_pb
from gnomon.engine.v1 import job_service_pb2 as job_pb
from gnomon.engine.v1 import process_instance_pb2 as instance_pb
from gnomon.engine.v1 import process_instance_service_pb2 as instance_service_pb
from gnomon.engine.v1 import variable_service_pb2 as variable_pb
from gnomon.engine.v1.deployment_service_pb2_grpc import DeploymentServiceStub
from gnomon.engine.v1.job_service_pb2_grpc import JobServiceStub
from gnomon.engine.v1.process_instance_service_pb2_grpc import ProcessInstanceServiceStub
from gnomon.engine.v1.variable_service_pb2_grpc import VariableServiceStub
from server.app import MemoryEngine, create_embedded_engine
from server.config import EngineConfig
from server.engine.keys import Key
from server.platform.call import Call, Principal, TenantId
from server.platform.channels import LocalChannel
from server.platform.clock import VirtualClock
from server.platform.dispatch import Dispatcher
from server.platform.interceptors import interceptors
from server.platform.policy import Mode

if TYPE_CHECKING:
    import grpc

Variables = Mapping[str, Any]
Worker = Callable[[dict[str, Any]], Variables | None]

TENANT = TenantId("default")
JOB_TIMEOUT = timedelta(minutes=5)
MOST_JOBS = 100


class EmbeddedEngine:
    """An engine in memory; `pinned` stops its clock, so that only `advance` moves the time."""

    def __init__(self, config: EngineConfig | None = None, *, pinned: datetime | None = None) -> None:
        self.clock = VirtualClock(pinned=pinned)
        self._engine = create_embedded_engine(config or EngineConfig(), self.clock)
        permissions = {
            operation.policy.permission
            for operation in Dispatcher(self._engine.servicers, ()).operations.values()
        }
        everybody = Principal("embedded", frozenset({TENANT}), frozenset(permissions))
        dispatcher = Dispatcher(self._engine.servicers, interceptors(Mode.EMBEDDED, _trust))
        # Stubs use only the part of a channel that this one has.
        self.channel = cast("grpc.aio.Channel", LocalChannel(dispatcher, everybody))
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        await self._stack.enter_async_context(_running(self._engine))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stack.__aexit__(kind, error, trace)

    async def deploy(self, *files: Path | str | tuple[str, bytes]) -> list[str]:
        """Deploy files, or (name, content) pairs; return the ids of their processes."""
        resources = [
            deployment_pb.Resource(name=name, content=content) for name, content in map(_resource, files)
        ]
        request = deployment_pb.CreateDeploymentRequest(resources=resources)
        response = await DeploymentServiceStub(self.channel).CreateDeployment(request)
        return [
            artefact.process_definition.process_definition_id
            for artefact in response.deployments
            if artefact.HasField("process_definition")
        ]

    async def start(self, process_id: str, variables: Variables | None = None) -> Key:
        """Start the latest version of a process; return the key of the instance."""
        request = instance_service_pb.CreateProcessInstanceRequest(
            process_definition_id=process_id, variables=msgspec.json.encode(variables or {})
        )
        response = await ProcessInstanceServiceStub(self.channel).CreateProcessInstance(request)
        return Key(response.process_instance_key)

    async def work(self, job_type: str, worker: Worker, *, most: int = MOST_JOBS) -> int:
        """Complete the waiting jobs of a type with `worker`; return their number."""
        stub = JobServiceStub(self.channel)
        request = job_pb.ActivateJobsRequest(
            type=job_type,
            worker="embedded",
            timeout=JOB_TIMEOUT // timedelta(milliseconds=1),
            max_jobs_to_activate=most,
            request_timeout=-1,
        )
        jobs = (await stub.ActivateJobs(request)).jobs
        for job in jobs:
            result = worker(msgspec.json.decode(job.variables)) or {}
            completion = job_pb.CompleteJobRequest(job_key=job.job_key, variables=msgspec.json.encode(result))
            await stub.CompleteJob(completion)
        return len(jobs)

    async def advance(self, by: timedelta) -> None:
        """Advance the clock, and process everything that becomes due."""
        self.clock.advance(by)
        self._engine.partition.clock_moved()
        await self._engine.partition.settle()

    async def state(self, key: Key) -> str:
        """Return the state of a process instance: ACTIVE, COMPLETED or TERMINATED."""
        request = instance_service_pb.GetProcessInstanceRequest(process_instance_key=key)
        response = await ProcessInstanceServiceStub(self.channel).GetProcessInstance(request)
        name = instance_pb.ProcessInstanceState.Name(response.process_instance.state)
        return name.removeprefix("PROCESS_INSTANCE_STATE_")

    async def variables(self, key: Key) -> dict[str, Any]:
        """Return the variables of a process instance, without its elements' variables."""
        request = variable_pb.SearchVariablesRequest(truncate_values=False)
        request.filter.scope_key.eq = key
        response = await VariableServiceStub(self.channel).SearchVariables(request)
        return {item.name: msgspec.json.decode(item.value) for item in response.items}


@asynccontextmanager
async def _running(engine: MemoryEngine) -> AsyncIterator[None]:
    async with asyncio.TaskGroup() as tasks:
        partition = tasks.create_task(engine.partition.run())
        await asyncio.sleep(0)
        try:
            yield
        finally:
            partition.cancel()


def _trust(_: Call) -> None:
    """Accept the channel's principal: the holder of the engine object has all permissions."""


def _resource(file: Path | str | tuple[str, bytes]) -> tuple[str, bytes]:
    if isinstance(file, tuple):
        return file
    path = Path(file)
    return path.name, path.read_bytes()
