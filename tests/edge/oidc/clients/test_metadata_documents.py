"""Clients whose id is the address of their metadata: OAuth Client ID Metadata Document."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from urllib.parse import quote

import pytest
from aiohttp import ClientResponse, web
from aiohttp.test_utils import TestServer

from identity.clients.dynamic.config import DynamicClientsConfig
from identity.clients.dynamic.document_metadata import is_document_address
from identity.clients.dynamic.metadata_documents import FRESH_FOR, PAUSE, PAUSE_OF_HOST, VALID_FOR
from tests.edge.oidc.administration.administrator import Administrator
from tests.edge.oidc.clients.conftest import registering
from tests.edge.oidc.clients.registrant import REDIRECT_URI, Registrant
from tests.edge.oidc.people.somebody import Somebody
from tests.identity.deployment import ISSUER, LOOPBACK

CHALLENGE = {"code_challenge": "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM", "code_challenge_method": "S256"}
VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"


@dataclass
class Site:
    """Publishes the document of a client; `asked` counts the requests, and `others` replace members."""

    registrant: Registrant
    origin: str = ""
    others: dict[str, Any] = field(default_factory=dict)
    status: int = 200
    asked: int = 0

    @property
    def client_id(self) -> str:
        return f"{self.origin}/client.json"

    async def answer(self, request: web.Request) -> web.Response:
        self.asked += 1
        document = {
            "client_id": f"{self.origin}{request.path_qs}",
            "client_name": "The app",
            "redirect_uris": [REDIRECT_URI],
            **self.others,
        }
        shown = {name: value for name, value in document.items() if value is not None}
        return web.json_response(shown, status=self.status)

    async def authorize(self, client_id: str = "", *, redirect_uri: str = REDIRECT_URI) -> ClientResponse:
        asked = {"client_id": client_id or self.client_id, "redirect_uri": redirect_uri, **CHALLENGE}
        return await self.registrant.http.get(
            "/auth/v1/oidc/authorize", params={"response_type": "code", "scope": "openid", **asked}
        )

    def passes(self, period: timedelta) -> None:
        self.registrant.deployment.clock.advance(period)

    async def administrator(self) -> Administrator:
        token = (await self.registrant.deployment.issue()).access_token
        return Administrator(self.registrant.http, f"Bearer {token}")

    async def names(self) -> list[str]:
        """Return the names of the clients that administrators see at this site."""
        found = await (await (await self.administrator()).send("GET", "clients")).json()
        return [client["name"] for client in found if client["id"].startswith(self.origin)]


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with registering(DynamicClientsConfig(metadata_documents=True), outgoing=LOOPBACK) as registrant:
        site = Site(registrant)
        app = web.Application()
        app.router.add_get("/{path:.*}", site.answer)
        async with TestServer(app) as server:
            site.origin = str(server.make_url("")).rstrip("/")
            yield site


async def test_the_metadata_of_the_provider_announces_it(site: Site) -> None:
    announced = await site.registrant.http.get("/auth/v1/.well-known/openid-configuration")

    assert (await announced.json())["client_id_metadata_document_supported"] is True
    async with registering(DynamicClientsConfig(enabled=True), outgoing=LOOPBACK) as other:
        metadata = await (await other.http.get("/auth/v1/.well-known/openid-configuration")).json()
        answer = await Site(other, site.origin).authorize()
    assert metadata["client_id_metadata_document_supported"] is False
    assert (answer.status, site.asked) == (400, 0)


async def signed_in(site: Site) -> ClientResponse:
    """Sign Alice in at the client, with her consent, and return the response of the token endpoint."""
    person = Somebody(site.registrant.http, ISSUER, "alice@example.com")
    asked = await person.begin() | {"client_id": site.client_id, "redirect_uri": REDIRECT_URI}
    question = await (await person.sign_in(asked=asked)).json()
    accepted = await person.send(
        "POST", "/oidc/authorize/consent", authorization_id=question["authorization_id"], decision="accept"
    )
    form = {
        "grant_type": "authorization_code",
        "code": accepted.headers["location"].partition("code=")[2].partition("&")[0],
        "redirect_uri": REDIRECT_URI,
        "client_id": site.client_id,
        "code_verifier": VERIFIER,
    }
    return await site.registrant.http.post("/auth/v1/oidc/token", data=form)


async def test_a_user_signs_in_with_consent_to_a_client_that_nobody_registered(site: Site) -> None:
    issued = await signed_in(site)

    assert issued.status == 200, await issued.text()
    site.passes(timedelta(days=365))
    assert await site.names() == [f"The app ({site.origin.removeprefix('http://')})"]


async def test_the_sign_in_page_names_the_host_of_the_client(site: Site) -> None:
    page = await (await site.authorize()).text()

    assert f"The app ({site.origin.removeprefix('http://')})" in page


async def test_a_client_without_tokens_is_forgotten(site: Site) -> None:
    await site.authorize()

    site.passes(timedelta(hours=2))

    assert await site.names() == []


@pytest.mark.parametrize(
    "others",
    [
        pytest.param({"client_id": "https://other.example.com/client.json"}, id="id of another client"),
        pytest.param({"client_id": None}, id="no id"),
        pytest.param({"client_name": None}, id="no name"),
        pytest.param({"client_name": "x" * 101}, id="a long name"),
        pytest.param({"client_name": "The app\u202e"}, id="a name that turns the text"),
        pytest.param({"redirect_uris": []}, id="no redirect URI"),
        pytest.param({"redirect_uris": ["https://a.example/#b"]}, id="a fragment"),
        pytest.param({"redirect_uris": ["javascript:alert(1)"]}, id="a script"),
        pytest.param({"redirect_uris": [f"{REDIRECT_URI}{n}" for n in range(21)]}, id="too many"),
        pytest.param({"client_secret": "s3cret"}, id="a secret"),
        pytest.param({"token_endpoint_auth_method": "client_secret_basic"}, id="a method with a secret"),
        pytest.param({"token_endpoint_auth_method": "private_key_jwt"}, id="keys without keys"),
        pytest.param({"grant_types": ["client_credentials"]}, id="tokens in its own name"),
        pytest.param({"jwks_uri": "http://10.0.0.1/keys"}, id="keys at an internal address"),
    ],
)
async def test_a_document_that_describes_no_client(site: Site, others: dict[str, Any]) -> None:
    site.others = others

    answer = await site.authorize()

    assert (answer.status, site.asked) == (400, 1)
    assert await site.names() == []


async def test_a_redirect_uri_that_the_document_does_not_name_is_refused(site: Site) -> None:
    answer = await site.authorize(redirect_uri="https://evil.example.com/")

    assert (answer.status, "location" in answer.headers) == (400, False)


@pytest.mark.parametrize(
    ("client_id", "is_one"),
    [
        ("https://app.example.com/client.json", True),
        ("https://app.example.com/client?a=b", True),
        ("https://app.example.com:8443/oauth/client", True),
        ("http://localhost:8080/client.json", True),
        ("http://app.example.com/client.json", False),
        ("https://app.example.com", False),
        ("https://app.example.com/", False),
        ("https://user:password@app.example.com/client.json", False),
        ("https://app.example.com/a/../client.json", False),
        ("https://app.example.com/a/%2E%2e/client.json", False),
        ("https://app.example.com/client.json#me", False),
        ("https://app.example.com/" + "x" * 256, False),
        ("javascript:alert(1)", False),
        ("shop", False),
    ],
)
def test_addresses_of_documents(client_id: str, is_one: bool) -> None:  # noqa: FBT001  # column of a table
    assert is_document_address(client_id) is is_one


async def test_an_internal_address_is_not_asked() -> None:
    async with registering(DynamicClientsConfig(metadata_documents=True)) as registrant:
        site = Site(registrant)
        app = web.Application()
        app.router.add_get("/{path:.*}", site.answer)
        async with TestServer(app) as server:
            site.origin = str(server.make_url("")).rstrip("/")
            answer = await site.authorize()

    assert (answer.status, site.asked) == (400, 0)


async def test_a_change_of_the_document_is_noticed_after_five_minutes(site: Site) -> None:
    await site.authorize()
    site.others = {"client_name": "Renamed"}
    await site.authorize()
    before = await site.names()

    site.passes(FRESH_FOR)
    await site.authorize()

    port = site.origin.removeprefix("http://")
    assert (before, await site.names(), site.asked) == ([f"The app ({port})"], [f"Renamed ({port})"], 2)


async def test_a_document_that_is_gone_counts_for_a_day(site: Site) -> None:
    await signed_in(site)
    site.status = 404
    site.passes(VALID_FOR - timedelta(minutes=1))
    before = await site.authorize()
    site.passes(timedelta(minutes=1))

    after = await site.authorize()

    assert (before.status, after.status) == (200, 400)


async def test_strangers_cause_few_requests(site: Site) -> None:
    site.others = {"client_id": "another"}

    for number in range(20):
        await site.authorize(f"{site.origin}/{number}")
    invented = site.asked
    site.passes(PAUSE_OF_HOST)
    for _ in range(3):
        await site.authorize(f"{site.origin}/0")
    repeated = site.asked - invented
    site.passes(PAUSE)
    await asyncio.gather(*(site.authorize(f"{site.origin}/0") for _ in range(5)))

    assert (invented, repeated, site.asked) == (1, 0, 2)


async def test_a_client_that_an_administrator_disabled_stays_disabled(site: Site) -> None:
    await signed_in(site)
    administrator = await site.administrator()
    path = f"clients/{quote(site.client_id, safe='')}"
    client = await (await administrator.send("GET", path)).json()

    changed = await administrator.send("PUT", path, client | {"enabled": False})
    site.others = {"client_name": "Renamed"}
    site.passes(FRESH_FOR)
    answer = await site.authorize()

    assert (changed.status, answer.status) == (200, 400), await changed.text()
    assert await site.names() == [f"Renamed ({site.origin.removeprefix('http://')})"]


async def test_the_registration_endpoint_knows_no_such_client(site: Site) -> None:
    await site.authorize()

    answer = await site.registrant.http.get(
        f"/auth/v1/clients_dyn/{quote(site.client_id, safe='')}", headers={"Authorization": "Bearer x"}
    )

    assert answer.status == 404
