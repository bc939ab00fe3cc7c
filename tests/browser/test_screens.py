"""Screens of clients in a real browser: scripts, styles and content security policies together."""

import pytest

from identity.authentication.client_screens import CLIENT_SCREENS, ClientScreens
from identity.authentication.screens.settings import ScreenSettings, Theme, sanitized_screens
from identity.foundation.vocabulary import ConsentMode
from server.platform.call import TenantId
from tests.browser.chromium import Page
from tests.browser.site import Site, site
from tests.browser.test_sign_in import ARRIVED, sign_in

TEMPLATE = """<screen><columns ratio="wide-left">
  <stack><heading size="large">The shop</heading><text tone="muted">Since 1851</text></stack>
  <panel tone="accent"><auth-content/></panel>
</columns></screen>"""
CSS = """
@media (width > 1px) { .heading { color: rgb(1, 2, 3) } }
input[name="email"] { outline: 2px solid rgb(4, 5, 6); &:hover { color: red } }
body { background: rgb(7, 8, 9) }
:root, html:has(.heading) { font-size: 1px }
"""
IN_ATTRIBUTES = """[...document.querySelectorAll('*')].flatMap(element => [...element.attributes])
  .filter(({ value }) => value.includes(JSON.parse(document.getElementById('auth-state').textContent).csrf_token))
  .map(({ name }) => name)"""


def style(selector: str, name: str) -> str:
    return f"getComputedStyle(document.querySelector({selector!r})).{name}"


async def screens(provider: Site, settings: ScreenSettings) -> None:
    kept = sanitized_screens(settings, ScreenSettings())
    record = ClientScreens(
        tenant_id=TenantId("default"), id="app", settings=kept.settings, logout_css=kept.logout_css
    )
    await provider.deployment.store.of(CLIENT_SCREENS).insert(record)


CUSTOM = ScreenSettings(
    theme=Theme.DARK,
    accent_color="#ffcc00",
    login_template=TEMPLATE,
    logout_template=TEMPLATE,
    custom_css=CSS,
)


async def test_a_person_signs_in_and_out_in_a_custom_layout(page: Page, provider: Site) -> None:
    await screens(provider, CUSTOM)
    await page.goto(provider.authorization())
    at_sign_in = await page.run(IN_ATTRIBUTES)

    await sign_in(page, provider.authorization())
    await page.until(ARRIVED)
    await page.goto(provider.address("oidc/logout?client_id=app"))
    at_sign_out = await page.run(IN_ATTRIBUTES)
    await page.click("button[type=submit]")

    await page.until("document.querySelector('h2').textContent === 'You are signed out'")
    assert (at_sign_in, at_sign_out) == ([], [])
    assert await page.run("fetch('/auth/v1/oidc/sessioninfo').then(answer => answer.status)") == 401


async def test_consent_is_given_in_a_custom_layout(page: Page) -> None:
    async with site(ConsentMode.ALWAYS) as provider:
        await screens(provider, CUSTOM)
        await sign_in(page, provider.authorization())
        await page.until("document.querySelector('h2')?.textContent === 'Allow access?'")
        in_attributes = await page.run(IN_ATTRIBUTES)

        await page.click("button[value=accept]")

        await page.until(ARRIVED)
        assert in_attributes == []


async def test_a_stylesheet_is_about_the_card_alone(page: Page, provider: Site) -> None:
    await screens(provider, CUSTOM)

    await page.goto(provider.authorization())

    assert await page.run(style(".heading", "color")) == "rgb(1, 2, 3)"
    assert await page.run(style("#email", "outlineColor")) == "rgb(4, 5, 6)"
    assert await page.run(style("body", "backgroundColor")) != "rgb(7, 8, 9)"
    assert await page.run(style("html", "fontSize")) == "16px"
    assert await page.run(style("button[type=submit]", "color")) == "rgb(0, 0, 0)"
    assert await page.run(style("html", "colorScheme")) == "dark"


@pytest.mark.parametrize("theme", list(Theme))
async def test_the_preset_layout_has_the_theme_of_the_client(
    page: Page, provider: Site, theme: Theme
) -> None:
    await screens(provider, ScreenSettings(theme=theme, accent_color="#0000ff"))

    await sign_in(page, provider.authorization())

    await page.until(ARRIVED)
    await page.goto(provider.address("oidc/logout?client_id=app"))
    assert await page.run(style("html", "colorScheme")) == theme
    assert await page.run(style("button[type=submit]", "backgroundColor")) == "rgb(0, 0, 255)"
    assert await page.run(style("button[type=submit]", "color")) == "rgb(255, 255, 255)"
