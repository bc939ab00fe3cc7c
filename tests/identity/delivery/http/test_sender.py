"""Messages to other servers over real HTTP."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from aiohttp import web

from identity.delivery.http.destinations import Destinations
from identity.delivery.http.sender import HttpSender
from tests.identity.deployment import LOOPBACK

# More than the connections that a session has by default.
AT_A_TIME = 150


@pytest.fixture
async def server() -> AsyncIterator[str]:
    """Address of a server that answers no request before it has all of them."""
    arrived = asyncio.Barrier(AT_A_TIME)

    async def answer(_: web.Request) -> web.Response:
        await arrived.wait()
        return web.Response(status=204)

    application = web.Application()
    application.router.add_post("/", answer)
    runner = web.AppRunner(application, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, backlog=AT_A_TIME).start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}/"
    await runner.cleanup()


async def test_messages_do_not_wait_for_those_to_slow_receivers(server: str) -> None:
    async with HttpSender(Destinations.of(LOOPBACK)) as sender:
        statuses = await asyncio.gather(*(sender.post(server, b"{}", {}) for _ in range(AT_A_TIME)))

    assert statuses == [204] * AT_A_TIME
