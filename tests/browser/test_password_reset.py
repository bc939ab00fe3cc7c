"""Users set a password, or add a passkey, by links in mails, in a real browser."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from aiohttp import ClientSession

from tests.browser.chromium import Page
from tests.browser.site import EMAIL, Site, site
from tests.browser.test_sign_in import ADD_PASSKEY, ARRIVED, sign_in
from tests.edge.oidc.people.letters import Letters

NEW_PASSWORD = "a new and quite long one"
ENTRY = "location.pathname === '/auth/v1/'"


@dataclass(frozen=True)
class Mailed:
    site: Site
    letters: Letters

    async def link(self, subject: str, *, to: str = EMAIL) -> str:
        return self.site.origin + await self.letters.path(subject, to=to)


@pytest.fixture
async def mailed(tmp_path: Path) -> AsyncIterator[Mailed]:
    async with site(letters=tmp_path / "letters") as found:
        yield Mailed(found, Letters(tmp_path / "letters"))


async def ask(page: Page, mailed: Mailed) -> None:
    await page.goto(mailed.site.authorization())
    await page.click("#forgotten")
    await page.until("document.getElementById('request')")
    await page.fill("#email", EMAIL)
    await page.click("button[type=submit]")
    await page.until("document.activeElement.id === 'sent-heading'")
    assert await page.run("document.title") == "Check your inbox"


async def choose(page: Page, link: str, password: str = NEW_PASSWORD) -> None:
    await page.goto(link)
    await page.fill("#password", password)
    await page.click("button[type=submit]")


async def test_who_forgot_the_password_chooses_another_one(page: Page, mailed: Mailed) -> None:
    await ask(page, mailed)

    await choose(page, await mailed.link("Choose a new password"))

    await page.until(ENTRY)
    await sign_in(page, mailed.site.authorization(), NEW_PASSWORD)
    await page.until(ARRIVED)


async def test_a_password_that_is_not_taken_may_be_corrected(page: Page, mailed: Mailed) -> None:
    await ask(page, mailed)
    await choose(page, await mailed.link("Choose a new password"), "passwordpassword")
    await page.until("document.getElementById('error').textContent.includes('easily guessed')")

    await page.fill("#password", NEW_PASSWORD)
    await page.click("button[type=submit]")

    await page.until(ENTRY)


async def test_whoever_has_a_passkey_is_asked_for_it(page: Page, mailed: Mailed) -> None:
    await page.add_authenticator()
    await sign_in(page, mailed.site.authorization())
    await page.until(ARRIVED)
    assert await page.run(ADD_PASSKEY) == 201
    await page.forget()
    await ask(page, mailed)

    await choose(page, await mailed.link("Choose a new password"))

    await page.until(ENTRY)


async def test_a_passkey_stands_in_the_place_of_a_first_password(page: Page, mailed: Mailed) -> None:
    await page.add_authenticator()
    token = (await mailed.site.deployment.issue()).access_token
    bob = {"email": "bob@example.com", "language": "en", "roles": []}
    async with ClientSession(headers={"Authorization": f"Bearer {token}"}) as http:
        assert (await http.post(mailed.site.address("users"), json=bob)).status == 200

    await page.goto(await mailed.link("Your new account", to="bob@example.com"))
    await page.click("#passkey")

    await page.until(ENTRY)
