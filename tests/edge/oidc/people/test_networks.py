"""Rules about countries, over HTTP: whom they refuse, and whom they never stop."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from edge.kept_documents import KeptDocuments
from edge.oidc.config import OidcConfig
from edge.oidc.routes import routes
from identity.access.login_protection.config import LoginProtectionConfig
from identity.access.networks.config import NetworksConfig
from identity.config import EventsSection
from tests.edge.oidc.people.mailed import Mailed, mailed
from tests.edge.oidc.people.provider import BASE
from tests.identity.access.networks.databases import write
from tests.identity.deployment import CONFIG, deployed

LOOPBACK = "127.0.0.0/8"
# The headers of a browser that opens an address.
OPENS = {
    "Sec-Fetch-Mode": "navigate",
    "Sec-Fetch-Dest": "document",
    "Sec-Fetch-Site": "none",
    "Accept": "text/html",
}


@asynccontextmanager
async def refusing(directory: Path, *allowed: str, **settings: Any) -> AsyncIterator[Mailed]:
    """Run a provider that refuses the country of the tests."""
    path = write(directory / "countries.mmdb", {LOOPBACK: {"country": {"iso_code": "FR"}}})
    async with mailed(
        directory / "letters",
        networks=NetworksConfig(country_database=path, denied_countries=("FR",), **settings),
        events=EventsSection(login_protection=LoginProtectionConfig(allowed_networks=allowed)),
    ) as world:
        yield world


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[Mailed]:
    async with refusing(tmp_path) as found:
        yield found


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/oidc/authorize?client_id=app"),
        ("POST", "/oidc/authorize"),
        ("POST", "/oidc/session"),
        ("GET", "/sign-in"),
        ("GET", "/users/register"),
        ("POST", "/users/register"),
        ("GET", "/users/request_reset"),
        ("POST", "/users/request_reset"),
        ("PUT", "/users/somebody/reset"),
        ("POST", "/users/webauthn_start"),
        ("GET", "/account"),
        ("GET", "/device"),
        ("GET", "/providers/up/callback"),
        ("GET", "/"),
    ],
)
async def test_users_are_refused(world: Mailed, method: str, path: str) -> None:
    answer = await world.browser().request(method, f"{BASE}{path}", allow_redirects=False)

    document = await answer.json(content_type="application/problem+json")
    assert (answer.status, document["error"]) == (403, "NetworkRefused")
    assert (document["title"], document["status"]) == ("Forbidden", 403)
    assert document["detail"] == "access from this network is not permitted"
    assert "FR" not in document["detail"]


async def test_a_browser_is_shown_a_page_without_the_rule(world: Mailed) -> None:
    headers = OPENS | {"Accept-Language": "de"}

    answer = await world.browser().get(f"{BASE}/account", headers=headers)

    page = await answer.text()
    assert (answer.status, answer.content_type) == (403, "text/html")
    assert "Kein Zugriff aus Ihrem Netz" in page
    assert "FR" not in page.replace("FRAME", "")
    assert (await world.admin.typs()).count("NetworkRefused") == 1


@pytest.mark.parametrize(
    "path",
    [
        "/.well-known/openid-configuration",
        "/oidc/certs",
        "/openapi.json",
        "/saml/metadata",
        "/static/page.css",
    ],
)
async def test_published_documents_stay_reachable(world: Mailed, path: str) -> None:
    answer = await world.browser().get(f"{BASE}{path}", allow_redirects=False)

    assert answer.status != 403


CLIENTS = (
    "/oidc/token",
    "/oidc/introspect",
    "/oidc/token/revoke",
    "/oidc/par",
    "/oidc/userinfo",
    "/oidc/device",
)


@pytest.mark.parametrize("path", CLIENTS)
async def test_clients_are_not_stopped(world: Mailed, path: str) -> None:
    answer = await world.browser().post(f"{BASE}{path}", data={"grant_type": "client_credentials"})

    assert answer.status in {400, 401}
    assert (await answer.json())["error"] != "NetworkRefused"


async def test_clients_are_refused_where_that_is_set(tmp_path: Path) -> None:
    path = write(tmp_path / "countries.mmdb", {LOOPBACK: {"country": {"iso_code": "FR"}}})
    networks = NetworksConfig(country_database=path, denied_countries=("FR",), covers_clients=True)
    async with deployed(replace(CONFIG, networks=networks)) as deployment:
        app = web.Application()
        kept = KeptDocuments(deployment.identity.revision)
        app.add_routes(routes(deployment.channel, OidcConfig(), deployment.clock, kept=kept))
        async with TestClient(TestServer(app)) as http:
            refused = [(await http.post(f"{BASE}{path}")).status for path in CLIENTS]
            published = [
                (await http.get(f"{BASE}{path}")).status for path in ("/oidc/certs", "/openapi.json")
            ]

    assert refused == [403] * len(CLIENTS)
    assert published == [200, 200]


async def test_programs_administer_and_sessions_do_not(world: Mailed) -> None:
    program = await world.admin.send("GET", "/users")
    browser = await world.browser().get(f"{BASE}/users")

    assert (program.status, browser.status) == (200, 403)


async def test_a_header_of_a_program_opens_no_sign_in(world: Mailed) -> None:
    answer = await world.browser().post(f"{BASE}/oidc/session", headers={"Authorization": "Bearer invented"})

    assert answer.status == 403


async def test_users_can_always_sign_out(world: Mailed) -> None:
    answer = await world.browser().get(f"{BASE}/oidc/logout", allow_redirects=False)

    assert answer.status != 403


async def test_allowed_networks_win(tmp_path: Path) -> None:
    async with refusing(tmp_path, "127.0.0.0/8") as world:
        assert (await world.alice().sign_in()).status == 202
        assert "NetworkRefused" not in await world.admin.typs()
