"""Users manage their own account at its page, in a real browser."""

from identity.directory.config import UsersConfig
from identity.foundation.vocabulary import ConsentMode
from tests.browser.appearance import faults
from tests.browser.chromium import Page
from tests.browser.site import EMAIL, PASSWORD, Site, site
from tests.browser.test_codes import ASKED, code, give
from tests.browser.test_sign_in import ARRIVED, sign_in

HEADING = "document.querySelector('h1')?.textContent === 'Your account'"
TOLD = "document.getElementById('progress').textContent.includes('%s')"
# The dialog can be answered.
ASKED_FOR_PROOF = "document.getElementById('proof').open"
PICTURE = """(() => {
  const octets = Uint8Array.from(atob(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
  ), (character) => character.charCodeAt(0));
  const files = new DataTransfer();
  files.items.add(new File([octets], "me.png", { type: "image/png" }));
  document.getElementById("image").files = files.files;
})()"""


async def open_account(page: Page, provider: Site) -> None:
    await sign_in(page, provider.address("account"))
    await page.until(HEADING)


async def prove(page: Page, password: str = PASSWORD) -> None:
    await page.until(ASKED_FOR_PROOF)
    await page.fill("#proof-answer", password)
    await page.click("#proof-form button[type=submit]")


async def entries(page: Page, section: str) -> list[str]:
    script = (
        f"[...document.querySelectorAll('[aria-labelledby={section}] li strong')].map((e) => e.textContent)"
    )
    return list(await page.run(script))


async def test_the_page_is_shown_after_a_sign_in_at_an_address_without_its_code(
    page: Page, provider: Site
) -> None:
    await open_account(page, provider)

    assert await page.run("location.href") == provider.address("account")
    assert EMAIL in await page.run("document.querySelector('header').textContent")


async def test_the_profile_is_changed(page: Page, provider: Site) -> None:
    await open_account(page, provider)

    await page.fill("#given-name", "Alice")
    await page.fill("#city", "Bern")
    await page.click("#profile button[type=submit]")
    await page.until(TOLD % "Profile saved")
    await page.goto(provider.address("account"))

    assert await page.run("document.getElementById('given-name').value") == "Alice"
    assert await page.run("document.getElementById('city').value") == "Bern"
    assert await page.run("document.getElementById('country').value") == ""


async def test_the_language_of_messages_is_changed(page: Page, provider: Site) -> None:
    await open_account(page, provider)

    await page.run("document.getElementById('language').value = 'de'")
    await page.click("#profile button[type=submit]")
    await page.until(TOLD % "Profile saved")
    await page.goto(provider.address("account"))

    assert await page.run("document.getElementById('language').value") == "de"


async def test_a_refused_change_is_told(page: Page, provider: Site) -> None:
    await open_account(page, provider)

    await page.fill("#given-name", "Ada\u202e")
    await page.click("#profile button[type=submit]")

    await page.until("document.getElementById('error').textContent.includes('visible characters')")


async def test_a_password_is_changed_after_the_present_one(page: Page, provider: Site) -> None:
    await open_account(page, provider)
    chosen = "a quiet heron over the marsh"

    await page.fill("#new-password", chosen)
    await page.click("#password-form button[type=submit]")
    await prove(page, "wrong")
    await page.until("document.getElementById('proof-error').textContent.includes('wrong')")
    await prove(page)
    await page.until(TOLD % "Password changed")
    # The session that the change renewed goes on.
    await page.fill("#given-name", "Alice")
    await page.click("#profile button[type=submit]")
    await page.until(TOLD % "Profile saved")
    await page.forget()

    await sign_in(page, provider.authorization(), chosen)
    await page.until(ARRIVED)


async def test_whoever_cancels_the_proof_changes_nothing(page: Page, provider: Site) -> None:
    await open_account(page, provider)

    await page.fill("#new-password", "a quiet heron over the marsh")
    await page.click("#password-form button[type=submit]")
    await page.until(ASKED_FOR_PROOF)
    await page.click("#proof-cancel")
    await page.until("!document.querySelector('#password-form button[type=submit]').disabled")
    await page.forget()

    await sign_in(page, provider.authorization())
    await page.until(ARRIVED)


async def test_a_passkey_is_added_proves_the_user_and_is_removed(page: Page, provider: Site) -> None:
    await page.add_authenticator()
    await open_account(page, provider)

    await page.fill("#passkey-name", "My key")
    await page.click("#add-passkey button[type=submit]")
    await prove(page)
    await page.until(TOLD % "Passkey added")
    added = await entries(page, "passkeys-heading")
    await page.click("[aria-labelledby=passkeys-heading] li button")
    await page.until(ASKED_FOR_PROOF)
    await page.click("#proof-passkey")
    await page.until(TOLD % "Passkey removed")

    assert (added, await entries(page, "passkeys-heading")) == (["My key"], [])


async def test_an_authenticator_app_is_added_and_asked_for(page: Page, provider: Site) -> None:
    await open_account(page, provider)

    await page.fill("#generator-name", "My phone")
    await page.click("#add-generator button[type=submit]")
    await prove(page)
    await page.until("document.getElementById('confirm-generator').checkVisibility()")
    await page.until("document.getElementById('qr-code').naturalWidth > 0")
    secret = await page.run("document.getElementById('generator-secret').textContent")
    await page.fill("#first-code", code(provider, secret, -1))
    await page.click("#confirm-generator button[type=submit]")
    await page.until(TOLD % "Authenticator app added")
    added = await entries(page, "codes-heading")
    await page.forget()
    await sign_in(page, provider.authorization())
    await page.until(ASKED)
    await give(page, code(provider, secret))

    assert added == ["My phone"]
    await page.until(ARRIVED)


async def test_recovery_codes_are_shown_once(page: Page, provider: Site) -> None:
    await page.add_authenticator()
    await open_account(page, provider)
    await page.fill("#passkey-name", "My key")
    await page.click("#add-passkey button[type=submit]")
    await prove(page)
    await page.until(TOLD % "Passkey added")

    await page.click("#make-recovery-codes")
    await page.until(ASKED_FOR_PROOF)
    await page.click("#proof-passkey")
    await page.until("document.getElementById('recovery-codes').checkVisibility()")
    shown = await page.run("document.querySelector('#recovery-codes pre').textContent.split('\\n')")
    await page.goto(provider.address("account"))

    text = await page.run("document.querySelector('[aria-labelledby=recovery-heading] p').textContent")
    assert f"{len(shown)} recovery codes left" in text
    assert await page.run("document.querySelector('#recovery-codes pre').textContent") == ""


async def test_a_picture_is_uploaded_and_removed(page: Page, provider: Site) -> None:
    await open_account(page, provider)

    await page.run(PICTURE)
    await page.click("#picture button[type=submit]")
    await page.until(TOLD % "Picture saved")
    await page.until("document.querySelector('.picture').naturalWidth > 0")
    await page.click("[data-removes^='/picture/']")
    await page.until(TOLD % "Picture removed")

    assert await page.run("document.querySelector('.picture')") is None


async def test_another_session_is_ended(page: Page, provider: Site) -> None:
    await open_account(page, provider)
    await page.forget()
    await open_account(page, provider)
    before = await entries(page, "sessions-heading")

    await page.click("[aria-labelledby=sessions-heading] li button")
    await page.until(TOLD % "Session ended")
    await page.goto(provider.address("account"))

    assert (len(before), len(await entries(page, "sessions-heading"))) == (2, 1)


async def test_a_consent_is_withdrawn_and_asked_for_again(page: Page) -> None:
    async with site(ConsentMode.ONCE) as provider:
        await sign_in(page, provider.authorization())
        await page.until("document.querySelector('[name=decision]') !== null")
        await page.click("button[type=submit]")
        await page.until(ARRIVED)
        await page.goto(provider.address("account"))
        await page.until(HEADING)
        before = await entries(page, "applications-heading")
        await page.click("[aria-labelledby=applications-heading] li button")
        await page.until(TOLD % "Access withdrawn")
        await page.goto(provider.authorization())
        await page.until("document.querySelector('[name=decision]') !== null")

    assert before == ["The app"]


async def test_the_account_is_deleted_where_users_may(page: Page) -> None:
    async with site(users=UsersConfig(self_delete=True)) as provider:
        await open_account(page, provider)
        await page.click("#delete-account")
        await prove(page)
        await page.until("document.querySelector('h1').textContent === 'Sign in'")
        await sign_in(page, provider.authorization())
        await page.until("document.getElementById('error').textContent.includes('wrong')")


async def test_users_who_may_not_delete_their_account_get_no_button(page: Page, provider: Site) -> None:
    await open_account(page, provider)

    assert await page.run("document.getElementById('delete-account')") is None


async def test_the_page_can_be_read_and_used(page: Page, provider: Site) -> None:
    await open_account(page, provider)

    assert await faults(page) == {}
