"""Terms of use in a real browser: administrators publish them at the console, users accept them when they sign in."""

import pytest

from identity.directory.terms_of_use.terms import (
    TERMS_TEXTS,
    TERMS_VERSIONS,
    TermsText,
    TermsVersion,
    TextOfVersion,
)
from server.platform.call import TenantId
from tests.browser.accessibility import ABSENT, HAS_NPM, axe, violations
from tests.browser.chromium import Page
from tests.browser.console import visit
from tests.browser.site import Site
from tests.browser.test_account import HEADING
from tests.browser.test_console_identity import confirmed, created, put
from tests.browser.test_console_tasks import DONE, submitted
from tests.browser.test_sign_in import ARRIVED, sign_in
from tests.identity.deployment import NOON
from tests.server_process import Addresses

DEFAULT = TenantId("default")
TEXT = "1. Be <b>kind</b>.\n\n" + "2. Stay kind to everybody else who is here.\n\n" * 40
ASKED = "document.querySelector('h1')?.textContent === 'Terms of use'"
REFUSED = "location.search.includes('error=access_denied')"


async def publish(provider: Site) -> None:
    store = provider.deployment.store
    await store.of(TERMS_TEXTS).insert(TermsText(tenant_id=DEFAULT, id="first", text=TEXT.strip()))
    await store.of(TERMS_VERSIONS).insert(
        TermsVersion(
            tenant_id=DEFAULT,
            id="1.0",
            uri="https://example.com/terms",
            texts=(TextOfVersion("en", "first"),),
            holds_from=NOON,
            is_accepted_again=True,
            accept_until=None,
            published_at=NOON,
        )
    )


async def test_a_user_accepts_at_the_sign_in_and_finds_it_in_the_account(page: Page, provider: Site) -> None:
    await publish(provider)
    await sign_in(page, provider.authorization())
    await page.until(ASKED)
    text = await page.run("document.querySelector('[role=region]').textContent")
    markup = await page.run("document.querySelectorAll('[role=region] *').length")

    await page.click("button[value=accept]")
    await page.until(ARRIVED)
    await page.goto(provider.address("account"))
    await page.until(HEADING)

    assert (text, markup) == (TEXT.strip(), 0)
    entry = "document.querySelector('[aria-labelledby=terms-heading] li').textContent"
    assert "Version 1.0" in await page.run(entry)
    await page.goto(provider.address("oidc/terms?version=1.0"))
    assert await page.run("document.querySelector('[role=region]').textContent") == TEXT.strip()


async def test_a_user_who_declines_is_signed_out(page: Page, provider: Site) -> None:
    await publish(provider)
    await sign_in(page, provider.authorization())
    await page.until(ASKED)

    await page.click("button[value=decline]")
    await page.until(REFUSED)
    await page.goto(provider.address("account"))

    await page.until("!!document.getElementById('password')")


@pytest.mark.skipif(not HAS_NPM, reason=ABSENT)
async def test_pages_with_terms_can_be_read_and_used(page: Page, provider: Site) -> None:
    """In German, whose words are longer."""
    await page.prefer("de")
    await publish(provider)
    script = axe()
    await sign_in(page, provider.authorization())
    await page.until("!!document.querySelector('button[value=accept]')")
    asked = await violations(page, script)
    await page.goto(provider.address("oidc/terms"))
    read = await violations(page, script)

    assert (asked, read) == ({}, {})


async def test_an_administrator_publishes_translates_and_withdraws(page: Page, addresses: Addresses) -> None:
    identity = f"{addresses.http}/console/default/identity"
    await visit(page, f"{identity}/terms")
    # The version holds later, so that no other test at this server is asked.
    await created(
        page,
        f"{identity}/new/terms",
        version="2026-01",
        language="en",
        text="1. Be kind.",
        holds_from="2999-01-01T00:00:00",
        accept_until="2999-02-01T00:00:00",
    )
    published = await page.run(DONE), await page.run("document.querySelector('dl.facts').innerText")
    await put(page, language="de", text="1. Sei nett.")
    await submitted(page, "form:has([value=translation]) button")
    translated = await page.run(DONE), await page.run("document.querySelector('dl.facts').innerText")
    await confirmed(page, "withdraw")

    assert published[0] == "The version is published."
    assert "2999" in published[1]
    assert translated[0] == "The translation is added."
    assert "en, de" in translated[1]
    assert await page.run(DONE) == "The version is withdrawn."
