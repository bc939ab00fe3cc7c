"""Users sign in at the pages with their scripts, in a real browser."""

from tests.browser.chromium import Page
from tests.browser.site import ALICE, EMAIL, PASSWORD, Site

ADD_PASSKEY = """(async () => {
  const session = await (await fetch("/auth/v1/oidc/sessioninfo/xsrf")).json();
  const headers = { "content-type": "application/json", "x-csrf-token": session.csrf_token };
  const post = async (path, members) => {
    const answer = await fetch(`/auth/v1/users/${session.user_id}/${path}`,
      { method: "POST", headers, body: JSON.stringify(members) });
    return answer.status === 201 ? 201 : answer.json();
  };
  const proof = await post("mfa_token", { password: "correct horse battery staple" });
  const asked = await post("webauthn/register/start", { passkey_name: "key", mfa_mod_token_id: proof.id });
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(asked.publicKey);
  const created = await navigator.credentials.create({ publicKey });
  const { id, rawId, type, response } = created.toJSON();
  return post("webauthn/register/finish", { passkey_name: "key", data: { id, rawId, type, response } });
})()"""

ARRIVED = "document.getElementById('arrived')?.textContent.includes('code')"

INVALID = "[...document.querySelectorAll('[aria-invalid]')].map((each) => each.id)"
# The page is left at once: what its field was when it was sent outlives it in the storage of the tab.
KEEP_TYPE = """document.getElementById('sign-in').addEventListener('submit', () => {
  sessionStorage.type = document.getElementById('password').type;
})"""


async def sign_in(page: Page, address: str, password: str = PASSWORD) -> None:
    await page.goto(address)
    await page.fill("#email", EMAIL)
    await page.fill("#password", password)
    await page.click("button[type=submit]")


async def test_a_person_signs_in(page: Page, provider: Site) -> None:
    await sign_in(page, provider.authorization())

    await page.until(ARRIVED)


async def test_the_answer_may_be_posted(page: Page, provider: Site) -> None:
    await sign_in(page, provider.authorization(response_mode="form_post"))

    await page.until(ARRIVED)


async def test_whoever_is_signed_in_goes_on_by_itself(page: Page, provider: Site) -> None:
    await sign_in(page, provider.authorization())
    await page.until(ARRIVED)

    await page.goto("about:blank")
    await page.goto(provider.authorization())

    await page.until(ARRIVED)


async def test_the_proof_of_work_is_solved_while_the_person_types(page: Page, provider: Site) -> None:
    asked = "performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('/pow')).length"
    await page.goto(provider.authorization())
    before = await page.run(asked)
    await page.fill("#email", EMAIL)
    await page.until(f"{asked} === 1")
    await page.fill("#password", "wrong")
    await page.click("button[type=submit]")
    await page.until("!!document.querySelector('[aria-invalid=true]')")

    assert before == 0
    # The attempt used the solution that was begun before it.
    assert await page.run(asked) == 1


async def test_a_wrong_password_is_told_and_may_be_corrected(page: Page, provider: Site) -> None:
    await sign_in(page, provider.authorization(), "wrong")
    await page.until("document.getElementById('error').textContent.includes('wrong')")

    await page.fill("#password", PASSWORD)
    await page.click("button[type=submit]")

    await page.until(ARRIVED)


async def test_a_wrong_password_marks_the_fields_until_they_change(page: Page, provider: Site) -> None:
    await sign_in(page, provider.authorization(), "wrong")
    await page.until("document.getElementById('error').textContent.includes('wrong')")
    marked = await page.run(INVALID)
    focused = await page.run("document.activeElement.id")

    await page.fill("#password", PASSWORD)

    assert (marked, focused) == (["email", "password"], "password")
    assert await page.run(INVALID) == []


async def test_a_lost_session_is_told_and_a_button_begins_another(page: Page, provider: Site) -> None:
    await page.goto(provider.authorization())
    await page.forget()
    await page.fill("#email", EMAIL)
    await page.fill("#password", PASSWORD)
    await page.click("button[type=submit]")
    await page.until("document.getElementById('error').textContent")
    told = await page.run("document.getElementById('error').textContent")

    await page.click("#reload")
    await page.until("document.getElementById('error').textContent === ''")
    await sign_in(page, provider.authorization())

    assert told == (
        "Your session has ended, or your browser blocks cookies. Reload the page and sign in again."
    )
    await page.until(ARRIVED)


async def test_a_password_is_shown_on_demand_and_sent_as_a_password(page: Page, provider: Site) -> None:
    await page.goto(provider.authorization())
    await page.fill("#password", PASSWORD)

    await page.click("[data-reveals]")
    shown = await page.run("document.getElementById('password').type")
    await page.fill("#email", EMAIL)
    await page.run(KEEP_TYPE)
    await page.click("button[type=submit]")

    assert shown == "text"
    await page.until("sessionStorage.type === 'password'")


async def test_without_scripts_a_page_says_so_and_has_no_form(page: Page, provider: Site) -> None:
    await page.without_scripts()

    await page.goto(provider.authorization())

    assert "JavaScript" in await page.run("document.querySelector('main').innerText")
    assert await page.run("document.getElementById('credentials').checkVisibility()") is False


async def test_a_hint_is_filled_in_and_may_be_given_up(page: Page, provider: Site) -> None:
    await page.goto(provider.authorization(login_hint="bob@example.com"))

    filled = await page.run("document.getElementById('email').value")
    await page.click("#another-address")

    assert filled == "bob@example.com"
    assert await page.run("document.getElementById('email').value") == ""


async def test_a_passkey_follows_the_password(page: Page, provider: Site) -> None:
    await page.add_authenticator()
    await sign_in(page, provider.authorization())
    await page.until(ARRIVED)
    added = await page.run(ADD_PASSKEY)
    await page.forget()

    await sign_in(page, provider.authorization())

    assert added == 201
    await page.until(ARRIVED)
    assert await page.run("fetch('/auth/v1/oidc/sessioninfo').then(answer => answer.status)") == 200


async def test_a_passkey_is_enough(page: Page, provider: Site) -> None:
    await page.add_authenticator()
    await sign_in(page, provider.authorization())
    await page.until(ARRIVED)
    await page.run(ADD_PASSKEY)
    await page.forget()

    await page.goto(provider.authorization())
    await page.until("!document.getElementById('passkey').hidden")
    await page.click("#passkey")

    await page.until(ARRIVED)
    session = await page.run("fetch('/auth/v1/oidc/sessioninfo').then(answer => answer.json())")
    assert session["user_id"] == ALICE


async def test_a_person_signs_out(page: Page, provider: Site) -> None:
    await sign_in(page, provider.authorization())
    await page.until(ARRIVED)

    await page.goto(provider.address("oidc/logout"))
    await page.click("button[type=submit]")

    await page.until("document.querySelector('h1').textContent === 'You are signed out'")
    assert await page.run("fetch('/auth/v1/oidc/sessioninfo').then(answer => answer.status)") == 401
