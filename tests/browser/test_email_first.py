"""A sign-in page that asks for the address first, at a domain with a choice of providers."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import ClientSession

from identity.authentication.federation.config import FederationConfig
from tests.browser.chromium import Page
from tests.browser.site import EMAIL, PASSWORD, Site, site
from tests.browser.test_sign_in import ARRIVED
from tests.identity.authentication.saml.idp import pair

DOMAIN = EMAIL.partition("@")[2]
CHOICE = "!document.getElementById('use-password').hidden"
BUTTONS = """[...document.querySelectorAll('button')]
  .filter((button) => button.checkVisibility() && !button.dataset.reveals && button.id !== 'passkey')
  .map((button) => button.textContent)"""


@pytest.fixture
async def provider() -> AsyncIterator[Site]:
    """Users of the domain sign in at Okta or with a password, other users at Umbrella, too."""
    async with site(federation=FederationConfig(enabled=True)) as found:
        okta = await created(found, "Okta")
        await created(found, "Umbrella")
        target = {"type": "choice", "providers": [okta]}
        await administer(found, "tenants/default/domains", {"domain": DOMAIN, "target": target})
        await administer(found, f"tenants/default/domains/{DOMAIN}/verify", {"without_dns": True})
        yield found


async def created(provider: Site, name: str) -> str:
    """Create a SAML provider of this name and return its id."""
    body = {
        "name": name,
        "typ": "saml",
        "enabled": True,
        "issuer": f"https://{name.lower()}.example/",
        "authorization_endpoint": f"https://{name.lower()}.example/sso",
        "saml": {"certificates": [pair().text], "binding": "redirect"},
    }
    return str((await administer(provider, "providers/create", body))["id"])


async def administer(provider: Site, path: str, body: dict[str, Any]) -> dict[str, Any]:
    token = (await provider.deployment.issue()).access_token
    headers = {"Authorization": f"Bearer {token}"}
    async with ClientSession() as http:
        answer = await http.post(provider.address(path), json=body, headers=headers)
        assert answer.ok, await answer.text()
        return dict(await answer.json())


async def test_a_choice_offers_the_providers_of_the_domain_and_the_password(
    page: Page, provider: Site
) -> None:
    await page.goto(provider.authorization())
    first = await page.run(BUTTONS)

    await page.fill("#email", EMAIL)
    await page.click("button[type=submit]")
    await page.until(CHOICE)

    assert first == ["Continue", "Sign in with Okta", "Sign in with Umbrella"]
    assert await page.run(BUTTONS) == ["Use another address", "Use my password", "Sign in with Okta"]
    assert await page.run("document.getElementById('password')") is None
    assert await page.run("document.activeElement.textContent") == "Sign in with Okta"


async def test_a_user_of_a_choice_signs_in_with_the_password(page: Page, provider: Site) -> None:
    await page.goto(provider.authorization())
    await page.fill("#email", EMAIL)
    await page.click("button[type=submit]")
    await page.until(CHOICE)

    await page.click("#use-password")
    focused = await page.run("document.activeElement.id")
    buttons = await page.run(BUTTONS)
    await page.fill("#password", PASSWORD)
    await page.click("button[type=submit]")

    assert focused == "password"
    assert buttons == ["Use another address", "Sign in", "Sign in with Okta"]
    await page.until(ARRIVED)


async def test_an_address_of_another_domain_is_asked_for_the_password_at_once(
    page: Page, provider: Site
) -> None:
    await page.goto(provider.authorization())

    await page.fill("#email", "somebody@example.net")
    await page.click("button[type=submit]")
    await page.until("document.getElementById('password') !== null")

    assert await page.run(BUTTONS) == [
        "Use another address",
        "Sign in",
        "Sign in with Okta",
        "Sign in with Umbrella",
    ]
