"""Users register at the pages with their scripts, in a real browser."""

import re
from collections.abc import AsyncIterator
from email import message_from_bytes
from email.policy import default
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest

from identity.delivery.mail.config import EmailConfig
from identity.directory.config import UsersConfig
from tests.browser.chromium import Page
from tests.browser.site import PASSWORD, Site, site
from tests.browser.test_sign_in import ARRIVED
from tests.identity.mailbox import text_of
from tests.waits import until

if TYPE_CHECKING:
    from email.message import EmailMessage

EVE = "eve@example.com"
HEADING = "[...document.querySelectorAll('h1')].find((each) => each.checkVisibility())?.textContent"
FOCUSED = "document.activeElement.id"


@pytest.fixture
def letters(tmp_path: Path) -> Path:
    return tmp_path / "letters"


@pytest.fixture
async def provider(letters: Path) -> AsyncIterator[Site]:
    mail = EmailConfig(directory=letters, from_address="no-reply@localhost.example", poll_interval_secs=1)
    async with site(users=UsersConfig(registration_enabled=True), email=mail) as found:
        yield found


async def link(letters: Path, number: int = 1) -> str:
    """Return the confirmation link in the last of `number` mails."""
    await until(lambda: len(texts(letters)) >= number)
    found = re.search(r"http://\S+/email_confirm/\w+", texts(letters)[-1])
    assert found is not None
    return found.group()


def texts(letters: Path) -> list[str]:
    """Return the texts of all mails, oldest first."""
    paths = sorted(letters.glob("*.eml"), key=lambda path: path.stat().st_mtime_ns)
    found = [message_from_bytes(path.read_bytes(), policy=default) for path in paths]
    return [text_of(cast("EmailMessage", letter)) for letter in found]


async def register(page: Page, provider: Site, password: str = PASSWORD) -> None:
    await page.goto(provider.authorization())
    await page.click("a[href*='users/register']")
    await page.until("document.getElementById('register')")
    await page.fill("#email", EVE)
    await page.fill("#given-name", "Eve")
    await page.fill("#password", password)
    await page.click("button[type=submit]")


async def sign_in(page: Page) -> None:
    await page.until("document.getElementById('sign-in')")
    await page.fill("#email", EVE)
    await page.fill("#password", PASSWORD)
    await page.click("button[type=submit]")


async def test_a_person_registers_confirms_and_goes_on(page: Page, provider: Site, letters: Path) -> None:
    await register(page, provider)
    await page.until(f"{FOCUSED} === 'registered-heading'")
    told = await page.run("document.getElementById('registered').textContent")
    await page.goto(await link(letters))
    await page.click("button[type=submit]")
    await page.until(f"{HEADING} === 'Your email address is confirmed'")

    await page.goto(provider.authorization())
    await sign_in(page)

    assert EVE in told
    await page.until(ARRIVED)


async def test_who_goes_back_to_sign_in_is_told_what_is_missing_and_sent_another_link(
    page: Page, provider: Site, letters: Path
) -> None:
    await register(page, provider)
    await page.until(f"{HEADING} === 'Confirm your email address'")
    first = await link(letters)
    await page.click("a[href*='oidc/authorize']")
    await sign_in(page)
    await page.until("document.getElementById('error').textContent.startsWith('Confirm your email')")

    await page.click("#send-again")

    await page.until("document.getElementById('progress').textContent.includes('on its way')")
    await page.goto(await link(letters, 2))
    assert await page.run(HEADING) == "Confirm your email address"
    await page.goto(first)
    assert await page.run(HEADING) == "This link is no longer valid"


async def test_the_message_is_sent_again_from_where_it_was_announced(
    page: Page, provider: Site, letters: Path
) -> None:
    await register(page, provider)
    await page.until(f"{HEADING} === 'Confirm your email address'")

    await page.click("#again")

    await page.until("document.getElementById('again-status').textContent.includes('on its way')")
    assert await link(letters, 2)


async def test_a_password_that_is_refused_may_be_replaced(page: Page, provider: Site) -> None:
    await register(page, provider, "qwertyuiopasdfghjkl")
    await page.until("document.getElementById('error').textContent.includes('easily guessed')")

    await page.fill("#password", PASSWORD)
    await page.click("button[type=submit]")

    await page.until(f"{FOCUSED} === 'registered-heading'")


async def test_a_link_that_is_good_no_more_leads_to_another(
    page: Page, provider: Site, letters: Path
) -> None:
    await register(page, provider)
    await page.until(f"{HEADING} === 'Confirm your email address'")
    await page.goto(f"{(await link(letters))[:-1]}")

    await page.fill("#email", EVE)
    await page.click("button[type=submit]")

    await page.until("document.getElementById('progress').textContent.includes('on its way')")
    assert await link(letters, 2)
