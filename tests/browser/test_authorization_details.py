"""A user reads what a client asks for in detail, in a real browser."""

import json
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from identity.directory.client import CLIENTS
from identity.directory.labels import AUTHORIZATION_DETAILS_TYPES, AuthorizationDetailsType
from server.platform.call import TenantId
from tests.browser.accessibility import ABSENT, HAS_NPM, axe, violations
from tests.browser.chromium import Page
from tests.browser.site import Site, site
from tests.browser.test_device import enter
from tests.browser.test_registration import FOCUSED, HEADING
from tests.browser.test_sign_in import ARRIVED, sign_in

TENANT = TenantId("default")
FIELDS = {
    "amount": {"label": "Betrag", "required": True},
    "recipient": {"label": "Empfänger", "required": True},
    "urgent": {"label": "Eilig", "type": "boolean"},
}
PAYMENT = {"type": "payment", "amount": "123,50 €", "recipient": "Stadtwerke" * 12, "urgent": True}
DETAILS = json.dumps([PAYMENT])
ROWS = "[...document.querySelectorAll('.detail > *')].map((each) => each.textContent)"
TITLES = "[...document.querySelectorAll('li > strong')].map((each) => each.textContent)"
IS_WIDE = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
BUTTON_LINES = """(() => {
  const words = document.createRange();
  words.selectNodeContents(document.querySelector("[aria-labelledby=applications-heading] li > button"));
  return words.getClientRects().length;
})()"""
SHOWN = ["Betrag", "123,50 €", "Empfänger", PAYMENT["recipient"], "Eilig"]


@pytest.fixture
async def provider() -> AsyncIterator[Site]:
    async with site() as found:
        store = found.deployment.store
        await store.of(AUTHORIZATION_DETAILS_TYPES).insert(
            AuthorizationDetailsType(
                tenant_id=TENANT,
                id="1",
                name="payment",
                title="Eine Rechnung bezahlen",
                description="Die Zahlung wird einmal ausgeführt.",
                fields=json.dumps(FIELDS),
            )
        )
        clients = store.of(CLIENTS)
        app = await clients.get(TENANT, "app")
        assert app is not None
        await clients.replace(replace(app, authorization_details_types=("payment",)))
        yield found


async def test_the_user_reads_a_payment_in_german_and_finds_it_in_the_account(
    page: Page, provider: Site
) -> None:
    await page.emulate(width=360, scheme="light")
    await page.prefer("de")
    await sign_in(page, provider.authorization(authorization_details=DETAILS))
    await page.until(f"{HEADING} === 'Zugriff erlauben?'")
    asked = await page.run(TITLES), await page.run(ROWS), await page.run(IS_WIDE)
    await page.click("button[value=accept]")
    await page.until(ARRIVED)
    await page.goto(provider.address("account"))
    await page.until("!!document.querySelector('[aria-labelledby=applications-heading] details')")
    await page.click("[aria-labelledby=applications-heading] summary")
    kept = await page.run(ROWS), await page.run(IS_WIDE), await page.run(BUTTON_LINES)

    assert asked == (["Eine Rechnung bezahlen"], [*SHOWN, "Ja"], False)
    assert kept == ([*SHOWN, "Ja"], False, 1)
    assert (
        await page.run("document.querySelector('[aria-labelledby=applications-heading] summary').textContent")
        == "Was Sie im Einzelnen erlaubt haben"
    )


async def test_the_page_of_a_device_shows_the_payment(page: Page, provider: Site) -> None:
    await sign_in(page, provider.authorization())
    await page.until(ARRIVED)
    start = f"""fetch("/auth/v1/oidc/device", {{ method: "POST", body: new URLSearchParams(
      {{ client_id: "app", scope: "openid", authorization_details: {json.dumps(DETAILS)} }}) }})
      .then((answer) => answer.json())"""
    user_code = (await page.run(start))["user_code"]
    await page.goto(provider.address("device"))

    await enter(page, user_code)
    await page.until(f"{FOCUSED} === 'confirm-heading'")

    assert await page.run(TITLES) == ["Eine Rechnung bezahlen"]
    assert await page.run(ROWS) == [*SHOWN, "Yes"]


@pytest.mark.skipif(not HAS_NPM, reason=ABSENT)
async def test_axe_finds_nothing_in_the_question(page: Page, provider: Site) -> None:
    script = axe()
    await sign_in(page, provider.authorization(authorization_details=DETAILS))
    await page.until(f"{HEADING} === 'Allow access?'")

    assert await violations(page, script) == {}
