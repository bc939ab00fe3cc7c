"""Servicer that gives the other processes of the deployment access to the partitions of this process."""

import hmac
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import cast

from gnomon.partition.v1 import partition_service_pb2 as pb
from server.engine.formats import FORMATS, UnreadableFormat
from server.engine.job_commands import ActivateJobs
from server.engine.keys import Key
from server.partition.port import PartitionPort
from server.partition.wire import ANSWERS, AUDIT_ENTRIES, COMMANDS, ORIGINS
from server.platform.call import AUTHORIZATION, Call
from server.platform.dispatch import Interceptor
from server.platform.errors import Unauthenticated, Unavailable
from server.store.ports import PartitionId

# Finds a partition that this process serves; raises Unavailable.
Find = Callable[[PartitionId], PartitionPort]


class PartitionServicer:
    def __init__(self, find: Find) -> None:
        self._find = find

    async def execute(self, request: pb.ExecuteRequest, call: Call) -> pb.ExecuteResponse:
        with _readable():
            origin = ORIGINS.unpack(request.origin, request.format) if request.origin else None
            command = COMMANDS.unpack(request.command, request.format)
        answer = await self._port(request).submit(command, origin)
        return pb.ExecuteResponse(answer=ANSWERS.pack(answer), format=_answered_in(request))

    async def activate(self, request: pb.ActivateRequest, call: Call) -> pb.ActivateResponse:
        answer = await self._port(request).activate(_activation(request), request.seconds)
        return pb.ActivateResponse(answer=ANSWERS.pack(answer), format=_answered_in(request))

    async def await_offer(self, request: pb.AwaitOfferRequest, call: Call) -> pb.AwaitOfferResponse:
        has_jobs = await self._port(request).await_offer(_activation(request), request.seconds)
        return pb.AwaitOfferResponse(has_jobs=has_jobs)

    async def await_completion(
        self, request: pb.AwaitCompletionRequest, call: Call
    ) -> pb.AwaitCompletionResponse:
        key = Key(request.process_instance_key)
        await self._port(request).await_completion(key, request.tenant_id, request.seconds)
        return pb.AwaitCompletionResponse()

    async def catch_up(self, request: pb.CatchUpRequest, call: Call) -> pb.CatchUpResponse:
        await self._port(request).catch_up()
        return pb.CatchUpResponse()

    async def note(self, request: pb.NoteRequest, call: Call) -> pb.NoteResponse:
        with _readable():
            entries = AUDIT_ENTRIES.unpack(request.entries, request.format)
        await self._port(request).note(entries)
        return pb.NoteResponse()

    def _port(
        self,
        request: pb.ExecuteRequest
        | pb.ActivateRequest
        | pb.AwaitOfferRequest
        | pb.AwaitCompletionRequest
        | pb.CatchUpRequest
        | pb.NoteRequest,
    ) -> PartitionPort:
        return self._find(PartitionId(request.partition_id))


def _activation(request: pb.ActivateRequest | pb.AwaitOfferRequest) -> ActivateJobs:
    with _readable():
        return cast("ActivateJobs", COMMANDS.unpack(request.command, request.format))


def _answered_in(request: pb.ExecuteRequest | pb.ActivateRequest) -> int:
    """The answer's format: senders read the format they write; senders without format numbers read the first."""
    return request.format or FORMATS[0].wire


@contextmanager
def _readable() -> Iterator[None]:
    """Raises Unavailable for content that this node cannot read: nothing happened, and another owner may be able to read it."""
    try:
        yield
    except UnreadableFormat as error:
        raise Unavailable.untouched(f"this node cannot read the call: {error}") from error


def check_secret(secret: str) -> Interceptor:
    """An interceptor that admits callers with the shared secret of the deployment."""
    expected = f"Bearer {secret}".encode()

    def check(call: Call) -> None:
        if not hmac.compare_digest(call.metadata.get(AUTHORIZATION, "").encode(), expected):
            raise Unauthenticated("expected the secret that the processes of the deployment share")

    return check
