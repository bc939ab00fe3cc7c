"""A page of a relying party learns from a frame that the session has ended: Session Management 1.0 §3."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from identity.access.sessions.config import SessionConfig
from identity.directory.client import CLIENTS
from server.platform.call import TenantId
from tests.browser.chromium import Page
from tests.browser.site import Site, site
from tests.browser.test_sign_in import sign_in

DEFAULT = TenantId("default")
ASK = """new Promise((told) => {{
  const frame = document.createElement("iframe");
  frame.src = {frame!r};
  frame.onload = () => frame.contentWindow.postMessage({text!r}, {provider!r});
  addEventListener("message", ({{ data, origin }}) => origin === {provider!r} && told(data), {{ once: true }});
  document.body.append(frame);
}})"""


@pytest.fixture
async def provider() -> AsyncIterator[Site]:
    async with site(sessions=SessionConfig(check_session_iframe=True)) as found:
        yield found


@asynccontextmanager
async def shop(provider: Site, host: str) -> AsyncIterator[str]:
    """The address of the relying party's page, to which the user returns."""
    app = web.Application()
    app.router.add_get("/", _page)
    async with TestServer(app, host=host) as server:
        address = f"http://{host}:{server.port}/"
        clients = provider.deployment.store.of(CLIENTS)
        client = await clients.get(DEFAULT, "app")
        assert client is not None
        await clients.replace(replace(client, redirect_uris=(address,)))
        yield address


async def _page(_request: web.Request) -> web.Response:
    return web.Response(text="<!doctype html><title>Shop</title><body>", content_type="text/html")


async def ask(page: Page, provider: Site, text: str) -> str:
    """Ask a new frame within the page."""
    asked = ASK.format(frame=provider.address("oidc/check_session"), text=text, provider=provider.origin)
    return str(await page.run(asked))


async def signed_in(page: Page, provider: Site, address: str) -> str:
    """Sign in at the relying party, and return the session state of the response."""
    await sign_in(page, provider.authorization(redirect_uri=address))
    await page.until("document.title === 'Shop'")
    query = parse_qs(urlsplit(await page.run("location.href")).query)
    return query["session_state"][0]


async def test_a_page_of_a_client_sees_the_end_of_the_session(page: Page, provider: Site) -> None:
    async with shop(provider, "localhost") as address:
        session_state = await signed_in(page, provider, address)
        texts = (f"app {session_state}", f"other {session_state}", "app", f"app {session_state} more")
        told = [await ask(page, provider, text) for text in texts]

        await page.goto(provider.address("oidc/logout"))
        await page.until("document.querySelector('h1').textContent === 'Sign out?'")
        await page.click("button[type=submit]")
        await page.until("document.querySelector('h1').textContent === 'You are signed out'")
        await page.goto(address)
        told.append(await ask(page, provider, f"app {session_state}"))

    assert told == ["unchanged", "changed", "error", "error", "changed"]


async def test_a_browser_that_hides_cookies_of_other_sites_starts_no_new_sign_ins(
    page: Page, provider: Site
) -> None:
    async with shop(provider, "127.0.0.1") as address:
        session_state = await signed_in(page, provider, address)

        assert await ask(page, provider, f"app {session_state}") == "error"
