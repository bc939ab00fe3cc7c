"""One stream of a tunnel: calls in, answers out, each call in its own task.

The numbers of running calls and of unwritten answers are bounded, so that a client that only sends cannot
fill the memory. Calls beyond the bound are refused; with too many unwritten answers, reading stops. An empty
request asks for a sign of life, which is an empty response.
"""

import asyncio
from functools import partial

import grpc

from gnomon.tunnel.v1 import tunnel_service_pb2 as pb
from server.platform.errors import InvalidArgument, ResourceExhausted, ServiceError, Unavailable
from server.platform.peer import Peer
from server.platform.tunnel.batches import batches
from server.platform.tunnel.calls import Calls, refusal

Stream = grpc.aio.ServicerContext[pb.ExchangeRequest, pb.ExchangeResponse]


class Exchange:
    """Serves one stream: `run` lasts until the client closes it or `end` is called; cancellation cancels all calls."""

    def __init__(self, calls: Calls, peer: Peer, *, max_calls: int, max_message_bytes: int) -> None:
        self._calls = calls
        self._peer = peer
        self._max_calls = max_calls
        self._max_bytes = max_message_bytes
        self._running: dict[int, asyncio.Task[pb.Answer]] = {}
        self._answers: list[pb.Answer] = []
        self._changed = asyncio.Event()
        self._has_room = asyncio.Event()
        self._has_room.set()
        self._is_ending = False
        self._is_asked = False

    async def run(self, stream: Stream) -> None:
        async with asyncio.TaskGroup() as tasks:
            reading = tasks.create_task(self._read(stream, tasks))
            await self._write(stream)
            reading.cancel()

    def end(self) -> None:
        """Refuse further calls, and answer the running ones."""
        self._is_ending = True
        self._changed.set()

    async def _read(self, stream: Stream, tasks: asyncio.TaskGroup) -> None:
        while isinstance(request := await stream.read(), pb.ExchangeRequest):
            self._is_asked |= not (request.calls or request.cancellations)
            for call_id in request.cancellations:
                if call_id in self._running:
                    self._running[call_id].cancel()
            for call in request.calls:
                self._begin(call, tasks)
            if self._is_asked:
                self._changed.set()
            await self._has_room.wait()
        self.end()

    def _begin(self, call: pb.Call, tasks: asyncio.TaskGroup) -> None:
        error = self._objection(call)
        begun = refusal(call.id, error) if error else self._calls.begin(call, self._peer)
        if isinstance(begun, pb.Answer):
            self._put(begun)
        else:
            task = self._running[call.id] = tasks.create_task(begun)
            task.add_done_callback(partial(self._finish, call.id))

    def _objection(self, call: pb.Call) -> ServiceError | None:
        if self._is_ending:
            return Unavailable.untouched("the server takes no more calls")
        if len(self._running) >= self._max_calls:
            return ResourceExhausted(f"{self._max_calls} calls of this stream are running already")
        if call.id in self._running:
            return InvalidArgument(f"call {call.id} is running already")
        return None

    def _finish(self, call_id: int, task: asyncio.Task[pb.Answer]) -> None:
        del self._running[call_id]
        if task.cancelled():
            self._changed.set()
        else:
            self._put(task.result())

    def _put(self, answer: pb.Answer) -> None:
        self._answers.append(answer)
        self._changed.set()
        if len(self._answers) >= self._max_calls:
            self._has_room.clear()

    async def _write(self, stream: Stream) -> None:
        while not self._is_over:
            await self._changed.wait()
            self._changed.clear()
            answers, self._answers = self._answers, []
            for batch in batches(answers, self._max_bytes):
                await stream.write(pb.ExchangeResponse(answers=batch))
            if self._is_asked:
                self._is_asked = False
                await stream.write(pb.ExchangeResponse())
            self._has_room.set()

    @property
    def _is_over(self) -> bool:
        return self._is_ending and not self._running and not self._answers
