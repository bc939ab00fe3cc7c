"""A user at a server without a configured address."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from urllib.parse import urlencode

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer, unused_port
from yarl import URL

from server.platform.sockets import listen_addresses
from tests.browser.chromium import Page
from tests.browser.site import EMAIL, PASSWORD
from tests.browser.test_sign_in import ADD_PASSKEY, ARRIVED
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

[[bootstrap.users]]
email = "{with_passkey}"
password = "{password}"
"""
# Tests share the server, and a passkey changes how its user signs in.
WITH_PASSKEY = "bob@example.com"
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


@pytest.fixture(scope="module")
def default(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Default]:
    callback = f"http://localhost:{unused_port()}/callback"
    people = {"email": EMAIL, "with_passkey": WITH_PASSKEY, "password": PASSWORD}
    file = tmp_path_factory.mktemp("default") / "gnomon.toml"
    file.write_text(CONFIGURATION.format(callback=callback, **people))
    with server_process("--config", str(file), environment=QUICK_PROOFS) as addresses:
        yield Default(addresses.http, callback)


@pytest.fixture(autouse=True)
async def relying_party(default: Default) -> AsyncIterator[None]:
    app = web.Application()
    app.router.add_get("/callback", _arrived)
    async with TestServer(app, host="localhost", port=URL(default.callback).port):
        yield


async def _arrived(request: web.Request) -> web.Response:
    return web.Response(text=f"<h1 id=arrived>{' '.join(request.query)}</h1>", content_type="text/html")


async def test_a_person_adds_a_passkey_and_signs_in_with_it(page: Page, default: Default) -> None:
    await page.add_authenticator()
    await page.goto(default.authorization())
    await type_password(page, WITH_PASSKEY)
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

    await type_password(page, EMAIL)

    assert origin == default.origin
    await page.until(ARRIVED)


async def type_password(page: Page, email: str) -> None:
    await page.fill("#email", email)
    await page.fill("#password", PASSWORD)
    await page.click("button[type=submit]")
