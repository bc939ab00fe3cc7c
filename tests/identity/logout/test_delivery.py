"""Logout tokens over real HTTP, and where none of them goes."""

import asyncio
import socket
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import pytest
from aiohttp import web
from aiohttp.abc import AbstractResolver, ResolveResult

from identity.logout.delivery import HttpDelivery
from identity.logout.destinations import GuardedResolver, RefusedDestination, is_refused


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
    async with HttpDelivery(timeout_secs=5) as delivery:
        assert await delivery.deliver(f"{relying_party.uri}{path}", "token") == is_taken

    assert relying_party.received == [(path, "token")]


async def test_a_late_answer_is_none(relying_party: RelyingParty) -> None:
    async with HttpDelivery(timeout_secs=1) as delivery:
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
    async with HttpDelivery(timeout_secs=5) as delivery:
        assert not await delivery.deliver(uri, "token")


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("169.254.169.254", True),
        ("100.100.100.200", True),
        ("0.0.0.0", True),  # noqa: S104  # nothing is bound
        ("224.0.0.1", True),
        ("fe80::1%eth0", True),
        ("fd00:ec2::254", True),
        ("::ffff:169.254.169.254", True),
        ("64:ff9b::a9fe:a9fe", True),
        ("::", True),
        ("127.0.0.1", False),
        ("10.0.0.1", False),
        ("192.0.2.1", False),
        ("2001:db8::1", False),
        ("example.com", False),
    ],
)
def test_which_addresses_are_nobodys_business(host: str, *, expected: bool) -> None:
    assert is_refused(host) == expected


@dataclass
class NameServer(AbstractResolver):
    hosts: tuple[str, ...]

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        return [
            ResolveResult(hostname=host, host=address, port=port, family=family, proto=0, flags=0)
            for address in self.hosts
        ]

    async def close(self) -> None:
        pass


async def test_a_name_is_what_it_resolves_to() -> None:
    resolver = GuardedResolver(NameServer(("169.254.169.254", "192.0.2.1")))

    assert [result["host"] for result in await resolver.resolve("example.com")] == ["192.0.2.1"]


async def test_a_name_of_refused_addresses_alone_is_refused() -> None:
    resolver = GuardedResolver(NameServer(("169.254.169.254",)))

    with pytest.raises(RefusedDestination):
        await resolver.resolve("example.com")


async def _endless(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse()
    await response.prepare(request)
    while request.transport is not None and not request.transport.is_closing():
        await response.write(b"x" * 65_536)
    return response
