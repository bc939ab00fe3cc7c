"""Users sign in with codes at the pages, in a real browser."""

from datetime import timedelta

from pyotp import TOTP

from tests.browser.chromium import Page
from tests.browser.site import EMAIL, PASSWORD, Site
from tests.browser.test_sign_in import ADD_PASSKEY, ARRIVED, sign_in

_ASK = """(async () => {
  const session = await (await fetch("/auth/v1/oidc/sessioninfo/xsrf")).json();
  const headers = { "content-type": "application/json", "x-csrf-token": session.csrf_token };
  const post = (path, members) => fetch(`/auth/v1/users/${session.user_id}/${path}`,
    { method: "POST", headers, body: JSON.stringify(members) });
  %s
})()"""
_BEGIN = _ASK % (
    """const proof = await (await post("mfa_token", { password: "correct horse battery staple" })).json();
  return (await post("one_time_codes", { name: "phone", mfa_mod_token_id: proof.id })).json();"""
)
_RECOVERY = _ASK % (
    """const proof = await (await post("mfa_token", { password: "correct horse battery staple" })).json();
  return (await post("recovery_codes", { mfa_mod_token_id: proof.id })).json();"""
)
_CONFIRM = _ASK % """return (await post("one_time_codes/%s/confirm", { one_time_code: "%s" })).status;"""

TOLD = """[...document.querySelectorAll('[role=alert]')].some(
  (each) => each.checkVisibility() && each.textContent.includes('%s'))"""
ASKED = "document.querySelector('#one-time-code')?.checkVisibility()"


def code(provider: Site, secret: str, steps: int = 0) -> str:
    return TOTP(secret).at(provider.deployment.clock.now(), counter_offset=steps)


async def add_program(page: Page, provider: Site) -> str:
    """Add an authenticator program to the signed-in account, and return its secret."""
    begun = await page.run(_BEGIN)
    first = code(provider, begun["secret"], -1)
    assert await page.run(_CONFIRM % (begun["id"], first)) == 201
    return str(begun["secret"])


async def give(page: Page, text: str) -> None:
    await page.fill("#one-time-code", text)
    await page.click("#code-form button[type=submit]")


async def test_a_code_follows_the_password(page: Page, provider: Site) -> None:
    await sign_in(page, provider.authorization())
    await page.until(ARRIVED)
    secret = await add_program(page, provider)
    await page.forget()

    await sign_in(page, provider.authorization())
    await page.until(ASKED)
    is_shown = await page.run("document.getElementById('sign-in').checkVisibility()")
    await give(page, code(provider, secret))

    assert is_shown is False
    await page.until(ARRIVED)


async def test_a_code_is_a_step_with_a_heading_of_its_own_and_nothing_of_the_one_before(
    page: Page, provider: Site
) -> None:
    await sign_in(page, provider.authorization())
    await page.until(ARRIVED)
    await add_program(page, provider)
    await page.forget()

    await sign_in(page, provider.authorization())
    await page.until(ASKED)

    assert await page.run("document.querySelector('main').innerText.split(/\\n+/)") == [
        "Enter your code",
        "to continue to The app",
        "Code from your authenticator app",
        "The app shows six digits.",
        "Verify",
    ]
    assert await page.run("document.querySelector('h1').textContent") == "Enter your code"
    assert await page.run("document.title") == "Enter your code"
    assert await page.run("document.activeElement.id") == "one-time-code"
    assert await page.run("document.activeElement.inputMode") == "numeric"
    assert await page.run("document.activeElement.autocomplete") == "one-time-code"


async def test_a_recovery_code_stands_in_for_a_lost_authenticator(page: Page, provider: Site) -> None:
    await sign_in(page, provider.authorization())
    await page.until(ARRIVED)
    await add_program(page, provider)
    recovery_codes = (await page.run(_RECOVERY))["recovery_codes"]
    await page.forget()
    await sign_in(page, provider.authorization())
    await page.until(ASKED)

    await page.click("#recovery summary")
    await page.until("document.getElementById('recovery-code').checkVisibility()")
    is_shown = await page.run(ASKED)
    await page.fill("#recovery-code", "AAAA-BBBB")
    await page.click("#recovery-form button[type=submit]")
    await page.until(TOLD % "recovery code is wrong")
    await page.fill("#recovery-code", recovery_codes[0])
    await page.click("#recovery-form button[type=submit]")

    assert is_shown is False
    await page.until(ARRIVED)


async def test_a_wrong_code_is_told_and_may_be_corrected(page: Page, provider: Site) -> None:
    await sign_in(page, provider.authorization())
    await page.until(ARRIVED)
    secret = await add_program(page, provider)
    await page.forget()

    await sign_in(page, provider.authorization())
    await page.until(ASKED)
    await give(page, "nonsense")
    await page.until(TOLD % "wrong")
    await give(page, code(provider, secret))

    await page.until(ARRIVED)


async def test_who_takes_too_long_is_told_so(page: Page, provider: Site) -> None:
    await sign_in(page, provider.authorization())
    await page.until(ARRIVED)
    secret = await add_program(page, provider)
    await page.forget()
    await sign_in(page, provider.authorization())
    await page.until(ASKED)

    provider.deployment.clock.advance(timedelta(minutes=6))
    await give(page, code(provider, secret))

    await page.until(TOLD % "too long")


async def test_who_cannot_show_the_passkey_gives_a_code(page: Page, provider: Site) -> None:
    await page.add_authenticator()
    await sign_in(page, provider.authorization())
    await page.until(ARRIVED)
    assert await page.run(ADD_PASSKEY) == 201
    secret = await add_program(page, provider)
    await page.forget()
    await page.goto(provider.authorization())
    await page.run("navigator.credentials.get = () => Promise.reject(new Error('nobody shows one'))")

    await page.fill("#email", EMAIL)
    await page.fill("#password", PASSWORD)
    await page.click("button[type=submit]")
    await page.until("document.getElementById('error').textContent.includes('passkey')")
    await give(page, code(provider, secret))

    await page.until(ARRIVED)
