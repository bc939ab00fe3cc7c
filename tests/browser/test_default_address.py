"""A user at a server without a configured address."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from server.platform.sockets import listen_addresses
from tests.browser.chromium import Page
from tests.browser.site import EMAIL, PASSWORD
from tests.browser.test_sign_in import ADD_PASSKEY, ARRIVED, sign_in
from tests.server_process import server_process

# RFC 7636, appendix B.
CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
CONFIGURATION = """
[[bootstrap.clients]]
id = "app"
redirect_uris = ["{callback}"]

[[bootstrap.users]]
email = "{email}"
password = "{password}"
"""
QUICK_PROOFS = {"GNOMON_POW__DIFFICULTY": "12"}


@dataclass(frozen=True)
class Default:
    origin: str
    callback: str

    def authorization(self, host: str = "localhost", **parameters: str) -> str:
        asked = {
            "client_id": "app",
            "redirect_uri": self.callback,
            "response_type": "code",
            "scope": "openid",
            "code_challenge": CHALLENGE,
            "code_challenge_method": "S256",
        }
        origin = self.origin.replace("localhost", f"[{host}]" if ":" in host else host)
        return f"{origin}/auth/v1/oidc/authorize?{urlencode(asked | parameters)}"


@pytest.fixture
async def callback() -> AsyncIterator[str]:
    app = web.Application()
    app.router.add_get("/callback", _arrived)
    async with TestServer(app, host="localhost") as server:
        yield str(server.make_url("/callback"))


async def _arrived(request: web.Request) -> web.Response:
    return web.Response(text=f"<h1 id=arrived>{' '.join(request.query)}</h1>", content_type="text/html")


@pytest.fixture
def default(callback: str, tmp_path: Path) -> Iterator[Default]:
    file = tmp_path / "gnomon.toml"
    file.write_text(CONFIGURATION.format(callback=callback, email=EMAIL, password=PASSWORD))
    with server_process("--config", str(file), environment=QUICK_PROOFS) as addresses:
        yield Default(addresses.http, callback)


async def test_a_person_adds_a_passkey_and_signs_in_with_it(page: Page, default: Default) -> None:
    await page.add_authenticator()
    await sign_in(page, default.authorization())
    await page.until(ARRIVED)
    await page.goto(default.authorization(prompt="login"))
    added = await page.run(ADD_PASSKEY)
    await page.forget()

    await page.goto(default.authorization())
    await page.until("!document.getElementById('passkey').hidden")
    await page.click("#passkey")

    assert added == 201
    await page.until(ARRIVED)


@pytest.mark.parametrize("address", listen_addresses("localhost"))
async def test_a_person_who_opens_an_address_signs_in_at_localhost(
    page: Page, default: Default, address: str
) -> None:
    await page.goto(default.authorization(address))
    origin = await page.run("location.origin")

    await page.fill("#email", EMAIL)
    await page.fill("#password", PASSWORD)
    await page.click("button[type=submit]")

    assert origin == default.origin
    await page.until(ARRIVED)
