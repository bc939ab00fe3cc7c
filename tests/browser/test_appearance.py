"""Pages in light and dark, and in a narrow window: the parts of WCAG 2.2 that a script can check."""

from pathlib import Path

from identity.delivery.mail.config import EmailConfig
from identity.directory.config import UsersConfig
from tests.browser.appearance import faults, in_every_look
from tests.browser.chromium import Page
from tests.browser.site import Site, site
from tests.browser.test_codes import ASKED, TOLD, add_program, give
from tests.browser.test_sign_in import ARRIVED, sign_in

DARK = "matchMedia('(prefers-color-scheme: dark)').matches ? ['dark'] : []"
PAGES = {
    "start": "/",
    "entry": "/auth/v1/",
    "refusal": "/auth/v1/oidc/token",
    "shared sign-in": "/auth/v1/sign-in",
    "forgotten password": "/auth/v1/users/request_reset",
    "registration": "/auth/v1/users/register",
    "another link": "/auth/v1/users/request_confirmation",
    "dead link": "/auth/v1/users/ada/email_confirm/nothing",
    "signed out": "/auth/v1/oidc/logout",
}


async def test_every_page_can_be_read_and_used(page: Page, tmp_path: Path) -> None:
    letters = tmp_path / "letters"
    mail = EmailConfig(directory=letters, from_address="id@example.com", poll_interval_secs=1)
    users = UsersConfig(registration_enabled=True, preferred_username_required=True)
    async with site(users=users, email=mail) as provider:
        found = {}
        for name, path in PAGES.items():
            await page.goto(f"{provider.origin}{path}")
            found[name] = await faults(page)
        await page.goto(provider.authorization())
        found["sign-in"] = await faults(page)
    is_dark = await in_every_look(page, DARK)

    assert {name: each for name, each in found.items() if each} == {}
    assert list(is_dark) == ["dark"]


async def test_what_a_script_shows_can_be_read_and_used(page: Page, provider: Site) -> None:
    await sign_in(page, provider.authorization(), "wrong")
    await page.until("document.getElementById('error').textContent")
    of_wrong_password = await faults(page)
    await sign_in(page, provider.authorization())
    await page.until(ARRIVED)
    await add_program(page, provider)
    await page.forget()
    await sign_in(page, provider.authorization())
    await page.until(ASKED)
    await give(page, "nonsense")
    await page.until(TOLD % "wrong")
    of_wrong_code = await faults(page)

    assert (of_wrong_password, of_wrong_code) == ({}, {})
