"""Requests to other servers over real HTTP, and their bounds."""

from collections.abc import AsyncIterator
from datetime import timedelta
from urllib.parse import quote

import pytest
from aiohttp import web

from identity.delivery.http.destinations import Destinations
from identity.delivery.http.exchange import MOST_OCTETS, HttpExchange, Response
from tests.identity.deployment import LOOPBACK

LOCAL = Destinations.of(LOOPBACK)


async def answer(request: web.Request) -> web.StreamResponse:
    match request.path:
        case "/elsewhere":
            raise web.HTTPTemporaryRedirect("/echo")
        case "/letters":
            return web.Response(text="x" * int(request.query["octets"]))
        case "/endless":
            return await endless(request)
        case "/later":
            return web.Response(status=429, headers={"Retry-After": request.query["seconds"]})
        case _:
            body = await request.text()
            return web.Response(status=201, text=f"{request.method} {request.headers.get('X-Test')} {body}")


async def endless(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse()
    await response.prepare(request)
    while request.transport is not None and not request.transport.is_closing():
        await response.write(b"x" * MOST_OCTETS)
    return response


@pytest.fixture
async def server() -> AsyncIterator[str]:
    """Address of a server on this machine."""
    application = web.Application()
    application.router.add_route("*", "/{path}", answer)
    runner = web.AppRunner(application, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    await runner.cleanup()


async def test_a_request_goes_out_as_it_is(server: str) -> None:
    async with HttpExchange(LOCAL) as exchange:
        response = await exchange.send("PATCH", f"{server}/echo", {"X-Test": "yes"}, b"body")

    assert response == Response(201, b"PATCH yes body")


async def test_a_redirect_is_not_followed(server: str) -> None:
    async with HttpExchange(LOCAL) as exchange:
        assert (await exchange.send("POST", f"{server}/elsewhere", {}, b"")).status == 307


async def test_a_body_that_is_too_large_is_not_read(server: str) -> None:
    async with HttpExchange(LOCAL) as exchange:
        whole = await exchange.send("GET", f"{server}/letters?octets={MOST_OCTETS}", {})
        assert len(whole.body) == MOST_OCTETS
        assert await exchange.send("GET", f"{server}/letters?octets={MOST_OCTETS + 1}", {}) == Response(200)
        assert await exchange.send("GET", f"{server}/endless", {}) == Response(200)
        assert (await exchange.send("GET", f"{server}/echo", {})).status == 201


@pytest.mark.parametrize(
    ("seconds", "pause"),
    [
        ("120", 120),
        ("9999", 3600),
        ("99999999999", 0),
        ("-1", 0),
        ("Wed, 21 Oct 2026 07:28:00 GMT", 0),
        ("²", 0),
    ],
)
async def test_a_pause_that_the_server_asks_for_has_a_bound(server: str, seconds: str, pause: int) -> None:
    async with HttpExchange(LOCAL) as exchange:
        response = await exchange.send("GET", f"{server}/later?seconds={quote(seconds)}", {})

    assert (response.status, response.retry_after) == (429, timedelta(seconds=pause))


@pytest.mark.parametrize(
    "url",
    [
        "https://10.0.0.1/",
        "https://169.254.169.254/latest",
        "http://192.0.2.1/",
        "ftp://192.0.2.1/",
        "no address",
    ],
)
async def test_addresses_that_the_server_must_not_connect_to_are_refused(url: str) -> None:
    async with HttpExchange(LOCAL) as exchange:
        assert await exchange.send("GET", url, {}) == Response(0)


async def test_a_server_on_this_machine_is_refused_unless_configured(server: str) -> None:
    async with HttpExchange(Destinations()) as exchange:
        assert await exchange.send("GET", f"{server}/echo", {}) == Response(0)
        by_name = server.replace("127.0.0.1", "localhost")
        assert await exchange.send("GET", f"{by_name}/echo", {}) == Response(0)
