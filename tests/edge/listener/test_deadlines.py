"""Heads, bodies, idleness and readers have deadlines; work has none."""

import asyncio
from contextlib import suppress
from dataclasses import replace

import pytest
from aiohttp import web
from google.protobuf.message import Message

from edge.config import EdgeConfig
from gnomon.engine.v1 import job_service_pb2
from server.platform.call import Call
from tests.edge.harness import Edge, running
from tests.edge.listener.wire import HALF_HEAD, HEAD, LONG_POLL, PATIENCE_SECONDS, Client, connected

SOON = 0.05
PATIENT = EdgeConfig(port=0)
SHORT_HEADS = replace(PATIENT, head_timeout_seconds=SOON)
SHORT_BODIES = replace(PATIENT, body_timeout_seconds=SOON)
SHORT_IDLENESS = replace(PATIENT, idle_timeout_seconds=SOON)
SHORT_READS = replace(PATIENT, send_timeout_seconds=SOON)
ALL_SHORT = EdgeConfig(
    port=0,
    head_timeout_seconds=SOON,
    body_timeout_seconds=SOON,
    idle_timeout_seconds=SOON,
    send_timeout_seconds=SOON,
)

POST = b"POST /v2/jobs/1/failure HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"


async def test_a_head_that_is_not_complete_in_time_is_refused() -> None:
    async with running("local", SHORT_HEADS) as edge, connected(edge) as client:
        await client.send(HALF_HEAD)

        answer = await client.answer()
        rest = await client.rest()

    assert (answer.status, answer.headers["connection"]) == (408, "close")
    assert answer.problem == {
        "type": "urn:bpm:error:invalid-argument",
        "title": "INVALID_ARGUMENT",
        "status": 408,
        "detail": "expected the complete request head within 0.05 s",
        "instance": "/",
    }
    assert answer.headers["server"] == "gnomon"
    assert rest == b""


async def test_a_connection_without_any_request_is_closed_without_a_word() -> None:
    async with running("local", SHORT_HEADS) as edge, connected(edge) as client:
        assert await client.rest() == b""


async def test_sending_a_head_slowly_does_not_prolong_its_deadline() -> None:
    async with running("local", SHORT_HEADS) as edge, connected(edge) as client:
        await client.send(HALF_HEAD + b"X: ")
        async with asyncio.TaskGroup() as group:
            trickle = group.create_task(_trickle(client))

            await client.end()

            trickle.cancel()


async def _trickle(client: Client) -> None:
    with suppress(ConnectionError):
        while True:
            await client.send(b"a")
            await asyncio.sleep(0)


async def test_the_head_of_a_further_request_has_the_same_deadline() -> None:
    async with running("local", SHORT_HEADS) as edge, connected(edge) as client:
        await client.send(HEAD)
        first = await client.answer()
        await client.send(HALF_HEAD)

        second = await client.answer()

    assert [first.status, second.status] == [204, 408]


@pytest.mark.parametrize(
    "framing", [b"Content-Length: 10\r\n\r\n{}", b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n"]
)
async def test_a_body_that_is_not_complete_in_time_is_refused(framing: bytes) -> None:
    async with running("local", SHORT_BODIES) as edge, connected(edge) as client:
        await client.send(POST + framing)

        answer = await client.answer()
        rest = await client.rest()

    assert (answer.status, answer.headers["connection"]) == (408, "close")
    assert answer.problem["detail"] == "expected the complete body within 0.05 s"
    assert answer.problem["instance"] == "/v2/jobs/1/failure"
    assert edge.servicers.received(job_service_pb2.FailJobRequest) == []
    assert rest == b""


async def test_a_body_that_no_handler_reads_holds_its_connection_no_longer() -> None:
    async with running("local", SHORT_BODIES) as edge, connected(edge) as client:
        await client.send(b"POST /nothing HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n{}")

        answer = await client.answer()
        rest = await client.rest()

    assert answer.status == 404
    assert rest == b""


async def test_a_kept_connection_is_closed_when_no_request_comes() -> None:
    async with running("local", SHORT_IDLENESS) as edge, connected(edge) as client:
        await client.send(HEAD)

        answer = await client.answer()
        rest = await client.rest()

    assert answer.status == 204
    assert rest == b""


async def test_a_kept_connection_serves_until_then() -> None:
    async with (
        running("local", replace(SHORT_HEADS, body_timeout_seconds=SOON)) as edge,
        connected(edge) as kept,
    ):
        await kept.send(HEAD)
        first = await kept.answer()
        await _deadlines_pass(edge)
        await kept.send(HEAD)
        second = await kept.answer()

    assert [first.status, second.status] == [204, 204]


async def test_a_call_that_waits_is_not_cut() -> None:
    async with running("local", ALL_SHORT) as edge, connected(edge) as client:
        begun, go_on = asyncio.Event(), asyncio.Event()

        async def wait(_: Message, __: Call) -> Message:
            begun.set()
            await go_on.wait()
            return job_service_pb2.ActivateJobsResponse()

        edge.servicers.answers["activate_jobs"] = wait
        await client.send(LONG_POLL)
        await asyncio.wait_for(begun.wait(), PATIENCE_SECONDS)
        await _deadlines_pass(edge)
        go_on.set()

        answer = await client.answer()

    assert (answer.status, answer.body) == (200, b'{"jobs":[]}')


async def test_an_answer_that_is_streamed_is_not_cut_while_it_is_read() -> None:
    go_on = asyncio.Event()

    async def stream(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Length": "3"})
        await response.prepare(request)
        await response.write(b"a")
        await go_on.wait()
        await response.write(b"bc")
        return response

    async with running("local", ALL_SHORT, (web.get("/stream", stream),)) as edge, connected(edge) as client:
        await client.send(b"GET /stream HTTP/1.1\r\nHost: a\r\n\r\n")
        await _deadlines_pass(edge)
        go_on.set()

        answer = await client.answer()

    assert answer.body == b"abc"


async def test_a_client_that_reads_nothing_is_disconnected() -> None:
    ended = asyncio.Event()

    async def pour(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        try:
            while True:
                await response.write(b"x" * 1_000_000)
        finally:
            ended.set()

    async with running("local", SHORT_READS, (web.get("/pour", pour),)) as edge, connected(edge) as client:
        await client.send(b"GET /pour HTTP/1.1\r\nHost: a\r\n\r\n")

        await asyncio.wait_for(ended.wait(), PATIENCE_SECONDS)


async def test_a_head_without_an_end_is_refused() -> None:
    config = replace(PATIENT, max_head_bytes=1000)
    async with running("local", config) as edge, connected(edge) as client:
        await client.send(HALF_HEAD + b"X: aaaaaaaaaa\r\n" * 100)

        answer = await client.answer()
        rest = await client.rest()

    assert answer.status == 400
    assert answer.problem["detail"] == "expected a request head of at most 1000 bytes"
    assert rest == b""


async def test_a_large_body_beside_its_head_is_no_large_head() -> None:
    body = b'{"errorMessage": "' + b"x" * 200_000 + b'"}'
    async with running("local", replace(PATIENT, max_head_bytes=1000)) as edge, connected(edge) as client:
        for _ in range(3):
            await client.send(POST + b"Content-Length: %d\r\n\r\n" % len(body) + body)

        answers = [await client.answer() for _ in range(3)]

    assert [answer.status for answer in answers] == [204, 204, 204]


async def test_stopping_does_not_wait_for_requests_that_never_come() -> None:
    async with (
        running("local", replace(PATIENT, shutdown_seconds=60)) as edge,
        connected(edge) as silent,
        connected(edge) as half,
        connected(edge) as idle,
    ):
        await half.send(HALF_HEAD)
        await idle.send(HEAD)
        await idle.answer()

        await asyncio.wait_for(edge.stop(), PATIENCE_SECONDS)

        for client in (silent, half, idle):
            await client.end()


async def _deadlines_pass(edge: Edge) -> None:
    """Return when a head and then another one, begun later, have run into their deadline."""
    for _ in range(2):
        async with connected(edge) as other:
            await other.send(HALF_HEAD)
            await other.end()
