"""A relying party on another site signs the user out by a posted form: RP-Initiated Logout 1.0 §2."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from html import escape
from urllib.parse import parse_qs, urlsplit

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from identity.access.sessions.session import SESSIONS
from identity.directory.client import CLIENTS
from server.platform.call import TenantId
from tests.browser.chromium import Page
from tests.browser.site import Site
from tests.browser.test_sign_in import ARRIVED, sign_in

DEFAULT = TenantId("default")
# RFC 7636, appendix B.
VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
HEADING = "document.querySelector('h1').textContent"


@dataclass
class Shop:
    """A page on another site than the provider; it first posts `fields` to the provider."""

    origin: str
    provider: Site
    fields: dict[str, str]

    async def page(self, _request: web.Request) -> web.Response:
        inputs = "".join(
            f'<input type="hidden" name="{name}" value="{escape(value)}">'
            for name, value in self.fields.items()
        )
        action = self.provider.address("oidc/logout")
        script = "<script>document.forms[0].submit()</script>"
        text = f'<!doctype html><form method="post" action="{action}">{inputs}</form>{script}'
        return web.Response(text=text, content_type="text/html")

    async def bye(self, request: web.Request) -> web.Response:
        return web.Response(text=f"<h1>Bye {request.query['state']}</h1>", content_type="text/html")


@pytest.fixture
async def shop(provider: Site) -> AsyncIterator[Shop]:
    found = Shop("", provider, {})
    app = web.Application()
    app.router.add_get("/", found.page)
    app.router.add_get("/bye", found.bye)
    async with TestServer(app, host="127.0.0.1") as server:
        found.origin = f"http://127.0.0.1:{server.port}"
        found.fields = {"post_logout_redirect_uri": f"{found.origin}/bye", "state": "now"}
        clients = provider.deployment.store.of(CLIENTS)
        client = await clients.get(DEFAULT, "app")
        assert client is not None
        await clients.replace(replace(client, post_logout_redirect_uris=(f"{found.origin}/bye",)))
        yield found


async def id_token(page: Page, provider: Site) -> str:
    """Return the ID token of the user who just returned to the app."""
    [code] = parse_qs(urlsplit(await page.run("location.href")).query)["code"]
    form = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": provider.callback,
        "code_verifier": VERIFIER,
        "client_id": "app",
    }
    async with aiohttp.ClientSession() as http:
        answer = await http.post(provider.address("oidc/token"), data=form)
        return str((await answer.json())["id_token"])


async def sessions(provider: Site) -> int:
    found = await provider.deployment.store.of(SESSIONS).page(DEFAULT)
    return len([session for session in found if session.authentication is not None])


async def test_a_form_of_another_site_with_a_hint_signs_the_person_out(
    page: Page, provider: Site, shop: Shop
) -> None:
    await sign_in(page, provider.authorization())
    await page.until(ARRIVED)
    shop.fields["id_token_hint"] = await id_token(page, provider)
    before = await sessions(provider)

    await page.goto(f"{shop.origin}/")
    await page.until(f"{HEADING} === 'Bye now'")

    assert (before, await sessions(provider)) == (1, 0)


async def test_a_form_of_another_site_without_a_hint_asks_the_person(
    page: Page, provider: Site, shop: Shop
) -> None:
    await sign_in(page, provider.authorization())
    await page.until(ARRIVED)
    shop.fields["client_id"] = "app"

    await page.goto(f"{shop.origin}/")
    await page.until(f"{HEADING} === 'Sign out?'")

    assert await sessions(provider) == 1
