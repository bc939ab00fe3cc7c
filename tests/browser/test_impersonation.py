"""Support signs in as a user in a real browser: permission, start, banner, stop."""

import httpx
import pytest

from tests.browser.accessibility import ABSENT, HAS_NPM, axe, violations
from tests.browser.chromium import Browser, Page, new_page
from tests.browser.console import api
from tests.browser.test_account import HEADING
from tests.browser.test_console_identity import PASSWORD, put
from tests.browser.test_console_tasks import PROBLEM, submitted
from tests.server_process import Addresses

ASKED = "document.getElementById('password')?.type === 'password'"
BANNER = "document.querySelector('.acting p')?.textContent"
ALLOWED = "document.querySelector('#support p')?.textContent.startsWith('Support may sign in as you until')"
SHOWN = "document.readyState === 'complete' && !!document.querySelector('main')"
FORM = "form:has([name=reason])"


@pytest.fixture
def people(addresses: Addresses) -> tuple[str, str]:
    """Return the address of the provider, and the id of a user whom support of the tenant can help."""
    provider = f"{addresses.http}/auth/v1"
    with api(addresses.http) as session:
        session.post(f"{provider}/roles", json={"role": "support"})
        settings = {"sign_in": {"support_role": "support"}, "registration": {}, "clients": {}}
        session.put(f"{provider}/tenants/default/settings", json=settings).raise_for_status()
        made(session, provider, "sam@example.com", "admin", "support")
        return provider, made(session, provider, "ann@example.com")


def made(session: httpx.Client, provider: str, email: str, *roles: str) -> str:
    user = {"email": email, "language": "en", "roles": roles, "password": PASSWORD}
    found = session.post(f"{provider}/users", json=user)
    if found.status_code == httpx.codes.CONFLICT or found.is_error:
        users = session.get(f"{provider}/users").raise_for_status().json()
        return next(str(each["id"]) for each in users if each["email"] == email)
    return str(found.json()["id"])


async def sign_in(page: Page, address: str, email: str) -> None:
    await page.goto(address)
    await page.until(ASKED)
    await page.fill("#email", email)
    await page.fill("#password", PASSWORD)
    await page.click("button[type=submit]")
    await page.until(f"!({ASKED}) && {SHOWN}")


async def allow(page: Page, provider: str) -> None:
    """Let Ann allow support, unless she did before."""
    await sign_in(page, f"{provider}/account", "ann@example.com")
    await page.until(HEADING)
    if not await page.run(ALLOWED):
        await page.click("#allow-support button")
        await page.until(ALLOWED)


async def start(page: Page, console: str, user_id: str) -> None:
    """Let Sam begin at the page of a user in the console; the account page of the user follows."""
    await sign_in(page, f"{console}/identity/users/{user_id}", "sam@example.com")
    await put(page, reason="Ticket 4711")
    await submitted(page, f"{FORM} button")


async def test_support_acts_as_a_user_and_stops(
    browser: Browser, page: Page, addresses: Addresses, people: tuple[str, str]
) -> None:
    (provider, user_id), console = people, f"{addresses.http}/console/default"
    async with new_page(browser) as of_user:
        await allow(of_user, provider)

        await start(page, console, user_id)
        await page.until(HEADING)
        account = await page.run(BANNER)
        is_closed = await page.run("document.querySelector('#profile button').matches(':disabled')")
        await page.goto(f"{console}/tasks")
        await page.until(SHOWN)
        at_console = await page.run(BANNER)
        await of_user.goto(f"{provider}/account")
        await of_user.until(HEADING)
        seen = await of_user.run("document.querySelector('[aria-labelledby=sessions-heading]').innerText")
        await submitted(page, ".acting button")
        await page.until(HEADING)

        assert (account, at_console) == ("You act as ann@example.com.", "You act as ann@example.com.")
        assert is_closed is True
        assert "Support: sam@example.com acts as you" in seen
        assert await page.run(BANNER) is None
        assert "sam@example.com" in await page.run("document.querySelector('main header').textContent")


async def test_support_is_signed_out_when_the_user_withdraws_the_permission(
    browser: Browser, page: Page, addresses: Addresses, people: tuple[str, str]
) -> None:
    provider, user_id = people
    async with new_page(browser) as of_user:
        await allow(of_user, provider)
        await start(page, f"{addresses.http}/console/default", user_id)
        await page.until(HEADING)

        await of_user.click("#support button")
        await of_user.until("!!document.getElementById('allow-support')")
        await page.goto(f"{provider}/account")
        await page.until(ASKED)

        assert await page.run(BANNER) is None


async def test_the_console_explains_why_support_cannot_start(
    page: Page, addresses: Addresses, people: tuple[str, str]
) -> None:
    with api(addresses.http) as session:
        user_id = made(session, people[0], "bea@example.com")

    await start(page, f"{addresses.http}/console/default", user_id)

    assert "not allowed support" in await page.run(PROBLEM)
    assert await page.run("document.querySelector('[name=reason]').value") == "Ticket 4711"


@pytest.mark.skipif(not HAS_NPM, reason=ABSENT)
async def test_pages_of_support_can_be_read_and_used(
    browser: Browser, page: Page, addresses: Addresses, people: tuple[str, str]
) -> None:
    """In German, whose words are longer."""
    (provider, user_id), console, script = people, f"{addresses.http}/console/default", axe()
    await page.prefer("de")
    async with new_page(browser) as of_user:
        await allow(of_user, provider)
        own = await violations(of_user, script)
    await start(page, console, user_id)
    await page.until("!!document.querySelector('.acting')")
    account = await violations(page, script)
    await page.goto(f"{console}/tasks")
    await page.until(SHOWN)
    at_console = await violations(page, script)
    await page.goto(f"{provider}/device")
    await page.until("!!document.querySelector('.acting')")
    device = await violations(page, script)

    assert (own, account, at_console, device) == ({}, {}, {}, {})
