"""A real HTTP server in front of small servicers, behind a channel within the process or a gRPC connection."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import grpc
from aiohttp import ClientSession, web
from google.protobuf.message import Message

from edge.app import create_app
from edge.config import EdgeConfig, Release
from edge.listener import EdgeServer
from edge.problem import RefusalOf, problem
from edge.refusals import RefusalReports
from server.platform.call import Call
from server.platform.channels import Channel, LocalChannel
from server.platform.dispatch import Dispatcher
from server.platform.grpc_server import GrpcConfig, GrpcServer
from server.platform.metrics import Metrics
from server.platform.policy import services

Answer = Message | Exception | Callable[[Message, Call], Awaitable[Message]]


@dataclass
class Servicers:
    """Answers each RPC, named in snake case, as configured, and records the requests."""

    answers: dict[str, Answer] = field(default_factory=dict)
    every_answer: Message | None = None
    requests: list[Message] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)

    def received(self, request: type[Message]) -> list[Message]:
        return [each for each in self.requests if isinstance(each, request)]

    def __getattr__(self, name: str) -> Callable[[Message, Call], Awaitable[Message]]:
        async def serve(request: Message, call: Call) -> Message:
            self.requests.append(request)
            self.calls.append(call)
            answer = self.answers.get(name, self.every_answer or call.policy.response())
            if isinstance(answer, Exception):
                raise answer
            return answer if isinstance(answer, Message) else await answer(request, call)

        return serve


@dataclass(frozen=True)
class Reply:
    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True)
class Edge:
    servicers: Servicers
    client: ClientSession
    port: int
    stop: Callable[[], Awaitable[None]]

    async def send(self, method: str, path: str, **options: Any) -> Reply:
        async with self.client.request(method, path, **options) as response:
            return Reply(response.status, response.headers, await response.read())

    async def post_json(self, path: str, text: str | bytes, **headers: str) -> Reply:
        return await self.send(
            "POST", path, data=text, headers={"Content-Type": "application/json", **headers}
        )


@asynccontextmanager
async def running(
    transport: str,
    config: EdgeConfig | None = None,
    extra_routes: tuple[web.RouteDef, ...] = (),
    *,
    trusted_proxies: tuple[str, ...] = (),
    has_tls: bool = False,
    page_of: RefusalOf = problem,
    metrics: Metrics | None = None,
    release: Release = Release.CAMUNDA_8_9,
) -> AsyncIterator[Edge]:
    servicers = Servicers()
    async with AsyncExitStack() as stack:
        channel = await _channel(transport, Dispatcher(dict.fromkeys(services(), servicers), []), stack)
        config = config or EdgeConfig(port=0)
        app = create_app(
            config,
            lambda _: channel,
            extra_routes,
            has_tls=has_tls,
            page_of=page_of,
            reports=RefusalReports(channel),
            release=release,
        )
        server = EdgeServer(app, config, trusted_proxies=trusted_proxies, metrics=metrics)
        port = await server.start()
        stack.push_async_callback(server.stop)
        client = await stack.enter_async_context(ClientSession(f"http://127.0.0.1:{port}"))
        yield Edge(servicers, client, port, server.stop)


async def _channel(transport: str, dispatcher: Dispatcher, stack: AsyncExitStack) -> Channel:
    if transport == "local":
        return LocalChannel(dispatcher)
    server = GrpcServer(dispatcher, GrpcConfig(port=0, drain_seconds=0.1))
    port = await server.start()
    stack.push_async_callback(server.stop)
    return await stack.enter_async_context(grpc.aio.insecure_channel(f"127.0.0.1:{port}"))
