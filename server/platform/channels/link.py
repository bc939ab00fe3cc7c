"""The client's side of a tunnel: sends calls over one stream and matches the answers by id."""

import asyncio
from itertools import count

import grpc
from google.rpc.status_pb2 import Status

from gnomon.tunnel.v1 import tunnel_service_pb2 as pb
from server.platform.channels.port import Metadata
from server.platform.channels.silence import Silence
from server.platform.channels.status import error_of_status
from server.platform.errors import PayloadTooLarge, ServiceError, Unavailable
from server.platform.tunnel.batches import ENVELOPE_BYTES, batches

# Signs of life that are requested within the silence after which a server counts as gone.
ASKED_IN_A_SILENCE = 4

Stream = grpc.aio.StreamStreamCall[pb.ExchangeRequest, pb.ExchangeResponse]


class Link:
    """A tunnel connection that lives as long as its stream.

    `run` ends with the stream, and all pending calls fail with it. A server that has nothing to send is asked
    for a sign of life. A server that is silent for `silence_seconds` counts as gone, even before it accepted
    the stream. Seconds during which this process stands still do not count.
    """

    def __init__(self, stream: Stream, max_message_bytes: int, silence_seconds: float) -> None:
        self._stream = stream
        self._silence = Silence(silence_seconds)
        self._sign_seconds = silence_seconds / ASKED_IN_A_SILENCE
        self._max_bytes = max_message_bytes
        self._ids = count(1)
        self._awaited: dict[int, asyncio.Future[bytes | ServiceError]] = {}
        self._unsent: dict[int, pb.Call] = {}
        self._cancellations: list[int] = []
        self._work = asyncio.Event()
        # Whether the server ended the stream. It has then answered all calls that it read.
        self._has_ended = False

    async def open(self) -> None:
        """Return when the server has accepted the stream; raises grpc.RpcError or TimeoutError if it does not."""
        async with self._silence.limited():
            await self._stream.initial_metadata()
            await self._stream.wait_for_connection()

    async def call(
        self, method: str, request: bytes, metadata: Metadata | None, milliseconds: int | None
    ) -> bytes:
        """Return the serialized response; raises ServiceError. Cancellation cancels the call on the server too."""
        call = pb.Call(
            id=next(self._ids),
            method=method,
            request=request,
            metadata=dict(metadata or ()),
            timeout=milliseconds,
        )
        if call.ByteSize() + ENVELOPE_BYTES > self._max_bytes:
            raise PayloadTooLarge("the message exceeds the configured size")
        answer: asyncio.Future[bytes | ServiceError] = asyncio.get_running_loop().create_future()
        self._awaited[call.id] = answer
        self._unsent[call.id] = call
        self._work.set()
        try:
            outcome = await answer
        except asyncio.CancelledError:
            self._take_back(call.id)
            raise
        if isinstance(outcome, ServiceError):
            raise outcome
        return outcome

    def _take_back(self, call_id: int) -> None:
        if self._awaited.pop(call_id, None) is None:
            return
        if self._unsent.pop(call_id, None) is None:
            self._cancellations.append(call_id)
            self._work.set()

    async def run(self) -> None:
        """Exchange batches until the server ends the stream.

        Raises an exception group: of grpc.RpcError when the stream breaks, of TimeoutError when the server is
        silent.
        """
        try:
            async with asyncio.TaskGroup() as tasks:
                writing = tasks.create_task(self._write())
                try:
                    await self._read()
                finally:
                    writing.cancel()
                    self._stream.cancel()
        finally:
            self._give_up()

    async def _read(self) -> None:
        async with self._silence.limited():
            while isinstance(response := await self._stream.read(), pb.ExchangeResponse):
                self._silence.heard()
                for answer in response.answers:
                    self._settle(answer.id, _outcome(answer))
        self._has_ended = True

    def _settle(self, call_id: int, outcome: bytes | ServiceError) -> None:
        answer = self._awaited.pop(call_id, None)
        if answer is not None and not answer.done():
            answer.set_result(outcome)

    def _give_up(self) -> None:
        for call_id in list(self._awaited):
            if self._has_ended or call_id in self._unsent:
                self._settle(call_id, Unavailable.untouched("the server takes no more calls"))
            else:
                self._settle(call_id, Unavailable("the connection to the service broke"))

    async def _write(self) -> None:
        try:
            while True:
                await self._worth_writing()
                await self._write_waiting()
        except (grpc.aio.AioRpcError, asyncio.InvalidStateError):
            # The stream has ended; the reading task raises the reason.
            return

    async def _worth_writing(self) -> None:
        """Wait until there is something to write, and ask for signs of life meanwhile."""
        while not self._work.is_set():
            try:
                async with asyncio.timeout(self._sign_seconds):
                    await self._work.wait()
            except TimeoutError:
                await self._stream.write(pb.ExchangeRequest())
        self._work.clear()

    async def _write_waiting(self) -> None:
        cancellations, self._cancellations = self._cancellations, []
        if cancellations:
            await self._stream.write(pb.ExchangeRequest(cancellations=cancellations))
        calls, self._unsent = self._unsent, {}
        for batch in batches(calls.values(), self._max_bytes):
            await self._stream.write(pb.ExchangeRequest(calls=batch))


def _outcome(answer: pb.Answer) -> bytes | ServiceError:
    if answer.HasField("status"):
        return error_of_status(Status.FromString(answer.status))
    return answer.response
