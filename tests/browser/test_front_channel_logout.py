"""One sign-out reaches all relying parties of the browser: OpenID Connect Front-Channel Logout 1.0."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from identity.access.sessions.session import SESSIONS
from identity.directory.client import CLIENTS
from tests.browser.chromium import Page
from tests.browser.site import Site
from tests.browser.test_logout import DEFAULT, HEADING
from tests.browser.test_sign_in import ARRIVED, sign_in


@dataclass
class RelyingParty:
    """A client at an origin of its own; `ended` are the queries that its front-channel address got."""

    client_id: str
    origin: str = ""
    ended: list[dict[str, str]] = field(default_factory=list)
    never: asyncio.Event | None = None

    def application(self) -> web.Application:
        app = web.Application()
        app.router.add_get("/callback", self._arrived)
        app.router.add_get("/bye", self._arrived)
        app.router.add_get("/front", self._front)
        return app

    async def _arrived(self, request: web.Request) -> web.Response:
        text = f"<h1 id=arrived>{' '.join(sorted(request.query))}</h1>"
        return web.Response(text=text, content_type="text/html")

    async def _front(self, request: web.Request) -> web.Response:
        self.ended.append(dict(request.query))
        if self.never is not None:
            await self.never.wait()
        return web.Response(text="<p>signed out</p>", content_type="text/html")


@dataclass
class Parties:
    provider: Site
    shop: RelyingParty
    library: RelyingParty

    async def register(self, party: RelyingParty) -> None:
        clients = self.provider.deployment.store.of(CLIENTS)
        template = await clients.get(DEFAULT, "app")
        assert template is not None
        await clients.insert(
            replace(
                template,
                id=party.client_id,
                redirect_uris=(f"{party.origin}/callback",),
                post_logout_redirect_uris=(f"{party.origin}/bye",),
                frontchannel_logout_uri=f"{party.origin}/front",
            )
        )

    def authorization(self, party: RelyingParty) -> str:
        return self.provider.authorization(client_id=party.client_id, redirect_uri=f"{party.origin}/callback")

    async def sid(self) -> str:
        found = await self.provider.deployment.store.of(SESSIONS).page(DEFAULT)
        [signed_in] = [session for session in found if session.authentication is not None]
        return signed_in.sid


@pytest.fixture
async def parties(provider: Site) -> AsyncIterator[Parties]:
    async with AsyncExitStack() as stack:
        found = Parties(provider, RelyingParty("shop"), RelyingParty("library"))
        for party in (found.shop, found.library):
            server = await stack.enter_async_context(TestServer(party.application(), host="127.0.0.1"))
            party.origin = f"http://127.0.0.1:{server.port}"
            await found.register(party)
        yield found
        for party in (found.shop, found.library):
            if party.never is not None:
                party.never.set()


async def use_both(page: Page, parties: Parties) -> dict[str, str]:
    """Sign in at both relying parties, and return what each has to be told of the end."""
    await sign_in(page, parties.authorization(parties.shop))
    await page.until(ARRIVED)
    await page.goto(parties.authorization(parties.library))
    await page.until(f"location.origin === '{parties.library.origin}' && {ARRIVED}")
    return {"iss": parties.provider.deployment.identity.issuer, "sid": await parties.sid()}


async def sign_out(page: Page, parties: Parties, *, returns: bool) -> None:
    """Sign out at the request of the library, which gets the browser back."""
    address = f"oidc/logout?client_id=library&post_logout_redirect_uri={parties.library.origin}/bye"
    await page.goto(parties.provider.address(address if returns else "oidc/logout"))
    await page.until(f"{HEADING} === 'Sign out?'")
    await page.click("button[type=submit]")


async def test_all_relying_parties_hear_of_the_end_before_the_browser_returns(
    page: Page, parties: Parties
) -> None:
    expected = await use_both(page, parties)

    await sign_out(page, parties, returns=True)

    await page.until(f"location.href === '{parties.library.origin}/bye'")
    assert [parties.shop.ended, parties.library.ended] == [[expected], [expected]]


async def test_without_a_way_back_the_page_stays(page: Page, parties: Parties) -> None:
    expected = await use_both(page, parties)

    await sign_out(page, parties, returns=False)

    await page.until(f"document.readyState === 'complete' && {HEADING} === 'You are signed out'")
    assert [parties.shop.ended, parties.library.ended] == [[expected], [expected]]


async def test_a_relying_party_that_does_not_answer_keeps_nobody(page: Page, parties: Parties) -> None:
    parties.shop.never = asyncio.Event()
    await use_both(page, parties)

    await sign_out(page, parties, returns=True)

    await page.until(f"location.href === '{parties.library.origin}/bye'")
    assert len(parties.library.ended) == 1
