"""The waiting time that a page shows after wrong passwords, in a real browser."""

from collections.abc import AsyncIterator

import pytest

from identity.access.login_protection.config import LoginProtectionConfig, Threshold
from identity.config import EventsSection
from tests.browser.chromium import Page
from tests.browser.site import Site, site
from tests.browser.test_sign_in import sign_in


def protected(threshold: Threshold) -> EventsSection:
    return EventsSection(login_protection=LoginProtectionConfig(thresholds=(threshold,)))


@pytest.fixture
async def blocking() -> AsyncIterator[Site]:
    async with site(events=protected(Threshold(failures=1, block_secs=540))) as found:
        yield found


@pytest.fixture
async def delaying() -> AsyncIterator[Site]:
    async with site(events=protected(Threshold(failures=1, delay_secs_per_failure=5))) as found:
        yield found


async def test_a_blocked_sign_in_says_how_long_to_wait(page: Page, blocking: Site) -> None:
    await sign_in(page, blocking.authorization(), "wrong")
    await page.until("document.getElementById('error').textContent.includes('wrong')")

    await page.fill("#password", "wrong again")
    await page.click("button[type=submit]")

    await page.until("document.getElementById('error').textContent.includes('Try again in 9 minutes.')")


async def test_a_slow_answer_says_why(page: Page, delaying: Site) -> None:
    await sign_in(page, delaying.authorization(), "wrong")

    await page.until("document.getElementById('progress').textContent.includes('takes longer')")
    await page.until("document.getElementById('error').textContent.includes('wrong')")
    assert await page.run("document.getElementById('progress').textContent") == ""
