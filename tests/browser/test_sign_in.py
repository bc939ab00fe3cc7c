"""People sign in at the pages, with the scripts that these carry, in a real browser."""

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


async def test_a_wrong_password_is_told_and_may_be_corrected(page: Page, provider: Site) -> None:
    await sign_in(page, provider.authorization(), "wrong")
    await page.until("document.getElementById('error').textContent.includes('wrong')")

    await page.fill("#password", PASSWORD)
    await page.click("button[type=submit]")

    await page.until(ARRIVED)


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
