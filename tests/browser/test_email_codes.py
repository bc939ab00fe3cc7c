"""Users turn codes by e-mail on at their account page and sign in with one, in a real browser."""

import re
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from identity.directory.tenants.settings import EmailCodes, TenantSettings
from identity.directory.tenants.tenant_record import DEPLOYMENT, TENANTS, TenantRecord
from tests.browser.appearance import faults
from tests.browser.chromium import Page
from tests.browser.site import Site, site
from tests.browser.test_account import TOLD, open_account, prove
from tests.browser.test_sign_in import ARRIVED, sign_in
from tests.edge.oidc.people.letters import Letters
from tests.identity.deployment import NOON
from tests.waits import until

SUBJECT = "Your code to sign in"
ASKED = "document.querySelector('#email-code')?.checkVisibility()"
SENT = "document.getElementById('email-code-status').textContent.includes('on its way')"


@pytest.fixture
async def mailing(tmp_path: Path) -> AsyncIterator[Site]:
    async with site(letters=tmp_path) as running:
        records = running.deployment.store.of(TENANTS)
        settings = TenantSettings(email_codes=EmailCodes.OPTIONAL)
        found = await records.get(DEPLOYMENT, "default")
        if found is None:
            made = TenantRecord(
                tenant_id=DEPLOYMENT, id="default", name="Default", created_at=NOON, settings=settings
            )
            await records.insert(made)
        else:
            await records.replace(replace(found, settings=settings))
        yield running


def codes(letters: Letters) -> list[str]:
    texts = [str(letter.get_body(("plain",))) for letter in letters.all() if letter["Subject"] == SUBJECT]
    return [code for text in texts for code in re.findall(r"^(\d{6})\r?$", text, re.MULTILINE)]


async def test_a_code_from_the_mail_follows_the_password(page: Page, mailing: Site, tmp_path: Path) -> None:
    letters = Letters(tmp_path)
    await open_account(page, mailing)
    await page.click("#turn-on-email-codes")
    await prove(page)
    await page.until(TOLD % "Codes by email turned on")
    await page.forget()

    await sign_in(page, mailing.authorization())
    await page.until(ASKED)
    await until(lambda: len(codes(letters)) == 1)
    is_said, found = await page.run(SENT), await faults(page)
    (first,) = codes(letters)
    await page.click("#email-code-send button")
    await until(lambda: len(codes(letters)) == 2)
    (second, *_) = [code for code in codes(letters) if code != first] or [first]
    await page.fill("#email-code", second)
    await page.click("#email-code-form button[type=submit]")

    assert (is_said, found) == (True, {})
    await page.until(ARRIVED)
