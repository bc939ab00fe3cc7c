"""Delivery of logout tokens over real HTTP, and refused destinations."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import pytest
from aiohttp import web

from identity.delivery.http.config import OutgoingConfig
from identity.delivery.http.destinations import Destinations
from identity.protocol.logout.delivery import HttpDelivery
from tests.identity.deployment import LOOPBACK

LOCAL = Destinations.of(LOOPBACK)


@dataclass
class RelyingParty:
    uri: str
    received: list[tuple[str, str]] = field(default_factory=list)

    async def answer(self, request: web.Request) -> web.StreamResponse:
        form = await request.post()
        self.received.append((request.path, str(form["logout_token"])))
        if request.path == "/elsewhere":
            raise web.HTTPTemporaryRedirect("/200")
        if request.path == "/never":
            await asyncio.Event().wait()
        if request.path == "/endless":
            return await _endless(request)
        return web.Response(status=int(request.path[1:]))


@pytest.fixture
async def relying_party() -> AsyncIterator[RelyingParty]:
    party = RelyingParty("")
    application = web.Application()
    application.router.add_post("/{path}", party.answer)
    runner = web.AppRunner(application, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    party.uri = f"http://127.0.0.1:{runner.addresses[0][1]}"
    yield party
    await runner.cleanup()


@pytest.mark.parametrize(
    ("path", "is_taken"),
    [
        *(("/200", True), ("/204", True), ("/202", False), ("/400", False), ("/500", False)),
        *(("/elsewhere", False), ("/endless", True)),
    ],
)
async def test_an_answer_says_whether_the_token_was_taken(
    relying_party: RelyingParty, path: str, *, is_taken: bool
) -> None:
    async with HttpDelivery(LOCAL, timeout_secs=5) as delivery:
        assert await delivery.deliver(f"{relying_party.uri}{path}", "token") == is_taken

    assert relying_party.received == [(path, "token")]


async def test_a_late_answer_is_none(relying_party: RelyingParty) -> None:
    async with HttpDelivery(LOCAL, timeout_secs=1) as delivery:
        assert not await delivery.deliver(f"{relying_party.uri}/never", "token")


@pytest.mark.parametrize(
    "uri",
    [
        "http://127.0.0.1:1/",
        "http://169.254.169.254/latest/meta-data",
        "http://[fe80::1]/",
        "http://[::ffff:169.254.169.254]/",
        "ftp://example.com/",
        "http://",
        "no uri",
        "",
    ],
)
async def test_where_nobody_may_be_told_nobody_is(uri: str) -> None:
    async with HttpDelivery(LOCAL, timeout_secs=5) as delivery:
        assert not await delivery.deliver(uri, "token")


async def test_a_token_goes_to_this_machine_only_where_the_configuration_names_the_address(
    relying_party: RelyingParty,
) -> None:
    at_name = relying_party.uri.replace("127.0.0.1", "localhost")
    configured = (f"{relying_party.uri}/200", f"{at_name}/204")
    others = (f"{relying_party.uri}/204", f"{at_name}/200")

    async with HttpDelivery(Destinations.of(OutgoingConfig(), configured), timeout_secs=5) as delivery:
        assert [await delivery.deliver(uri, "token") for uri in configured] == [True, True]
        assert [await delivery.deliver(uri, "token") for uri in others] == [False, False]

    assert relying_party.received == [("/200", "token"), ("/204", "token")]


async def _endless(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse()
    await response.prepare(request)
    while request.transport is not None and not request.transport.is_closing():
        await response.write(b"x" * 65_536)
    return response
