"""Malformed requests: each gets a problem that repeats nothing and does not name the software."""

import pytest
from aiohttp import web

from gnomon.engine.v1 import job_service_pb2
from tests.edge.harness import running
from tests.edge.listener.wire import HEAD, connected

POST = b"POST /v2/jobs/1/failure HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"

MALFORMED = [
    pytest.param(b"MARKER\r\n\r\n", id="no request line"),
    pytest.param(b"MARKER /v2/status HTTP/1.1\r\nHost: a\r\n\r\n", id="unknown method"),
    pytest.param(b"G\xffT /MARKER HTTP/1.1\r\nHost: a\r\n\r\n", id="method of no letters"),
    pytest.param(b"GET  HTTP/1.1\r\nHost: MARKER\r\n\r\n", id="no target"),
    pytest.param(b"GET ?MARKER HTTP/1.1\r\nHost: a\r\n\r\n", id="target without a path"),
    pytest.param(b"GET http://[MARKER HTTP/1.1\r\nHost: a\r\n\r\n", id="target with a broken host"),
    pytest.param(b"GET / HTTP/1.1\nHost: MARKER\n\n", id="line feeds alone"),
    pytest.param(b"GET / HTTP/9.9\r\nHost: MARKER\r\n\r\n", id="version 9.9"),
    pytest.param(b"GET / HTTP/2.0\r\nHost: MARKER\r\n\r\n", id="version 2.0"),
    pytest.param(b"GET /\r\n\r\nMARKER", id="version 0.9"),
    pytest.param(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nMARKER", id="preface of HTTP/2"),
    pytest.param(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfcMARKER", id="TLS"),
    pytest.param(b"GET / HTTP/1.1\r\n\r\n", id="no host"),
    pytest.param(b"GET / HTTP/1.1\r\nHost: a\r\nHost: MARKER\r\n\r\n", id="two hosts"),
    pytest.param(b"GET / HTTP/1.1\r\nHost: a\r\nbad MARKER\r\n\r\n", id="no header"),
    pytest.param(b"GET / HTTP/1.1\r\nHost: a\r\nX: MARKER\x00\r\n\r\n", id="zero byte in a header"),
    pytest.param(b"GET / HTTP/1.1\r\nHost: a\r\nX: a\r\n MARKER\r\n\r\n", id="folded header"),
    pytest.param(b"GET /" + b"MARKER" * 2000 + b" HTTP/1.1\r\nHost: a\r\n\r\n", id="long target"),
    pytest.param(b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"MARKER" * 2000 + b"\r\n\r\n", id="long header"),
    pytest.param(b"GET / HTTP/1.1\r\nHost: a\r\n" + b"X: MARKER\r\n" * 500 + b"\r\n", id="many headers"),
    pytest.param(POST + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}", id="two lengths"),
    pytest.param(POST + b"Content-Length: -2\r\n\r\n{}", id="negative length"),
    pytest.param(
        POST + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}", id="length and transfer encoding"
    ),
    pytest.param(POST + b"Transfer-Encoding: gzip\r\n\r\nMARKER", id="unknown transfer encoding"),
    pytest.param(CHUNKED + b"MARKER\r\n{}\r\n0\r\n\r\n", id="no size of a chunk"),
    pytest.param(POST + b"Content-Length: 2\r\n\r\n{}MARKER\r\n\r\n", id="no request line after a request"),
]


@pytest.mark.parametrize("data", MALFORMED)
async def test_a_malformed_request_gets_a_problem_that_repeats_nothing(data: bytes) -> None:
    async with running("local") as edge, connected(edge) as client:
        await client.send(data)

        answer = await client.answer()
        rest = await client.rest()

    assert (answer.status, answer.problem["type"]) == (400, "urn:bpm:error:invalid-argument")
    assert answer.headers["server"] == "gnomon"
    assert b"MARKER" not in answer.body
    assert rest == b""


@pytest.mark.parametrize(
    ("target", "status"), [(b"OPTIONS *", 404), (b"CONNECT a:443", 404), (b"GET /nothing", 404)]
)
async def test_a_target_that_no_route_has_gets_a_problem(target: bytes, status: int) -> None:
    async with running("local") as edge, connected(edge) as client:
        await client.send(target + b" HTTP/1.1\r\nHost: a\r\n\r\n")

        answer = await client.answer()

    assert (answer.status, answer.problem["type"]) == (status, "urn:bpm:error:not-found")
    assert answer.headers["server"] == "gnomon"


BROKEN_BODIES = [
    pytest.param(b"zz\r\n{}\r\n0\r\n\r\n", id="size of a chunk"),
    pytest.param(b"2\r\n{}xx", id="end of a chunk"),
    pytest.param(b"2\r\n{}\r\n0\r\nno trailer\r\n\r\n", id="trailer"),
]


@pytest.mark.parametrize("body", BROKEN_BODIES)
async def test_a_body_that_breaks_after_its_head_is_refused_at_once(body: bytes) -> None:
    async with running("local") as edge, connected(edge) as client:
        await client.send(CHUNKED.replace(b"Host: a", b"Host: a\r\nExpect: 100-continue"))
        await client.is_asked_to_go_on()
        await client.send(body)

        answer = await client.answer()
        rest = await client.rest()

    assert (answer.status, answer.problem["type"]) == (400, "urn:bpm:error:invalid-argument")
    assert edge.servicers.received(job_service_pb2.FailJobRequest) == []
    assert rest == b""


async def test_a_fault_of_a_handler_without_a_guard_is_internal() -> None:
    async def fail(_: web.Request) -> web.StreamResponse:
        raise RuntimeError("secret")

    async with running("local", extra_routes=(web.get("/fails", fail),)) as edge, connected(edge) as client:
        await client.send(b"GET /fails HTTP/1.1\r\nHost: a\r\nAccept: text/html\r\n\r\n")

        answer = await client.answer()

    assert (answer.status, answer.problem["detail"]) == (500, "an internal error occurred")
    assert answer.headers["server"] == "gnomon"


async def test_an_unknown_expectation_of_another_route_gets_a_problem() -> None:
    async def answer_ok(_: web.Request) -> web.StreamResponse:
        return web.Response()

    routes = (web.get("/other", answer_ok),)
    async with running("local", extra_routes=routes) as edge, connected(edge) as client:
        await client.send(b"GET /other HTTP/1.1\r\nHost: a\r\nExpect: MARKER\r\n\r\n")

        answer = await client.answer()

    assert (answer.status, answer.headers["server"]) == (400, "gnomon")
    assert b"MARKER" not in answer.body


async def test_an_answer_that_is_streamed_does_not_name_the_software() -> None:
    async def stream(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        return response

    async with running("local", extra_routes=(web.get("/stream", stream),)) as edge:
        reply = await edge.send("GET", "/stream")

    assert reply.headers["Server"] == "gnomon"


async def test_browsers_keep_to_https_where_it_is_used() -> None:
    async with running("local", has_tls=True) as edge:
        reply = await edge.send("GET", "/v2/status")

    assert reply.headers["Strict-Transport-Security"] == "max-age=31536000;includeSubDomains"


async def test_no_browser_is_told_to_use_https_where_it_is_not() -> None:
    async with running("local", has_tls=False) as edge:
        reply = await edge.send("GET", "/v2/status")

    assert "Strict-Transport-Security" not in reply.headers


async def test_requests_that_come_at_once_are_answered_in_their_order() -> None:
    async with running("local") as edge, connected(edge) as client:
        await client.send(HEAD + b"GET /nothing HTTP/1.1\r\nHost: a\r\n\r\n" + HEAD)

        answers = [await client.answer() for _ in range(3)]

    assert [answer.status for answer in answers] == [204, 404, 204]
