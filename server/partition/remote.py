"""A partition of another process, called through the tunnel."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, TypeVar, cast

import grpc

from gnomon.partition.v1 import partition_service_pb2 as pb
from gnomon.partition.v1.partition_service_pb2_grpc import PartitionServiceStub
from server.engine import process_instance_commands, user_task_commands
from server.engine.answers import ActivatedJobs, Answer
from server.engine.commands import Command
from server.engine.formats import WIRE_FORMAT, UnreadableFormat
from server.engine.job_commands import ActivateJobs
from server.engine.keys import Key
from server.partition.origin import Origin
from server.partition.wire import ANSWERS, AUDIT_ENTRIES, COMMANDS, ORIGINS
from server.platform.call import AUTHORIZATION
from server.platform.channels import Channel, error_of
from server.platform.channels.traced import TracedChannel
from server.platform.errors import Unavailable
from server.store.entities import AuditEntry
from server.store.ports import PartitionId

if TYPE_CHECKING:
    from gnomon.partition.v1.partition_service_pb2_grpc import PartitionServiceAsyncStub

R = TypeVar("R")

CALL_SECONDS = 10.0
# The partition itself bounds the wait for the listeners of user tasks.
LONG_CALL_SECONDS = 3600.0
AWAITED = (
    user_task_commands.AssignUserTask,
    user_task_commands.UnassignUserTask,
    user_task_commands.UpdateUserTask,
    user_task_commands.CompleteUserTask,
    process_instance_commands.SetVariables,
)
# The time a waiting call may take beyond its wait.
MARGIN_SECONDS = 2.0


class RemotePartition:
    """`secret` is the shared secret of the deployment's processes, `written_format` the wire format that all of them read."""

    def __init__(
        self,
        partition_id: PartitionId,
        channel: Channel,
        secret: str,
        *,
        written_format: Callable[[], int] = lambda: WIRE_FORMAT,
    ) -> None:
        self._partition_id = partition_id
        self._stub: PartitionServiceAsyncStub = PartitionServiceStub(
            cast("grpc.aio.Channel", TracedChannel(channel))
        )
        self._metadata = ((AUTHORIZATION, f"Bearer {secret}"),)
        self._format = written_format

    async def submit(self, command: Command, origin: Origin | None = None) -> Answer:
        request = pb.ExecuteRequest(
            partition_id=self._partition_id,
            command=COMMANDS.pack(command),
            origin=ORIGINS.pack(origin) if origin else b"",
            format=self._format(),
        )
        timeout = LONG_CALL_SECONDS if isinstance(command, AWAITED) else CALL_SECONDS
        response = await _answered(self._stub.Execute(request, timeout=timeout, metadata=self._metadata))
        return _unpacked(response)

    async def activate(self, command: ActivateJobs, seconds: float) -> ActivatedJobs:
        request = pb.ActivateRequest(
            partition_id=self._partition_id,
            command=COMMANDS.pack(command),
            seconds=seconds,
            format=self._format(),
        )
        timeout = seconds + CALL_SECONDS
        response = await _answered(self._stub.Activate(request, timeout=timeout, metadata=self._metadata))
        return cast("ActivatedJobs", _unpacked(response))

    async def await_offer(self, command: ActivateJobs, seconds: float) -> bool:
        request = pb.AwaitOfferRequest(
            partition_id=self._partition_id,
            command=COMMANDS.pack(command),
            seconds=seconds,
            format=self._format(),
        )
        timeout = seconds + MARGIN_SECONDS
        response = await _answered(self._stub.AwaitOffer(request, timeout=timeout, metadata=self._metadata))
        return response.has_jobs

    async def await_completion(self, key: Key, tenant_id: str, seconds: float) -> None:
        request = pb.AwaitCompletionRequest(
            partition_id=self._partition_id, process_instance_key=key, tenant_id=tenant_id, seconds=seconds
        )
        timeout = seconds + MARGIN_SECONDS
        await _answered(self._stub.AwaitCompletion(request, timeout=timeout, metadata=self._metadata))

    async def catch_up(self) -> None:
        request = pb.CatchUpRequest(partition_id=self._partition_id)
        await _answered(self._stub.CatchUp(request, timeout=CALL_SECONDS, metadata=self._metadata))

    async def note(self, entries: Sequence[AuditEntry]) -> None:
        request = pb.NoteRequest(
            partition_id=self._partition_id,
            entries=AUDIT_ENTRIES.pack(tuple(entries)),
            format=self._format(),
        )
        await _answered(self._stub.Note(request, timeout=CALL_SECONDS, metadata=self._metadata))


async def _answered(call: Awaitable[R]) -> R:
    try:
        return await call
    except grpc.RpcError as failure:
        raise error_of(failure) from failure


def _unpacked(response: pb.ExecuteResponse | pb.ActivateResponse) -> Answer:
    """The unpacked answer; the command was executed, even if its answer cannot be read."""
    try:
        return ANSWERS.unpack(response.answer, response.format)
    except UnreadableFormat as error:
        raise Unavailable(f"the answer of a later version cannot be read by this node: {error}") from error
