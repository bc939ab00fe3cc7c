"""The campaign's requests over plain gRPC; several connections take turns."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import cycle
from typing import TYPE_CHECKING, TypeVar

import grpc
from google.protobuf.message import Message

from gnomon.engine.v1 import deployment_service_pb2 as deployment_pb
from gnomon.engine.v1 import incident_service_pb2 as incident_pb
from gnomon.engine.v1 import job_service_pb2 as job_pb
from gnomon.engine.v1 import message_service_pb2 as message_pb
from gnomon.engine.v1 import process_instance_pb2 as state_pb
from gnomon.engine.v1 import process_instance_service_pb2 as instance_pb
from gnomon.engine.v1.deployment_service_pb2_grpc import DeploymentServiceStub
from gnomon.engine.v1.incident_service_pb2_grpc import IncidentServiceStub
from gnomon.engine.v1.job_service_pb2_grpc import JobServiceStub
from gnomon.engine.v1.message_service_pb2_grpc import MessageServiceStub
from gnomon.engine.v1.process_instance_service_pb2_grpc import ProcessInstanceServiceStub
from gnomon.query.v1.filter_pb2 import KeyFilter, StringFilter
from gnomon.query.v1.page_pb2 import PageRequest
from tests.campaigns.api import (
    ATTEMPT_SECONDS,
    BUFFERED_MILLISECONDS,
    JOB_MILLISECONDS,
    POLL_MILLISECONDS,
    Job,
    NotAnswered,
    Refused,
)
from tests.campaigns.model import AT_COMPLETION, AT_START, REFERENCE

if TYPE_CHECKING:
    from gnomon.engine.v1.deployment_service_pb2_grpc import DeploymentServiceAsyncStub
    from gnomon.engine.v1.incident_service_pb2_grpc import IncidentServiceAsyncStub
    from gnomon.engine.v1.job_service_pb2_grpc import JobServiceAsyncStub
    from gnomon.engine.v1.message_service_pb2_grpc import MessageServiceAsyncStub
    from gnomon.engine.v1.process_instance_service_pb2_grpc import ProcessInstanceServiceAsyncStub

R = TypeVar("R")

# Each connection is one of its own, and comes back soon after a server did.
OPTIONS = [
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.initial_reconnect_backoff_ms", 50),
    ("grpc.min_reconnect_backoff_ms", 1_000),
    ("grpc.max_reconnect_backoff_ms", 500),
]
NO_ANSWERS = frozenset(
    {
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.DEADLINE_EXCEEDED,
        grpc.StatusCode.CANCELLED,
        grpc.StatusCode.RESOURCE_EXHAUSTED,
    }
)


class Connection:
    def __init__(self, channel: grpc.aio.Channel) -> None:
        self.deployments: DeploymentServiceAsyncStub = DeploymentServiceStub(channel)
        self.instances: ProcessInstanceServiceAsyncStub = ProcessInstanceServiceStub(channel)
        self.jobs: JobServiceAsyncStub = JobServiceStub(channel)
        self.incidents: IncidentServiceAsyncStub = IncidentServiceStub(channel)
        self.messages: MessageServiceAsyncStub = MessageServiceStub(channel)


@asynccontextmanager
async def connected(targets: Sequence[str], token: str) -> AsyncIterator["GrpcApi"]:
    """A connection of its own to each target, of which one may be named several times."""
    async with AsyncExitStack() as stack:
        channels = [grpc.aio.insecure_channel(target, options=OPTIONS) for target in targets]
        for channel in channels:
            await stack.enter_async_context(channel)
        yield GrpcApi([Connection(channel) for channel in channels], token)


class GrpcApi:
    def __init__(self, connections: Sequence[Connection], token: str) -> None:
        self._turns = cycle(connections)
        self._credential = ("authorization", f"Bearer {token}")

    async def deploy(self, name: str, content: bytes) -> None:
        resource = deployment_pb.Resource(name=name, content=content)
        request = deployment_pb.CreateDeploymentRequest(resources=[resource])
        await self._ask(next(self._turns).deployments.CreateDeployment, request)

    async def start(self, process_id: str, *, idempotency_key: str) -> int:
        variables = {**AT_START, REFERENCE: idempotency_key}
        request = instance_pb.CreateProcessInstanceRequest(
            process_definition_id=process_id, variables=json.dumps(variables).encode()
        )
        method = next(self._turns).instances.CreateProcessInstance
        answer = await self._ask(method, request, idempotency_key)
        return answer.process_instance_key

    async def publish(self, name: str, correlation_key: str, *, idempotency_key: str) -> int:
        request = message_pb.PublishMessageRequest(
            name=name,
            correlation_key=correlation_key,
            time_to_live=BUFFERED_MILLISECONDS,
            variables=json.dumps(AT_COMPLETION).encode(),
        )
        answer = await self._ask(next(self._turns).messages.PublishMessage, request, idempotency_key)
        return answer.message_key

    async def activate(self, job_type: str, most: int) -> Sequence[Job]:
        request = job_pb.ActivateJobsRequest(
            type=job_type,
            worker="campaign",
            timeout=JOB_MILLISECONDS,
            max_jobs_to_activate=most,
            request_timeout=POLL_MILLISECONDS,
        )
        answer = await self._ask(next(self._turns).jobs.ActivateJobs, request)
        return [Job(job.job_key, job.process_instance_key, job.retries) for job in answer.jobs]

    async def complete(self, job_key: int, *, idempotency_key: str) -> None:
        request = job_pb.CompleteJobRequest(job_key=job_key, variables=json.dumps(AT_COMPLETION).encode())
        await self._ask(next(self._turns).jobs.CompleteJob, request, idempotency_key)

    async def fail(self, job_key: int, *, retries: int, idempotency_key: str) -> None:
        request = job_pb.FailJobRequest(job_key=job_key, retries=retries, error_message="on purpose")
        await self._ask(next(self._turns).jobs.FailJob, request, idempotency_key)

    async def give_retries(self, job_key: int, *, idempotency_key: str) -> None:
        request = job_pb.UpdateJobRequest(job_key=job_key, changeset=job_pb.JobChangeset(retries=1))
        await self._ask(next(self._turns).jobs.UpdateJob, request, idempotency_key)

    async def incidents_of(self, job_key: int) -> Sequence[int]:
        wanted = incident_pb.IncidentFilter(job_key=KeyFilter(eq=job_key))
        request = incident_pb.SearchIncidentsRequest(filter=wanted)
        answer = await self._ask(next(self._turns).incidents.SearchIncidents, request)
        return [incident.incident_key for incident in answer.items]

    async def resolve(self, incident_key: int, *, idempotency_key: str) -> None:
        request = incident_pb.ResolveIncidentRequest(incident_key=incident_key)
        await self._ask(next(self._turns).incidents.ResolveIncident, request, idempotency_key)

    async def count(self, process_id: str, state: str) -> int:
        value = state_pb.ProcessInstanceState.Value(f"PROCESS_INSTANCE_STATE_{state}")
        wanted = instance_pb.ProcessInstanceFilter(
            process_definition_id=StringFilter(eq=process_id),
            state=state_pb.ProcessInstanceStateFilter(eq=value),
        )
        request = instance_pb.SearchProcessInstancesRequest(filter=wanted, page=PageRequest(limit=1))
        answer = await self._ask(next(self._turns).instances.SearchProcessInstances, request)
        return answer.page.total_items

    async def _ask(
        self, method: Callable[..., Awaitable[R]], request: Message, idempotency_key: str | None = None
    ) -> R:
        own = [("idempotency-key", idempotency_key)] if idempotency_key else []
        try:
            return await method(request, metadata=(self._credential, *own), timeout=ATTEMPT_SECONDS)
        except grpc.aio.AioRpcError as error:
            if error.code() in NO_ANSWERS:
                raise NotAnswered(error.details()) from error
            raise Refused(f"{error.code().name}: {error.details()}") from error
