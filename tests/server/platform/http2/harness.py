"""A listener with handlers that carry octets, its clients of grpcio, and bare connections."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import grpc
import ngh2

from server.platform.grpcio_listener import GrpcioListener
from server.platform.http2 import Limits, Listener
from server.platform.metrics import Metrics
from server.platform.networks import Networks
from server.platform.sockets import free_port

HOST = "127.0.0.1"
SERVICE = "test.Octets"
SECONDS = 20.0
SOON = 0.2
MEBIBYTE = 1024 * 1024

Context = grpc.aio.ServicerContext[bytes, bytes]
LISTENERS = (Listener, GrpcioListener)


def limits(**changed: Any) -> Limits:
    usual: dict[str, Any] = {
        "max_connections": 16,
        "max_connection_calls": 256,
        "max_message_bytes": 5 * MEBIBYTE,
        "handshake_timeout_seconds": SECONDS,
        "idle_timeout_seconds": SECONDS,
    }
    return Limits(**usual | changed)


def same(octets: bytes) -> bytes:
    return octets


def unary(method: Callable[[bytes, Context], Awaitable[bytes]]) -> Any:
    return grpc.unary_unary_rpc_method_handler(method, same, same)


def answers(method: Callable[[bytes, Context], Any]) -> Any:
    return grpc.unary_stream_rpc_method_handler(method, same, same)


def exchange(method: Callable[[AsyncIterator[bytes], Context], Any]) -> Any:
    return grpc.stream_stream_rpc_method_handler(method, same, same)


async def echo(request: bytes, _: Context) -> bytes:
    return request


class Waiting:
    """A method that is answered when it is let go, and knows whether it was cut off."""

    def __init__(self) -> None:
        self.begun, self.cut_off, self.let_go = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def serve(self, request: bytes, _: Context) -> bytes:
        self.begun.set()
        try:
            await self.let_go.wait()
        except asyncio.CancelledError:
            self.cut_off.set()
            raise
        return request


@asynccontextmanager
async def listening(
    methods: Mapping[str, Any],
    kind: type[Listener] | type[GrpcioListener] = Listener,
    *,
    grace: float = 0.1,
    opened: Mapping[str, Any] | None = None,
    trusted: Networks | None = None,
    metrics: Metrics | None = None,
    **changed: Any,
) -> AsyncIterator[int]:
    """Serve the methods, and the `opened` ones, which need no credential, as `test.Open`."""
    own = {"metrics": metrics} if trusted is None else {"metrics": metrics, "trusted": trusted}
    listener: Listener | GrpcioListener = (
        Listener(limits(**changed), reuse_port=False, **own)
        if kind is Listener
        else GrpcioListener(limits(**changed), reuse_port=False)
    )
    listener.add_generic_rpc_handlers([grpc.method_handlers_generic_handler(SERVICE, dict(methods))])
    listener.add_open_handlers([grpc.method_handlers_generic_handler("test.Open", dict(opened or {}))])
    port = free_port(HOST)
    listener.listen(HOST, port)
    await listener.start()
    try:
        yield port
    finally:
        await listener.stop(grace)


@asynccontextmanager
async def channel_to(port: int) -> AsyncIterator[grpc.aio.Channel]:
    options = [("grpc.max_receive_message_length", -1), ("grpc.use_local_subchannel_pool", 1)]
    async with grpc.aio.insecure_channel(f"{HOST}:{port}", options=options) as channel:
        yield channel


class Peer:
    """A client that sends exactly what it is told to."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.http = ngh2.Connection(ngh2.Role.CLIENT)
        self._reader, self._writer = reader, writer

    async def send(self) -> None:
        self._writer.write(self.http.data_to_send())
        await self._writer.drain()

    def write(self, octets: bytes) -> None:
        self._writer.write(octets)

    async def request(self, path: str = f"/{SERVICE}/Echo", *, end: bool = False, **changed: str) -> int:
        stream_id = self.begun(path, end=end, **changed)
        await self.send()
        return stream_id

    def begun(self, path: str, *, end: bool = False, **changed: str) -> int:
        """Return the stream of a request whose octets are not sent yet."""
        fields = {
            ":method": "POST",
            ":scheme": "http",
            ":path": path,
            ":authority": "test",
            "content-type": "application/grpc",
            **{name.replace("_", "-"): value for name, value in changed.items()},
        }
        if "method" in fields:
            fields[":method"] = fields.pop("method")
        headers = [(name.encode(), value.encode()) for name, value in fields.items()]
        return self.http.send_request(headers, end_stream=end)

    async def events(self, until: type[ngh2.Event]) -> list[ngh2.Event]:
        """Read until there is one of this type; the connection may end before."""
        events: list[ngh2.Event] = []
        async with asyncio.timeout(SECONDS):
            while not any(isinstance(event, until) for event in events):
                data = await self._reader.read(65536)
                if not data:
                    break
                self.http.receive_data(data)
                events += self.http.events()
                await self.send()
        return events

    async def headers(self) -> dict[bytes, bytes]:
        """Return those of the next response."""
        events = await self.events(ngh2.ResponseReceived)
        return dict(next(event for event in events if isinstance(event, ngh2.ResponseReceived)).headers)

    async def rest(self) -> bytes:
        async with asyncio.timeout(SECONDS):
            return await self._reader.read()


@asynccontextmanager
async def peer_of(port: int, *, window: int = 65535) -> AsyncIterator[Peer]:
    """Connect; `window` is how many octets of a stream the client takes."""
    reader, writer = await asyncio.open_connection(HOST, port)
    peer = Peer(reader, writer)
    peer.http.initiate_connection({ngh2.Setting.INITIAL_WINDOW_SIZE: window})
    await peer.send()
    try:
        yield peer
    finally:
        writer.close()
