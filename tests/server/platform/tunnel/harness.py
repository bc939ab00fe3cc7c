"""A server on a socket with one servicer, callers of it, and a wire between them that can be cut."""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, cast

import grpc

from gnomon.engine.v1 import process_instance_service_pb2 as pb
from gnomon.engine.v1.process_instance_service_pb2_grpc import ProcessInstanceServiceStub
from gnomon.tunnel.v1 import tunnel_service_pb2 as tunnel_pb
from server.platform.call import AUTHORIZATION, Call, Principal, TenantId
from server.platform.channels import Channel, error_of
from server.platform.channels.port import Metadata
from server.platform.dispatch import Dispatcher
from server.platform.errors import Unauthenticated
from server.platform.grpc_server import GrpcConfig, GrpcServer
from server.platform.interceptors import interceptors
from server.platform.policy import Mode, policies_of
from server.platform.tunnel import SERVICE as TUNNEL
from server.platform.tunnel.exchange import Stream

if TYPE_CHECKING:
    from gnomon.engine.v1.process_instance_service_pb2_grpc import ProcessInstanceServiceAsyncStub

HOST = "127.0.0.1"
SECONDS = 20.0
MEBIBYTE = 1024 * 1024

SERVICE = pb.DESCRIPTOR.services_by_name["ProcessInstanceService"]
CREATE = f"/{SERVICE.full_name}/CreateProcessInstance"
CREDENTIAL = (AUTHORIZATION, "Bearer worker")
WORKER = Principal(
    "worker",
    frozenset({TenantId("default")}),
    frozenset(policy.permission for policy in policies_of(SERVICE).values()),
)

Serve = Callable[[pb.CreateProcessInstanceRequest], Awaitable[pb.CreateProcessInstanceResponse]]


async def echo(request: pb.CreateProcessInstanceRequest) -> pb.CreateProcessInstanceResponse:
    return pb.CreateProcessInstanceResponse(
        process_definition_id=request.process_definition_id, variables=request.variables
    )


class Desk:
    """Creates process instances the way `serve` does, and keeps the calls."""

    def __init__(self) -> None:
        self.serve: Serve = echo
        self.calls: list[Call] = []

    async def create_process_instance(
        self, request: pb.CreateProcessInstanceRequest, call: Call
    ) -> pb.CreateProcessInstanceResponse:
        self.calls.append(call)
        return await self.serve(request)


class Waiting:
    """Serves a call when it is let go."""

    def __init__(self) -> None:
        self.begun = 0
        self.cut_off = 0
        self.let_go = asyncio.Event()

    async def __call__(self, request: pb.CreateProcessInstanceRequest) -> pb.CreateProcessInstanceResponse:
        self.begun += 1
        try:
            await self.let_go.wait()
        except asyncio.CancelledError:
            self.cut_off += 1
            raise
        return await echo(request)


def authenticate(call: Call) -> None:
    if call.metadata.get(AUTHORIZATION) != CREDENTIAL[1]:
        raise Unauthenticated("unknown")
    call.principal = WORKER


def server_of(desk: Desk, config: GrpcConfig) -> GrpcServer:
    return GrpcServer(Dispatcher({SERVICE: desk}, interceptors(Mode.EMBEDDED, authenticate)), config)


@asynccontextmanager
async def serving(desk: Desk, config: GrpcConfig | None = None) -> AsyncIterator[str]:
    """Where it listens."""
    server = server_of(desk, config or GrpcConfig(port=0, drain_seconds=0.1))
    port = await server.start()
    try:
        yield f"{HOST}:{port}"
    finally:
        await server.stop()


@asynccontextmanager
async def odd_server(serve: Callable[[Stream], Awaitable[None]]) -> AsyncIterator[str]:
    """Where a server listens that treats the stream of each tunnel in a way of its own."""

    async def exchange(_: AsyncIterator[tunnel_pb.ExchangeRequest], stream: Stream) -> None:
        await serve(stream)

    handler = grpc.stream_stream_rpc_method_handler(
        exchange,
        request_deserializer=tunnel_pb.ExchangeRequest.FromString,
        response_serializer=tunnel_pb.ExchangeResponse.SerializeToString,
    )
    server = grpc.aio.server()
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(TUNNEL, {"Exchange": handler}),))
    port = server.add_insecure_port(f"{HOST}:0")
    await server.start()
    try:
        yield f"{HOST}:{port}"
    finally:
        await server.stop(0)


class Broken:
    """Answers what no client understands, on each of its streams."""

    def __init__(self) -> None:
        self.streams = 0

    async def __call__(self, stream: Stream) -> None:
        self.streams += 1
        await stream.send_initial_metadata(())
        await stream.write(tunnel_pb.ExchangeResponse(answers=[tunnel_pb.Answer(id=1, status=b"\xff")]))
        await asyncio.Event().wait()


class Caller:
    """Raises the ServiceError behind a failure."""

    def __init__(self, channel: Channel) -> None:
        self._stub: ProcessInstanceServiceAsyncStub = ProcessInstanceServiceStub(
            cast("grpc.aio.Channel", channel)
        )

    async def create(
        self,
        process_id: str,
        *,
        variables: bytes = b"",
        seconds: float | None = SECONDS,
        metadata: Metadata = (CREDENTIAL,),
    ) -> pb.CreateProcessInstanceResponse:
        request = pb.CreateProcessInstanceRequest(process_definition_id=process_id, variables=variables)
        try:
            return await self._stub.CreateProcessInstance(request, timeout=seconds, metadata=metadata)
        except grpc.RpcError as failure:
            raise error_of(failure) from failure


class Wire:
    """Leads to a server; every connection over it can be cut, and all of it clogged. Counts the pieces it carried."""

    def __init__(self, target: str) -> None:
        self._host, _, port = target.rpartition(":")
        self._port = int(port)
        self._writers: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_clear = _clear()
        self.carried = 0
        self.connections = 0

    @asynccontextmanager
    async def laid(self) -> AsyncIterator[str]:
        """Where it begins."""
        listener = await asyncio.start_server(self._connect, HOST, 0)
        async with listener:
            yield f"{HOST}:{listener.sockets[0].getsockname()[1]}"
            self.cut()
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    def cut(self) -> None:
        for writer in self._writers:
            writer.transport.abort()

    def clog(self) -> None:
        """Carry nothing more, and leave every connection open."""
        self._is_clear.clear()

    def lose(self) -> None:
        """Carry nothing more over the connections that there are, and leave them open; later ones are carried."""
        self.clog()
        self._is_clear = _clear()

    def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self._writers.add(writer)
        task = asyncio.ensure_future(self._carry_both(reader, writer, self._is_clear))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _carry_both(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, is_clear: asyncio.Event
    ) -> None:
        both = {writer}
        try:
            far_reader, far_writer = await asyncio.open_connection(self._host, self._port)
            both.add(far_writer)
            self._writers.add(far_writer)
            async with asyncio.TaskGroup() as directions:
                directions.create_task(self._carry(reader, far_writer, is_clear))
                directions.create_task(self._carry(far_reader, writer, is_clear))
        finally:
            for each in both:
                each.transport.abort()
            self._writers -= both

    async def _carry(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, is_clear: asyncio.Event
    ) -> None:
        with suppress(ConnectionError):
            while piece := await reader.read(MEBIBYTE):
                await is_clear.wait()
                writer.write(piece)
                self.carried += 1
                await writer.drain()
        writer.close()


def _clear() -> asyncio.Event:
    event = asyncio.Event()
    event.set()
    return event


def free_port() -> int:
    with socket.create_server((HOST, 0)) as reserved:
        port: int = reserved.getsockname()[1]
    return port


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(SECONDS):
        while not condition():  # noqa: ASYNC110  # what is looked at tells nobody when it changes
            await asyncio.sleep(0.005)
