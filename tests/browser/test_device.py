"""A user authorizes a device at the page, in a real browser."""

from tests.browser.chromium import Page
from tests.browser.site import Site
from tests.browser.test_registration import FOCUSED, HEADING
from tests.browser.test_sign_in import ARRIVED, sign_in

START = """fetch("/auth/v1/oidc/device", { method: "POST", body: new URLSearchParams(
  { client_id: "app", scope: "openid email" }) }).then((answer) => answer.json())"""
SCOPES = "[...document.querySelectorAll('#scopes li')].map((each) => each.textContent)"


async def enter(page: Page, user_code: str) -> None:
    await page.run("document.getElementById('user-code').value = ''")
    await page.fill("#user-code", user_code)
    await page.click("#enter-form button")


async def test_a_device_is_connected_after_its_person_saw_what_it_wants(page: Page, provider: Site) -> None:
    await sign_in(page, provider.authorization())
    await page.until(ARRIVED)
    user_code = (await page.run(START))["user_code"]
    await page.goto(provider.address("device"))

    await enter(page, user_code)
    await page.until(f"{FOCUSED} === 'confirm-heading'")
    asked = await page.run(HEADING)
    scopes = await page.run(SCOPES)
    await page.click("#accept")
    await page.until(f"{FOCUSED} === 'accepted-heading'")

    assert asked == "Is this your device?"
    assert scopes == ["Know who you are", "See your email address"]
    assert await page.run(HEADING) == await page.run("document.title") == "Device connected"


async def test_a_wrong_code_of_a_device_is_told_at_its_field(page: Page, provider: Site) -> None:
    await sign_in(page, provider.authorization())
    await page.until(ARRIVED)
    await page.goto(provider.address("device"))

    await enter(page, "ABCDEFGH")
    await page.until("document.getElementById('error').textContent.includes('wrong')")

    assert await page.run(FOCUSED) == "user-code"
    assert await page.run("document.getElementById('user-code').ariaInvalid") == "true"
