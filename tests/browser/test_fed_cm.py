"""Sign-in mediated by a real browser, at a page of another site: W3C Federated Credential Management."""

import base64
from collections.abc import AsyncIterator
from typing import Any

import orjson
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from identity.directory.client import CLIENTS, Client
from identity.directory.consents.consent import CONSENTS
from identity.foundation.vocabulary import AuthenticationMethod, ConsentMode, GrantType
from server.platform.call import TenantId
from tests.browser.chromium import Page
from tests.browser.site import ALICE, EMAIL, PASSWORD, Site
from tests.browser.test_sign_in import ARRIVED, sign_in

DEFAULT = TenantId("default")

ASK = """globalThis.asked = navigator.credentials.get({{
  identity: {{ mode: {mode!r}, providers: [{{ configURL: {config!r}, clientId: {client_id!r}, params: {{ nonce: "n1" }} }}] }},
}}).then((found) => ({{ token: found.token }}), (refusal) => ({{ name: refusal.name, error: refusal.error }})); 1"""
DISCONNECT = """IdentityCredential.disconnect({{ configURL: {config!r}, clientId: "shop", accountHint: {hint!r} }})
  .then(() => "done", String)"""
SIGNED_OUT = "document.querySelector('h1').textContent === 'You are signed out'"


@pytest.fixture
async def shop(provider: Site) -> AsyncIterator[str]:
    """The page of a relying party on another site; a second client requires two factors."""
    app = web.Application()
    app.router.add_get("/", _page)
    async with TestServer(app, host="127.0.0.1") as server:
        origin = f"http://127.0.0.1:{server.port}"
        await _register(provider, "shop", origin)
        await _register(provider, "bank", origin, requires_mfa=True)
        yield f"{origin}/"


async def _page(_request: web.Request) -> web.Response:
    return web.Response(text="<!doctype html><title>Shop</title>", content_type="text/html")


async def _register(provider: Site, client_id: str, origin: str, *, requires_mfa: bool = False) -> None:
    await provider.deployment.store.of(CLIENTS).insert(
        Client(
            tenant_id=DEFAULT,
            id=client_id,
            tenant_ids=(DEFAULT,),
            token_endpoint_auth_method=AuthenticationMethod.NONE,
            oauth_scopes=("openid", "profile", "email"),
            grant_types=frozenset({GrantType.AUTHORIZATION_CODE}),
            redirect_uris=(f"{origin}/",),
            allowed_origins=(origin,),
            policy_uri="https://shop.example/privacy",
            tos_uri="https://shop.example/terms",
            consent=ConsentMode.ONCE,
            requires_mfa=requires_mfa,
        )
    )


async def ask(page: Page, provider: Site, client_id: str = "shop", *, mode: str = "passive") -> None:
    """Request a token. In `active` mode, which is for buttons, the browser signs the user in first if needed."""
    config = provider.address("fed_cm/config")
    await page.run(ASK.format(config=config, client_id=client_id, mode=mode))


async def asked(page: Page, provider: Site, client_id: str = "shop") -> dict[str, Any]:
    """Return the result of the page after the user chose the account."""
    await ask(page, provider, client_id)
    await page.choose_account(await page.dialog())
    return dict(await page.run("asked"))


async def refused(page: Page, provider: Site, client_id: str = "shop") -> dict[str, Any]:
    """Return the result of the page when the provider refuses a token after the choice."""
    await ask(page, provider, client_id)
    await page.choose_account(await page.dialog())
    await page.acknowledge(await page.dialog())
    return dict(await page.run("asked"))


async def signed_in(page: Page, provider: Site, shop: str) -> None:
    await page.expect_dialogs()
    await sign_in(page, provider.authorization())
    await page.until(ARRIVED)
    await page.goto(shop)


def claims_of(token: str) -> dict[str, Any]:
    payload = token.split(".")[1]
    return dict(orjson.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4))))


async def test_a_browser_signs_a_person_in(page: Page, provider: Site, shop: str) -> None:
    await signed_in(page, provider, shop)

    await ask(page, provider)
    dialog = await page.dialog()
    await page.choose_account(dialog)

    claims = claims_of((await page.run("asked"))["token"])
    [account] = dialog["accounts"]
    assert (account["accountId"], account["email"], account["loginState"]) == (ALICE, EMAIL, "SignUp")
    assert account["privacyPolicyUrl"] == "https://shop.example/privacy"
    assert account["termsOfServiceUrl"] == "https://shop.example/terms"
    assert (claims["sub"], claims["aud"], claims["nonce"]) == (ALICE, "shop", "n1")
    assert claims["email"] == EMAIL


async def test_whoever_was_told_once_is_not_told_again_until_it_is_taken_back(
    page: Page, provider: Site, shop: str
) -> None:
    await signed_in(page, provider, shop)
    await asked(page, provider)

    await ask(page, provider)
    again = await page.dialog()
    await page.choose_account(again)
    await page.run("asked")
    config = provider.address("fed_cm/config")
    disconnected = await page.run(DISCONNECT.format(config=config, hint=EMAIL))
    await ask(page, provider)
    anew = await page.dialog()

    assert again["accounts"][0]["loginState"] == "SignIn"
    assert disconnected == "done"
    assert anew["accounts"][0]["loginState"] == "SignUp"


async def test_what_the_person_took_back_at_the_provider_is_told_again(
    page: Page, provider: Site, shop: str
) -> None:
    await signed_in(page, provider, shop)
    await asked(page, provider)

    await provider.deployment.store.of(CONSENTS).remove(DEFAULT, "user_id", ALICE)
    await ask(page, provider)

    assert (await page.dialog())["accounts"][0]["loginState"] == "SignUp"


async def test_the_page_learns_why_it_gets_no_token(page: Page, provider: Site, shop: str) -> None:
    await signed_in(page, provider, shop)

    refusal = await refused(page, provider, "bank")

    assert refusal == {"name": "IdentityCredentialError", "error": "interaction_required"}


async def test_a_client_has_no_page_at_another_origin(page: Page, provider: Site, shop: str) -> None:
    await signed_in(page, provider, shop)

    await page.goto(provider.callback)
    refusal = await refused(page, provider)

    assert refusal == {"name": "IdentityCredentialError", "error": ""}


async def test_after_a_logout_nobody_is_offered(page: Page, provider: Site, shop: str) -> None:
    await signed_in(page, provider, shop)
    await page.goto(provider.address("oidc/logout"))
    await page.click("button[type=submit]")
    await page.until(SIGNED_OUT)
    await page.goto(shop)

    await ask(page, provider)

    assert (await page.run("asked"))["name"] == "NetworkError"


async def test_whoever_is_not_signed_in_signs_in_in_a_window_of_the_browser(
    page: Page, provider: Site, shop: str
) -> None:
    await page.expect_dialogs()
    await page.goto(shop)

    await ask(page, provider, mode="active")
    async with page.window(provider.address("oidc/authorize")):
        await page.fill("#email", EMAIL)
        await page.fill("#password", PASSWORD)
        await page.click("button[type=submit]")
    await page.choose_account(await page.dialog())

    assert claims_of((await page.run("asked"))["token"])["sub"] == ALICE
