"""A channel to a server in another process: many calls share one stream of batches.

Each call carries its caller's credential in its metadata. An edge authenticates in the metadata of the
stream.
"""

import asyncio
import logging
import math
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Self

import grpc
from google.protobuf.message import DecodeError, Message

from gnomon.tunnel.v1.tunnel_service_pb2_grpc import TunnelServiceStub
from server.platform.back_off import BackOff
from server.platform.cancellation import is_cancelled
from server.platform.channels.failure import CallError
from server.platform.channels.link import Link
from server.platform.channels.port import Metadata, UnaryCall, UnaryChannel
from server.platform.deadlines import Deadlines
from server.platform.errors import (
    DeadlineExceeded,
    Internal,
    ResourceExhausted,
    ServiceError,
    Unavailable,
)

if TYPE_CHECKING:
    from gnomon.tunnel.v1.tunnel_service_pb2_grpc import TunnelServiceAsyncStub

logger = logging.getLogger(__name__)

MILLISECONDS = 1000
MEBIBYTE = 1024 * 1024
LONGEST_MILLISECONDS = 2**32 - 1
FIRST_PAUSE_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class TunnelConfig:
    """[tunnel]: at most `max_calls` may run at once; a call waits up to `connect_seconds` for a connection.

    `max_message_bytes` is the server's message limit. A broken connection is retried after pauses of at most
    about `max_back_off_seconds`. A connection counts as broken if its server is silent for `silence_seconds`
    while this process runs.
    """

    max_calls: int = 4096
    max_message_bytes: int = 5 * MEBIBYTE
    connect_seconds: float = 5.0
    max_back_off_seconds: float = 2.0
    silence_seconds: float = 2.5


class TunnelChannel(UnaryChannel):
    """A channel that connects, and reconnects after a failure, while `run` runs.

    As an `async with` block, it runs for the duration of the block.
    """

    def __init__(
        self, target: str, config: TunnelConfig = TunnelConfig(), *, metadata: Metadata = ()
    ) -> None:
        self._target = target
        self._metadata = metadata
        self._config = config
        self._back_off = BackOff(FIRST_PAUSE_SECONDS, config.max_back_off_seconds)
        self._deadlines = Deadlines()
        self._link: Link | None = None
        self._linked = asyncio.Event()
        self._under_way = 0
        self._idle = asyncio.Event()
        self._failures = 0

    async def __aenter__(self) -> Self:
        self._tasks = asyncio.TaskGroup()
        await self._tasks.__aenter__()
        self._running = self._tasks.create_task(self.run())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._running.cancel()
        # An exception of the block passes through unchanged instead of in an exception group.
        await self._tasks.__aexit__(None, None, None)

    @property
    def is_connected(self) -> bool:
        """Whether a call would be sent without waiting for a connection."""
        return self._link is not None

    async def idle(self) -> None:
        """Return when no call is under way."""
        while self._under_way:
            self._idle.clear()
            await self._idle.wait()

    def unary_unary(
        self,
        method: str,
        request_serializer: Callable[[Message], bytes] | None = None,
        response_deserializer: Callable[[bytes], Message] | None = None,
        _registered_method: bool | None = False,  # noqa: FBT001, FBT002  # as generated code calls it
    ) -> UnaryCall[Message, Message]:
        if request_serializer is None or response_deserializer is None:
            raise TypeError(f"expected serializers of {method}: a tunnel carries bytes")

        async def call(
            request: Message,
            *,
            timeout: float | None = None,  # noqa: ASYNC109  # as stubs call it
            metadata: Metadata | None = None,
        ) -> Message:
            try:
                return response_deserializer(
                    await self._call(method, request_serializer(request), metadata, timeout)
                )
            except ServiceError as error:
                raise CallError(error) from error
            except TimeoutError as error:
                raise CallError(DeadlineExceeded(f"{method} took longer than {timeout} s")) from error
            except DecodeError as error:
                raise CallError(Internal()) from error

        return call

    async def _call(
        self, method: str, request: bytes, metadata: Metadata | None, seconds: float | None
    ) -> bytes:
        if self._under_way >= self._config.max_calls:
            raise ResourceExhausted(f"{self._config.max_calls} calls are running already")
        self._under_way += 1
        try:
            # A call that still waits for a connection was not sent, so it ends as unavailable instead of
            # timed out.
            link, left = (self._link, seconds) if self._link else await self._connected(seconds)
            if left is None:
                return await link.call(method, request, metadata, None)
            with self._deadlines.within(left):
                return await link.call(method, request, metadata, _milliseconds(left))
        finally:
            self._under_way -= 1
            if not self._under_way:
                self._idle.set()

    async def _connected(self, seconds: float | None) -> tuple[Link, float | None]:
        """Return the link and the remaining seconds; raises Unavailable when no connection is made in time."""
        clock = asyncio.get_running_loop().time
        start = clock()
        patience = self._config.connect_seconds
        try:
            async with asyncio.timeout(patience if seconds is None else min(patience, seconds)):
                while self._link is None:
                    await self._linked.wait()
        except TimeoutError:
            raise Unavailable.untouched(f"there is no connection to {self._target}") from None
        return self._link, None if seconds is None else seconds - (clock() - start)

    async def run(self) -> None:
        """Stay connected until cancelled: log each lost connection and open another one."""
        while True:
            try:
                # A new channel per attempt: the connection to a server that vanished silently would stay
                # open.
                async with grpc.aio.insecure_channel(self._target, options=_options(self._config)) as channel:
                    await self._connect(channel)
            except* grpc.aio.AioRpcError as errors:
                self._report("a tunnel broke", errors)
            except* TimeoutError as errors:
                self._report("a tunnel's server is silent", errors)
            except* Exception:
                logger.exception("a tunnel failed", extra={"target": self._target})
            if is_cancelled():
                raise asyncio.CancelledError
            self._failures += 1
            await asyncio.sleep(self._back_off.seconds(self._failures))

    async def _connect(self, channel: grpc.aio.Channel) -> None:
        """Connect, and return when the connection has ended."""
        await channel.channel_ready()
        stub: TunnelServiceAsyncStub = TunnelServiceStub(channel)
        stream = stub.Exchange(metadata=tuple(self._metadata))
        link = Link(stream, self._config.max_message_bytes, self._config.silence_seconds)
        await link.open()
        logger.info("a tunnel is open", extra={"target": self._target})
        self._failures = 0
        self._link = link
        self._linked.set()
        try:
            await link.run()
        finally:
            self._link = None
            self._linked.clear()

    def _report(self, message: str, errors: BaseExceptionGroup[Exception]) -> None:
        """Log the first of several failures in a row only."""
        if self._failures == 0:
            logger.warning(
                message, extra={"target": self._target, "errors": [*map(_fact, errors.exceptions)]}
            )


def _milliseconds(seconds: float | None) -> int | None:
    if seconds is None:
        return None
    return min(max(math.ceil(seconds * MILLISECONDS), 1), LONGEST_MILLISECONDS)


def _options(config: TunnelConfig) -> list[tuple[str, int]]:
    return [
        ("grpc.max_receive_message_length", config.max_message_bytes),
        ("grpc.initial_reconnect_backoff_ms", int(FIRST_PAUSE_SECONDS * MILLISECONDS)),
        ("grpc.min_reconnect_backoff_ms", int(config.connect_seconds * MILLISECONDS)),
        ("grpc.max_reconnect_backoff_ms", int(config.max_back_off_seconds * MILLISECONDS)),
        # Channels to one target would otherwise share connections.
        ("grpc.use_local_subchannel_pool", 1),
    ]


def _fact(error: BaseException) -> str:
    if isinstance(error, grpc.aio.AioRpcError):
        return f"{error.code().name}: {error.details()}"
    return type(error).__name__
