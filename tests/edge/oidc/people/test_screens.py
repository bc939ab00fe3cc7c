"""The client's screens in the pages of a sign-in, from the socket to the records."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from lxml import html

from edge.kept_documents import KeptDocuments
from edge.oidc.config import AccessConfig, CookieMode, OidcConfig
from edge.oidc.routes import routes
from identity.directory.client import CLIENTS, Client
from identity.foundation.vocabulary import AuthenticationMethod, GrantType
from server.platform.call import TenantId
from tests.edge.oidc.people.provider import Administrator
from tests.edge.oidc.people.somebody import PASSWORD, Somebody
from tests.edge.oidc.protocol.provider import hidden_fields
from tests.identity.deployment import deployed

CALLBACK = "https://shop.example/cb"
# RFC 7636, appendix B.
CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
ALICE = {"email": "alice@example.com", "language": "en", "roles": [], "password": PASSWORD}
TEMPLATE = "<screen><heading>The shop</heading><auth-content/></screen>"
SCREENS = {
    "login_heading": "Enter the shop",
    "logout_heading": "Leave the shop",
    "custom_css": "p{color:red}",
}

LOGOUT = "/auth/v1/oidc/logout"


@dataclass
class World:
    admin: Administrator
    alice: Somebody

    async def save(self, client_id: str, **settings: object) -> None:
        answer = await self.admin.send("PUT", f"/clients/{client_id}/screens", json=SCREENS | settings)
        assert answer.status == 200, await answer.text()

    async def page(self, path: str, method: str = "GET", **options: Any) -> html.HtmlElement:
        answer = await self.alice.http.request(method, path, **options)
        return html.document_fromstring(await answer.text())

    async def sign_in_page(self, client_id: str, tenant: str = "") -> html.HtmlElement:
        parameters = {
            "client_id": client_id,
            "redirect_uri": CALLBACK,
            "response_type": "code",
            "scope": "openid",
            "code_challenge": CHALLENGE,
            "code_challenge_method": "S256",
        }
        return await self.page(f"/auth/v1{tenant}/oidc/authorize?{urlencode(parameters)}")


def client(client_id: str, tenant_id: str = "default") -> Client:
    return Client(
        tenant_id=TenantId(tenant_id),
        id=client_id,
        tenant_ids=(TenantId(tenant_id), TenantId("acme")),
        token_endpoint_auth_method=AuthenticationMethod.NONE,
        oauth_scopes=("openid",),
        grant_types=frozenset({GrantType.AUTHORIZATION_CODE}),
        redirect_uris=(CALLBACK,),
    )


@pytest.fixture
async def world() -> AsyncIterator[World]:
    """Alice is signed in; there are two shops."""
    async with deployed() as deployment:
        app = web.Application()
        access = AccessConfig(cookie_mode=CookieMode.DANGER_INSECURE)
        app.add_routes(
            routes(
                deployment.channel,
                OidcConfig(),
                deployment.clock,
                kept=KeptDocuments(deployment.identity.revision),
                access=access,
            )
        )
        token = (await deployment.issue()).access_token
        async with TestClient(TestServer(app)) as http:
            admin = Administrator(deployment, http, {"Authorization": f"Bearer {token}"})
            await admin.send("POST", "/users", json=ALICE)
            for client_id in ("shop", "other"):
                await deployment.store.of(CLIENTS).insert(client(client_id))
            alice = Somebody(http, deployment.identity.issuer, "alice@example.com")
            assert (await alice.sign_in()).status == 202
            yield World(admin, alice)


def heading(page: html.HtmlElement) -> str:
    return str(page.xpath("string(//h1)"))


async def test_a_sign_in_page_is_that_of_its_client_and_of_no_other(world: World) -> None:
    await world.save("shop")

    shop, other = await world.sign_in_page("shop"), await world.sign_in_page("other")

    assert (heading(shop), heading(other)) == ("Enter the shop", "You are signed in")
    assert ".card p{color:red}" in shop.xpath("string(//style)")
    assert other.xpath("//style") == []


async def test_an_error_is_a_page_of_the_default_theme(world: World) -> None:
    await world.save("shop")

    page = await world.page("/auth/v1/oidc/authorize?client_id=nobody")

    assert (heading(page), page.xpath("//style")) == ("This request is not valid", [])


async def test_a_client_brings_its_screens_to_the_tenants_that_it_serves(world: World) -> None:
    await world.save("shop")

    page = await world.sign_in_page("shop", "/acme")

    assert heading(page) == "Enter the shop"


async def test_a_tenants_own_client_has_screens_of_its_own(world: World) -> None:
    await world.save("shop")
    await world.admin.deployment.store.of(CLIENTS).insert(client("shop", "acme"))

    page = await world.sign_in_page("shop", "/acme")

    assert heading(page) == "Sign in"


async def test_a_client_that_is_removed_takes_its_screens_along(world: World) -> None:
    await world.save("shop")
    await world.admin.send("DELETE", "/clients/shop")
    await world.admin.deployment.store.of(CLIENTS).insert(client("shop"))

    assert heading(await world.sign_in_page("shop")) == "You are signed in"


async def test_the_question_of_a_logout_is_that_of_the_client_which_the_request_names(world: World) -> None:
    await world.save("shop", logout_template=TEMPLATE)

    page = await world.page(f"{LOGOUT}?client_id=shop")

    assert (heading(page), page.xpath("string(//main/@class)")) == ("The shop", "custom-screen")
    assert ".custom-screen p{color:red}" in page.xpath("string(//style)")
    assert "csrf_token" not in hidden_fields(page)


@pytest.mark.parametrize("query", ["", "?client_id=", "?client_id=nobody", "?client_id=other"])
async def test_any_other_question_has_the_default_theme(world: World, query: str) -> None:
    await world.save("shop")

    page = await world.page(f"{LOGOUT}{query}")

    assert (heading(page), page.xpath("//style")) == ("Sign out?", [])


async def test_a_client_that_is_disabled_or_another_tenants_shows_no_screen(world: World) -> None:
    records = world.admin.deployment.store.of(CLIENTS)
    await world.save("shop")
    shop = await records.get(TenantId("default"), "shop")
    assert shop is not None
    await records.replace(replace(shop, is_enabled=False))
    await records.insert(client("theirs", "umbrella"))

    pages = [await world.page(f"{LOGOUT}?client_id={client_id}") for client_id in ("shop", "theirs")]

    assert [heading(page) for page in pages] == ["Sign out?", "Sign out?"]


async def test_whoever_confirms_is_told_so_in_the_same_screen(world: World) -> None:
    await world.save("shop")
    fields = hidden_fields(await world.page(f"{LOGOUT}?client_id=shop"))

    page = await world.page(LOGOUT, "POST", data=fields)

    assert heading(page) == "Leave the shop"
    assert "You can close this page" in page.text_content()
    assert not await world.alice.is_signed_in()


async def test_a_wrong_proof_signs_nobody_out(world: World) -> None:
    fields = hidden_fields(await world.page(f"{LOGOUT}?client_id=shop"))

    page = await world.page(LOGOUT, "POST", data=fields | {"csrf_token": "wrong"})

    assert "Sign out?" in page.text_content()
    assert await world.alice.is_signed_in()


async def test_whoever_stays_is_signed_in_still(world: World) -> None:
    fields = hidden_fields(await world.page(LOGOUT))

    await world.page(LOGOUT, "POST", data=fields | {"decision": "stay"})

    assert await world.alice.is_signed_in()


async def test_a_second_confirmation_does_no_harm(world: World) -> None:
    first, second = [hidden_fields(await world.page(LOGOUT)) for _ in range(2)]

    pages = [await world.page(LOGOUT, "POST", data=fields) for fields in (first, second)]

    assert [heading(page) for page in pages] == ["You are signed out", "You are signed out"]
