"""A user approves requests of an application that runs elsewhere, in a real browser."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from identity.delivery.mail.config import EmailConfig
from identity.directory.client import CLIENTS
from identity.foundation.vocabulary import AuthenticationMethod, GrantType
from server.platform.call import TenantId
from tests.browser.accessibility import ABSENT, HAS_NPM, axe, violations
from tests.browser.chromium import Page
from tests.browser.site import EMAIL, Site, site
from tests.browser.test_registration import HEADING, texts
from tests.browser.test_sign_in import ADD_PASSKEY, ARRIVED, sign_in
from tests.identity.deployment import SECRET
from tests.waits import until

SEND = f"""(path, form) => fetch(`/auth/v1/oidc/${{path}}`, {{ method: "POST", body: new URLSearchParams(
  {{ client_id: "operator", client_secret: "{SECRET}", ...form }}) }}).then((answer) => answer.json())"""
SHOWN = (
    "[...document.querySelectorAll('article h2, article strong, article li')].map((each) => each.textContent)"
)
BUTTONS = "[...document.querySelectorAll('button')].map((each) => each.textContent)"


@pytest.fixture
def letters(tmp_path: Path) -> Path:
    return tmp_path / "letters"


@pytest.fixture
async def provider(letters: Path) -> AsyncIterator[Site]:
    mail = EmailConfig(directory=letters, from_address="no-reply@localhost.example", poll_interval_secs=1)
    async with site(email=mail) as found:
        clients = found.deployment.store.of(CLIENTS)
        client = await clients.get(TenantId("default"), "operator")
        assert client is not None
        bank = replace(
            client,
            name="The bank",
            grant_types=frozenset({GrantType.CIBA}),
            oauth_scopes=("openid", "email"),
            default_scopes=(),
            permissions=(),
            token_endpoint_auth_method=AuthenticationMethod.CLIENT_SECRET_POST,
        )
        await clients.replace(bank)
        yield found


async def ask(page: Page, **parameters: str) -> str:
    form = {"scope": "openid email", "login_hint": EMAIL, **parameters}
    answer = await page.run(f"({SEND})('bc-authorize', {form})")
    return str(answer["auth_req_id"])


async def tokens(page: Page, auth_req_id: str) -> Any:
    form = {"grant_type": GrantType.CIBA.value, "auth_req_id": auth_req_id}
    return await page.run(f"({SEND})('token', {form})")


async def test_a_letter_leads_to_the_request_and_the_user_approves(
    page: Page, provider: Site, letters: Path
) -> None:
    await page.goto(provider.address(""))
    auth_req_id = await ask(page, binding_message="XQ-17")
    await until(lambda: texts(letters))

    assert provider.address("sign-in-requests") in texts(letters)[-1]
    await sign_in(page, provider.address("sign-in-requests"))
    await page.until(f"{HEADING} === 'Requests to you'")
    shown = await page.run(SHOWN)
    await page.click("button[value=accept]")
    await page.until(f"{HEADING} === 'Request approved'")

    assert shown == ["The bank", "XQ-17", "Know who you are", "See your email address"]
    assert (await tokens(page, auth_req_id))["scope"] == "openid email"


async def test_a_request_for_a_passkey_is_approved_after_one_is_shown(page: Page, provider: Site) -> None:
    await sign_in(page, provider.authorization())
    await page.until(ARRIVED)
    await page.add_authenticator()
    assert await page.run(ADD_PASSKEY) == 201
    auth_req_id = await ask(page, acr_values="phr")
    await page.goto(provider.address("sign-in-requests"))

    before = await page.run(BUTTONS)
    await page.click("article a")
    await page.until("document.getElementById('passkey')?.hidden === false")
    await page.click("#passkey")
    await page.until("!!document.querySelector('button[value=accept]')")
    await page.click("button[value=accept]")
    await page.until(f"{HEADING} === 'Request approved'")

    assert before == ["Decline"]
    assert (await tokens(page, auth_req_id))["access_token"]


@pytest.mark.skipif(not HAS_NPM, reason=ABSENT)
async def test_axe_finds_nothing_in_pages_with_requests(page: Page, provider: Site) -> None:
    """In German, whose words are longer."""
    script = axe()
    await page.prefer("de")
    await sign_in(page, provider.address("sign-in-requests"))
    await page.until(f"{HEADING} === 'Anfragen an Sie'")
    found = {"no request": await violations(page, script)}
    await page.add_authenticator()
    await page.run(ADD_PASSKEY)
    await ask(page, binding_message="Überweisung von 1.000 € an die Stadtwerke", acr_values="phr")
    await ask(page)

    await page.goto(provider.address("sign-in-requests"))
    found["two requests"] = await violations(page, script)
    await page.click("button[value=decline]")
    await page.until(f"{HEADING} === 'Anfrage abgelehnt'")
    found["decision"] = await violations(page, script)

    assert {name: each for name, each in found.items() if each} == {}
