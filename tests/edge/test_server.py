"""The listener: bounds, hostile clients, timeouts, clients that go away, an orderly end."""

import asyncio
import gzip
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web
from google.protobuf.message import Message

from edge.app import create_app
from edge.config import EdgeConfig
from edge.listener import EdgeServer
from gnomon.engine.v1 import job_service_pb2
from server.platform.call import Call
from tests.edge.harness import Edge, running

SMALL = EdgeConfig(port=0, max_body_bytes=1000)
IMPATIENT = EdgeConfig(port=0, call_timeout_seconds=0.05, long_call_timeout_seconds=0.3)


@pytest.fixture(params=["local", "grpc"])
async def small_edge(request: pytest.FixtureRequest) -> AsyncIterator[Edge]:
    async with running(request.param, SMALL) as edge:
        yield edge


@pytest.fixture(params=["local", "grpc"])
async def impatient_edge(request: pytest.FixtureRequest) -> AsyncIterator[Edge]:
    async with running(request.param, IMPATIENT) as edge:
        yield edge


async def _raw(edge: Edge, data: bytes) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", edge.port)
    writer.write(data)
    answer = await asyncio.wait_for(reader.read(4096), 5)
    writer.close()
    return answer


async def _chunks(size: int) -> AsyncIterator[bytes]:
    for _ in range(size // 100):
        yield b" " * 100


async def test_a_body_up_to_the_bound_is_taken(small_edge: Edge) -> None:
    body = '{"errorMessage": "' + "x" * 980 + '"}'

    assert len(body) == 1000
    assert (await small_edge.post_json("/v2/jobs/1/failure", body)).status == 204


@pytest.mark.parametrize("path", ["/v2/jobs/1/failure", "/v2/deployments"])
async def test_a_larger_body_is_refused(small_edge: Edge, path: str) -> None:
    reply = await small_edge.post_json(path, b" " * 1001)

    assert (reply.status, json.loads(reply.body)["type"]) == (413, "urn:bpm:error:payload-too-large")
    assert {call.policy.name for call in small_edge.servicers.calls} == {"ReportRefusal"}


async def test_a_larger_body_of_unknown_length_is_refused(small_edge: Edge) -> None:
    reply = await small_edge.send(
        "POST", "/v2/jobs/1/failure", data=_chunks(100_000), headers={"Content-Type": "application/json"}
    )

    assert reply.status == 413


async def test_a_packed_body_is_not_unpacked(small_edge: Edge) -> None:
    headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}

    reply = await small_edge.send("POST", "/v2/jobs/1/failure", data=gzip.compress(b"{}"), headers=headers)

    assert reply.status == 400


@pytest.mark.parametrize(("length", "status"), [(2, b"100 Continue"), (1001, b"413 ")])
async def test_a_client_that_asks_before_it_sends_is_answered(length: int, status: bytes) -> None:
    async with running("local", SMALL) as edge:
        answer = await _raw(
            edge,
            b"POST /v2/jobs/1/failure HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n"
            b"Content-Type: application/json\r\nContent-Length: " + str(length).encode() + b"\r\n\r\n",
        )

    assert answer.startswith(b"HTTP/1.1 " + status)


@pytest.mark.parametrize(
    "target",
    [
        pytest.param(b"/v2/variables/\xff", id="raw byte"),
        pytest.param(b"/v2/variables/%ff", id="escaped byte"),
        pytest.param(b"/v2/variables/%ED%A0%80", id="escaped surrogate"),
        pytest.param(b"/v2/variables/%00", id="zero byte"),
        pytest.param(b"/v2/variables/1?x=%ff", id="escaped byte in the query"),
        pytest.param(b"/v2/variables/1?x=\xff", id="raw byte in the query"),
        pytest.param(b"/" + b"a/" * 3000, id="deep path"),
        pytest.param(b"//../%2e%2e/etc", id="dots"),
    ],
)
async def test_a_hostile_path_is_refused_and_nothing_breaks(local_edge: Edge, target: bytes) -> None:
    answer = await _raw(local_edge, b"GET " + target + b" HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")

    assert answer[9:12] in {b"400", b"404"}
    assert (await local_edge.post_json("/v2/jobs/1/failure", "{}")).status == 204


async def test_a_hostile_body_does_not_stop_the_server(local_edge: Edge) -> None:
    bodies = [
        b"[" * 1_000_000,
        b'{"variables":' + b'{"a":' * 100_000,
        b'{"retries":' + b"9" * 1_000_000 + b"}",
    ]

    replies = [await local_edge.post_json("/v2/jobs/1/failure", body) for body in bodies]

    assert {reply.status for reply in replies} == {400}


async def test_a_call_that_takes_too_long_is_unavailable(impatient_edge: Edge) -> None:
    impatient_edge.servicers.answers["fail_job"] = _slow

    reply = await impatient_edge.post_json("/v2/jobs/1/failure", "{}")

    assert (reply.status, json.loads(reply.body)["type"]) == (503, "urn:bpm:error:unavailable")


async def test_a_call_that_waits_has_more_time(impatient_edge: Edge) -> None:
    impatient_edge.servicers.answers["activate_jobs"] = _waits

    reply = await impatient_edge.post_json("/v2/jobs/activation", '{"type": "a"}')

    assert (reply.status, reply.body) == (200, b'{"jobs":[]}')


async def _slow(_: Message, __: Call) -> Message:
    await asyncio.Event().wait()
    raise AssertionError


async def _waits(_: Message, __: Call) -> Message:
    await asyncio.sleep(0.1)
    return job_service_pb2.ActivateJobsResponse()


async def test_a_client_that_goes_away_takes_its_call_with_it(edge: Edge) -> None:
    begun, ended = asyncio.Event(), asyncio.Event()

    async def wait(_: Message, __: Call) -> Message:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        raise AssertionError

    edge.servicers.answers["activate_jobs"] = wait
    _, writer = await asyncio.open_connection("127.0.0.1", edge.port)
    writer.write(b"POST /v2/jobs/activation HTTP/1.1\r\nHost: a\r\n\r\n")
    await asyncio.wait_for(begun.wait(), 5)

    writer.close()

    await asyncio.wait_for(ended.wait(), 5)


async def test_stopping_lets_requests_end() -> None:
    async with running("local") as edge:
        begun, go_on = asyncio.Event(), asyncio.Event()

        async def wait(_: Message, __: Call) -> Message:
            begun.set()
            await go_on.wait()
            return job_service_pb2.ActivateJobsResponse()

        edge.servicers.answers["activate_jobs"] = wait
        async with asyncio.TaskGroup() as group:
            reply = group.create_task(edge.post_json("/v2/jobs/activation", "{}"))
            await begun.wait()
            group.create_task(edge.stop())
            await asyncio.sleep(0)
            go_on.set()

    assert reply.result().status == 200


async def test_stopping_is_bounded() -> None:
    config = EdgeConfig(port=0, shutdown_seconds=0.1)
    async with running("local", config) as edge:
        begun = asyncio.Event()

        async def wait(_: Message, __: Call) -> Message:
            begun.set()
            return await _slow(_, __)

        edge.servicers.answers["activate_jobs"] = wait
        _, writer = await asyncio.open_connection("127.0.0.1", edge.port)
        writer.write(b"POST /v2/jobs/activation HTTP/1.1\r\nHost: a\r\n\r\n")
        await begun.wait()

        await asyncio.wait_for(edge.stop(), 5)

        writer.close()


async def test_further_routes_answer_for_themselves() -> None:
    async def moved(_: web.Request) -> web.StreamResponse:
        return web.Response(status=302, headers={"Location": "/elsewhere", "Server": "its own"})

    async with running("local", extra_routes=(web.get("/moved", moved),)) as edge:
        redirect = await edge.send("GET", "/moved", headers={"X-Request-Id": ""}, allow_redirects=False)

    assert (redirect.status, redirect.headers["Location"]) == (302, "/elsewhere")
    assert redirect.headers["Server"] == "gnomon"


async def test_two_servers_can_share_a_port() -> None:
    def server(port: int) -> EdgeServer:
        config = EdgeConfig(port=port, reuse_port=True)
        return EdgeServer(create_app(config, lambda _: _NoChannel()), config)

    first = server(0)
    port = await first.start()
    second = server(port)

    assert await second.start() == port
    await first.stop()
    await second.stop()


class _NoChannel:
    def unary_unary(self, *_: Any) -> Any:
        return None


@pytest.mark.parametrize(
    "settings", [{"port": 65536}, {"port": -1}, {"max_body_bytes": 0}, {"call_timeout_seconds": 0.0}]
)
def test_a_setting_out_of_bounds_is_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(settings))):
        EdgeConfig(**settings)
