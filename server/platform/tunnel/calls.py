"""Serves one call of a batch through the dispatcher, like any other call."""

import asyncio
from collections.abc import Coroutine, Mapping
from contextlib import AbstractContextManager, nullcontext

import grpc
from google.protobuf.message import DecodeError, Message
from google.rpc.status_pb2 import Status

from gnomon.tunnel.v1 import tunnel_service_pb2 as pb
from server.platform.cancellation import is_cancelled
from server.platform.deadlines import Deadlines
from server.platform.dispatch import Dispatcher
from server.platform.errors import (
    DeadlineExceeded,
    InvalidArgument,
    PayloadTooLarge,
    ServiceError,
    Unavailable,
)
from server.platform.peer import Peer
from server.platform.policy import Policy
from server.platform.tunnel.batches import ENVELOPE_BYTES

MILLISECONDS = 1000
_UNIMPLEMENTED: int = grpc.StatusCode.UNIMPLEMENTED.value[0]


class Calls:
    """Serves the calls of all streams."""

    def __init__(self, dispatcher: Dispatcher, max_message_bytes: int) -> None:
        self._dispatcher = dispatcher
        self._max_bytes = max_message_bytes - ENVELOPE_BYTES
        self._deadlines = Deadlines()

    def begin(self, call: pb.Call, peer: Peer) -> Coroutine[None, None, pb.Answer] | pb.Answer:
        """Return a coroutine that serves the call, or an error answer if it cannot be served.

        The request is parsed here instead of later, so that a waiting call does not keep its batch in memory.
        """
        operation = self._dispatcher.operations.get(call.method)
        if operation is None:
            return unimplemented(call)
        try:
            request = operation.policy.request.FromString(call.request)
        except DecodeError:
            return refusal(call.id, InvalidArgument(f"expected a {operation.policy.request.DESCRIPTOR.name}"))
        seconds = call.timeout / MILLISECONDS if call.HasField("timeout") else None
        return self._serve(
            call.id, operation.policy, request, metadata=dict(call.metadata), seconds=seconds, peer=peer
        )

    async def _serve(
        self,
        call_id: int,
        policy: Policy,
        request: Message,
        *,
        metadata: Mapping[str, str],
        seconds: float | None,
        peer: Peer,
    ) -> pb.Answer:
        try:
            with self._within(seconds):
                response = await self._dispatcher.dispatch(
                    policy.path, request, metadata, time_remaining=seconds, peer=peer
                )
        except ServiceError as error:
            return refusal(call_id, error)
        except TimeoutError:
            return refusal(call_id, DeadlineExceeded(f"{policy.path} took longer than {seconds} s"))
        except asyncio.CancelledError:
            if is_cancelled():
                raise
            # Something that the servicer awaited was cancelled; the caller still waits for an answer.
            return refusal(call_id, Unavailable("the service cut the call off"))
        answer = pb.Answer(id=call_id, response=response.SerializeToString())
        if answer.ByteSize() > self._max_bytes:
            return refusal(call_id, PayloadTooLarge("the answer exceeds the configured size"))
        return answer

    def _within(self, seconds: float | None) -> AbstractContextManager[None]:
        return nullcontext() if seconds is None else self._deadlines.within(seconds)


def refusal(call_id: int, error: ServiceError) -> pb.Answer:
    return pb.Answer(id=call_id, status=error.status().SerializeToString())


def unimplemented(call: pb.Call) -> pb.Answer:
    """Return the answer that gRPC itself gives for an unknown method."""
    status = Status(code=_UNIMPLEMENTED, message=f"there is no {call.method}")
    return pb.Answer(id=call.id, status=status.SerializeToString())
