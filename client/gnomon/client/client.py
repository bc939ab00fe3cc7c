"""Asynchronous client: one channel, one credential, one tenant."""

import asyncio
import uuid
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from types import TracebackType
from typing import TYPE_CHECKING, Self

import grpc

from gnomon.client.calls import Calls, Metadata
from gnomon.client.creations import Creations
from gnomon.client.credentials import AccessTokens, ClientCredentials, IssuedTokens, ReadyToken
from gnomon.client.errors import RequestFailed
from gnomon.client.jobs import Variables, encoded
from gnomon.client.worker import Handler, Worker, WorkerSettings
from gnomon.engine.v1 import job_service_pb2 as jobs
from gnomon.engine.v1 import message_service_pb2 as messages
from gnomon.engine.v1 import process_instance_service_pb2 as instances
from gnomon.engine.v1.job_service_pb2_grpc import JobServiceStub
from gnomon.engine.v1.message_service_pb2_grpc import MessageServiceStub
from gnomon.engine.v1.process_instance_service_pb2_grpc import ProcessInstanceServiceStub
from gnomon.identity.v1 import token_service_pb2 as tokens
from gnomon.identity.v1.token_service_pb2_grpc import TokenServiceStub

if TYPE_CHECKING:
    from gnomon.engine.v1.job_service_pb2_grpc import JobServiceAsyncStub
    from gnomon.engine.v1.process_instance_service_pb2_grpc import ProcessInstanceServiceAsyncStub

# gRPC's own pauses between connections grow up to two minutes; a server restarts in seconds.
_RECONNECTION = (
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 2_000),
)


class Client:
    """Client for asyncio, used as `async with Client(...) as client`.

    `address` is host:port. `credentials` are client credentials, or an access token that the caller renews. Without
    `tls` the connection is not encrypted. `tenant_id` is the tenant to act in; empty leaves it to the server. A call
    raises DeadlineExceeded after `timeout`, its retries included, and RequestFailed when the server refuses it.
    """

    def __init__(
        self,
        address: str,
        credentials: ClientCredentials | str,
        *,
        tenant_id: str = "",
        tls: grpc.ChannelCredentials | None = None,
        timeout: timedelta = timedelta(seconds=30),
    ) -> None:
        options = list(_RECONNECTION)
        self._seconds = timeout.total_seconds()
        self.channel = (
            grpc.aio.secure_channel(address, tls, options=options)
            if tls
            else grpc.aio.insecure_channel(address, options=options)
        )
        self._jobs: JobServiceAsyncStub = JobServiceStub(self.channel)
        self._calls = Calls(self._tokens(credentials), tenant_id=tenant_id)
        self._instances: ProcessInstanceServiceAsyncStub = ProcessInstanceServiceStub(self.channel)
        self._creations = Creations(self._instances, self._calls, seconds=self._seconds)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.channel.close()

    async def metadata(self) -> Metadata:
        """Credential and tenant for a call of a generated stub on `channel`."""
        return await self._calls.metadata()

    async def start_process_instance(
        self,
        process_definition_id: str,
        variables: Variables | None = None,
        *,
        version: int | None = None,
        business_id: str | None = None,
        tags: Sequence[str] = (),
        idempotency_key: str | None = None,
    ) -> int:
        """Start an instance of the latest or the given version; returns its key.

        A repeat under the same `idempotency_key` (1 to 200 characters) gives the same instance.
        """
        request = instances.CreateProcessInstanceRequest(
            process_definition_id=process_definition_id,
            process_definition_version=version,
            variables=encoded(variables),
            business_id=business_id,
            tags=tags,
        )
        answer = await self._calls.command(
            self._instances.CreateProcessInstance, request, seconds=self._seconds, key=idempotency_key
        )
        return answer.process_instance_key

    async def start_process_instances(
        self,
        process_definition_id: str,
        variables: Sequence[Variables | None],
        *,
        version: int | None = None,
        idempotency_key: str | None = None,
    ) -> Sequence[int | RequestFailed]:
        """Start an instance with each of `variables`; returns the key or the refusal of each, in their order.

        Up to 1,000 instances share a call. One that is refused leaves the others; RequestFailed is raised when a call is
        refused as a whole. A repeat under the same `idempotency_key` with the same variables gives the same instances.
        """
        requests = [
            instances.CreateProcessInstanceRequest(
                process_definition_id=process_definition_id,
                process_definition_version=version,
                variables=encoded(each),
            )
            for each in variables
        ]
        return await self._creations.create(requests, idempotency_key or uuid.uuid4().hex)

    async def complete_job(self, job_key: int, variables: Variables | None = None) -> None:
        """Complete a job; reasons of a refusal are NOT_FOUND and INVALID_STATE."""
        request = jobs.CompleteJobRequest(job_key=job_key, variables=encoded(variables))
        await self._calls.command(self._jobs.CompleteJob, request, seconds=self._seconds)

    async def fail_job(
        self, job_key: int, *, retries: int, message: str = "", back_off: timedelta = timedelta()
    ) -> None:
        """Fail a job. `retries` are those left; 0 raises an incident. The job is offered again after `back_off`."""
        request = jobs.FailJobRequest(
            job_key=job_key,
            retries=retries,
            error_message=message,
            retry_back_off=back_off // timedelta(milliseconds=1),
        )
        await self._calls.command(self._jobs.FailJob, request, seconds=self._seconds)

    async def publish_message(
        self,
        name: str,
        correlation_key: str,
        variables: Variables | None = None,
        *,
        time_to_live: timedelta = timedelta(),
        message_id: str = "",
        idempotency_key: str | None = None,
    ) -> int:
        """Publish a message and buffer it for `time_to_live`; returns its key.

        The reason of a refusal is ALREADY_EXISTS when a message with the same `message_id` is buffered.
        """
        request = messages.PublishMessageRequest(
            name=name,
            correlation_key=correlation_key,
            time_to_live=time_to_live // timedelta(milliseconds=1),
            message_id=message_id,
            variables=encoded(variables),
        )
        method = MessageServiceStub(self.channel).PublishMessage
        answer = await self._calls.command(method, request, seconds=self._seconds, key=idempotency_key)
        return answer.message_key

    @asynccontextmanager
    async def worker(
        self,
        job_type: str,
        handler: Handler,
        *,
        name: str = "gnomon.client",
        max_jobs: int = 32,
        concurrency: int | None = None,
        job_timeout: timedelta = timedelta(minutes=5),
        retry_back_off: timedelta = timedelta(seconds=1),
        end_timeout: timedelta = timedelta(seconds=30),
        fetch_variables: Sequence[str] = (),
    ) -> AsyncIterator[Worker]:
        """Work on jobs of a type until the block ends.

        The variables that `handler` returns complete the job. BpmnError throws a BPMN error; any other exception fails
        the job, whose incident shows the exception's text. The server gives the job to another worker after
        `job_timeout`. The end of the block waits up to `end_timeout` for running handlers. A refused activation
        cancels the block and raises RequestFailed; bounds out of range raise ValueError.
        """
        settings = WorkerSettings(
            job_type=job_type,
            name=name,
            max_jobs=max_jobs,
            concurrency=max_jobs if concurrency is None else concurrency,
            job_timeout=job_timeout,
            retry_back_off=retry_back_off,
            end_timeout=end_timeout,
            answer_seconds=self._seconds,
            fetch_variables=tuple(fetch_variables),
        )
        worker = Worker(self._jobs, self._calls, handler, settings)
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(worker.run())
                try:
                    yield worker
                finally:
                    await worker.end()
        except BaseExceptionGroup as group:
            raise _only(group) from None

    def _tokens(self, credentials: ClientCredentials | str) -> AccessTokens:
        if isinstance(credentials, str):
            return ReadyToken(credentials)
        calls = Calls(None)
        method = TokenServiceStub(self.channel).IssueToken

        async def issue() -> tokens.IssueTokenResponse:
            return await calls.query(method, credentials.request(), seconds=self._seconds)

        return IssuedTokens(issue)


def _only(group: BaseException) -> BaseException:
    """The single error in a group, or the group."""
    while isinstance(group, BaseExceptionGroup) and len(group.exceptions) == 1:
        group = group.exceptions[0]
    return group
