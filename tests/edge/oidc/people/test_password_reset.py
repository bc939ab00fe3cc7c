"""Links to an account over HTTP, from the mail to the records."""

from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import parse_qsl

import pytest
from lxml import html

from tests.edge.oidc.people.mailed import COOKIE, JSON, NEW_PASSWORD, Mailed, mailed, opened
from tests.edge.oidc.people.provider import BASE, Administrator
from tests.edge.oidc.people.somebody import PASSWORD
from tests.identity.authentication.passkeys.authenticator import SoftwareAuthenticator
from tests.people.proof_of_work import solved

FORGOTTEN = "Choose a new password"
EXPIRED = "This link has expired already"


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[Mailed]:
    async with mailed(tmp_path / "letters") as found:
        yield found


async def test_who_forgot_the_password_chooses_another_one(world: Mailed) -> None:
    elsewhere = await world.signed_in()
    assert (await world.ask()).status == 200
    link = await opened(world.browser(), await world.letters.path(FORGOTTEN))

    answer = await link.put()

    assert (answer.status, answer.headers["Location"]) == (202, "https://id.example.com/auth/v1/")
    assert link.document["password_policy"]["length_min"] == 15
    assert (link.document["needs_passkey"], link.document["is_new_account"]) == (False, False)
    assert not await elsewhere.is_signed_in()
    assert (await world.alice().sign_in(PASSWORD)).status == 401
    assert (await world.alice().sign_in(NEW_PASSWORD)).status == 202
    assert "from the IP address 127.0.0.1" in await world.letters.text("Your password was changed")


async def test_every_address_is_answered_alike(world: Mailed) -> None:
    answers = [await world.ask(email) for email in ("alice@example.com", "nobody@example.com")]

    told = [(each.status, await each.read(), sorted(each.headers)) for each in answers]
    assert told[0] == told[1]
    assert answers[0].status == 200


async def test_a_proof_of_work_comes_first(world: Mailed) -> None:
    challenge = await (await world.admin.http.post(f"{BASE}/pow")).text()
    solution = solved(challenge)

    statuses = [(await world.ask(pow=proof)).status for proof in ("", "nonsense", solution, solution)]

    assert statuses == [400, 403, 200, 404]


@pytest.mark.parametrize(
    "members",
    [
        {"redirect_uri": "https://evil.example.com/"},
        {"client_id": "gnomon-pages", "redirect_uri": "https://evil.example.com/"},
        {"client_id": "unheard-of"},
    ],
    ids=str,
)
async def test_nobody_is_led_to_where_a_stranger_wants(world: Mailed, members: dict[str, str]) -> None:
    assert (await world.ask(**members)).status == 400


async def test_a_person_goes_back_to_one_of_the_clients_addresses(world: Mailed) -> None:
    device = "https://id.example.com/auth/v1/device"
    assert (await world.ask(client_id="gnomon-pages", redirect_uri=device)).status == 200
    link = await opened(world.browser(), await world.letters.path(FORGOTTEN))

    answer = await link.put()

    assert answer.headers["Location"] == device


async def test_a_link_is_opened_by_its_browser_for_its_person(world: Mailed) -> None:
    user_id, path = await world.made()
    unknown, others = path[:-1], path.replace(user_id, world.user_id)
    http = world.browser()

    assert (await http.get(unknown, headers=JSON)).status == 404
    assert (await http.get(others, headers=JSON)).status == 400
    assert (await http.head(path)).status == 200
    assert (await http.get(path, headers={"Sec-Purpose": "prefetch"})).status == 200
    first = await opened(world.browser(), path)
    assert (await http.get(path, headers=JSON)).status == 403

    assert (await opened(first.http, path)).document == first.document


async def test_nothing_is_done_without_the_cookie_and_the_token(world: Mailed) -> None:
    _, path = await world.made()
    link = await opened(world.browser(), path)
    sent = {"magic_link_id": link.code, "password": NEW_PASSWORD}

    without_token = await link.http.put(f"{link.person}/reset", json=sent)
    without_cookie = await world.browser().put(f"{link.person}/reset", json=sent, headers=link.headers)

    assert (without_token.status, (await without_token.json())["message"]) == (401, "CSRF Token is missing")
    assert without_cookie.status == 403


async def test_a_first_password_is_chosen_once_and_as_the_policy_says(world: Mailed) -> None:
    user_id, path = await world.made()
    link = await opened(world.browser(), path)

    short = await link.put("short")
    chosen = await link.put()
    again = await link.put()

    assert link.document["is_new_account"]
    assert (short.status, (await short.json())["message"]) == (400, "Minimum password length is 15")
    assert chosen.status == 202
    # The browser has deleted the cookie.
    assert again.status == 403
    reopened = await link.http.get(path, headers=JSON)
    assert (reopened.status, (await reopened.json())["message"]) == (400, EXPIRED)
    _, bob = await world.admin.ask("GET", f"/users/{user_id}")
    assert (bob["account_type"], bob["email_verified"]) == ("password", True)


async def test_a_page_asks_for_the_password_and_needs_no_script(world: Mailed) -> None:
    _, path = await world.made()
    http = world.browser()

    answer = await http.get(path)
    page = html.fromstring(await answer.text())
    fields = {each.get("name"): each.get("value", "") for each in page.xpath("//form//input[@name]")}
    (action,) = page.xpath("//form/@action")
    done = await http.post(action, data=fields | {"password": NEW_PASSWORD})

    cookie = answer.cookies[COOKIE]
    assert (answer.status, cookie["httponly"], cookie["samesite"]) == (200, True, "Lax")
    assert int(cookie["max-age"]) == 4320 * 60
    assert answer.headers["Referrer-Policy"] == "no-referrer"
    (password,) = page.xpath("//input[@type='password']")
    assert (password.get("autocomplete"), password.get("minlength")) == ("new-password", "15")
    assert done.status == 200
    assert "Your password is set" in await done.text()


async def test_a_form_is_told_what_is_wrong_on_a_page(world: Mailed) -> None:
    _, path = await world.made()
    link = await opened(world.browser(), path)

    form = {"magic_link_id": link.code, "csrf_token": link.document["csrf_token"], "password": "short"}
    answer = await link.http.post(f"{link.person}/reset", data=form)

    assert (answer.status, answer.content_type) == (400, "text/html")
    assert "Minimum password length is 15" in await answer.text()


async def test_the_page_that_asks_for_an_address(world: Mailed) -> None:
    answer = await world.admin.http.get(f"{BASE}/users/request_reset?client_id=app")

    page = html.fromstring(await answer.text())
    assert answer.status == 200
    assert page.xpath("//form/@action") == [f"{BASE}/users/request_reset"]
    assert page.xpath("//input[@name='client_id']/@value") == ["app"]


async def test_a_form_asks_too(world: Mailed) -> None:
    challenge = await (await world.admin.http.post(f"{BASE}/pow")).text()
    form = {"email": "alice@example.com", "pow": solved(challenge), "client_id": "", "redirect_uri": ""}

    answer = await world.admin.http.post(f"{BASE}/users/request_reset", data=form)

    assert answer.status == 200
    assert "Check your inbox" in await answer.text()


async def test_the_sign_in_page_has_a_link_to_it_where_there_is_mail(
    world: Mailed, admin: Administrator
) -> None:
    links = []
    for http in (world.admin.http, admin.http):
        page = await http.get(f"{BASE}/device", allow_redirects=False)
        sign_in_flow = await http.get(page.headers["Location"])
        links.append(html.fromstring(await sign_in_flow.text()).xpath("//a[@id='forgotten']/@href"))

    assert links == [[f"{BASE}/users/request_reset?client_id=gnomon-pages"], []]
    assert (await admin.http.get(f"{BASE}/users/request_reset")).status == 404
    assert (await admin.http.get(f"{BASE}/users/request_confirmation")).status == 404


@pytest.mark.parametrize("path", ["/users/request_reset", "/users/alice/reset"])
async def test_other_sites_ask_for_nothing(world: Mailed, path: str) -> None:
    answer = await world.admin.http.post(f"{BASE}{path}", headers={"Sec-Fetch-Site": "cross-site"}, json={})

    assert answer.status == 400


async def test_a_passkey_stands_in_the_place_of_a_first_password(world: Mailed) -> None:
    _, path = await world.made()
    link = await opened(world.browser(), path)
    named = {"passkey_name": "laptop", "magic_link_id": link.code}
    authenticator = SoftwareAuthenticator("https://id.example.com")

    started = await link.post("/webauthn/register/start", **named)
    data = authenticator.create((await started.json())["publicKey"])
    stranger = await world.browser().post(
        f"{link.person}/webauthn/register/finish", json={**named, "data": data}, headers=link.headers
    )
    finished = await link.post("/webauthn/register/finish", **named, data=data)

    assert (started.status, stranger.status, finished.status) == (200, 403, 201)
    assert await finished.json() == {"location": "https://id.example.com/auth/v1/"}
    assert (await link.put()).status == 400
    user_id = link.person.rpartition("/")[2]
    _, bob = await world.admin.ask("GET", f"/users/{user_id}")
    assert (bob["account_type"], bob["email_verified"]) == ("passkey", True)


async def test_who_has_a_passkey_shows_it_before_a_new_password_counts(world: Mailed) -> None:
    alice = await world.signed_in()
    authenticator = SoftwareAuthenticator("https://id.example.com", verifies_user=False)
    token = await alice.proof()
    started = await alice.own("POST", "/webauthn/register/start", passkey_name="key", mfa_mod_token_id=token)
    data = authenticator.create((await started.json())["publicKey"])
    await alice.own("POST", "/webauthn/register/finish", passkey_name="key", data=data)
    await world.ask()
    link = await opened(world.browser(), await world.letters.path(FORGOTTEN))
    start = {"purpose": "PasswordReset"}

    alone = await link.put()
    stranger = await world.browser().post(f"{link.person}/webauthn/auth/start", json=start)
    begun = await (await link.post("/webauthn/auth/start", **start)).json()
    shown = await link.post(
        "/webauthn/auth/finish",
        code=begun["code"],
        data=authenticator.get(begun["rcr"]["publicKey"]),
    )
    code = (await shown.json())["code"]
    answer = await link.put(mfa_code=code)

    assert (alone.status, (await alone.json())["error"]) == (406, "MfaRequired")
    assert (stranger.status, shown.status, answer.status) == (403, 202, 202)
    assert link.document["needs_passkey"]
    # The passkey is still asked for.
    assert (await world.alice().sign_in(NEW_PASSWORD)).status == 200


async def test_who_a_provider_signs_in_chooses_no_password(world: Mailed) -> None:
    await world.ask()
    path = await world.letters.path(FORGOTTEN)
    link = await opened(world.browser(), path)
    await world.put_in_charge("example.com")

    answers = [await world.ask(email) for email in ("alice@example.com", "nobody@example.com")]
    answers.append(await link.put())
    page = await link.http.get(path)

    assert [answer.status for answer in answers] == [409, 409, 409]
    addresses = ("alice@example.com", "nobody@example.com", "alice@example.com")
    for answer, email in zip(answers, addresses, strict=True):
        body = await answer.json()
        assert (body["error"], body["provider"]["name"]) == ("UseCompanySignIn", "Umbrella's people")
        assert body["provider"].keys() == {"id", "name"}
        _expect_own_sign_in(body["location"], email)
    # The link is no longer valid.
    assert page.status == 400
    assert (await world.ask("alice@example.org")).status == 200


async def test_a_page_leads_to_the_companys_sign_in(world: Mailed) -> None:
    _, path = await world.made()
    await world.put_in_charge("example.com")

    page = await world.browser().get(path)

    assert page.status == 409
    leads = html.fromstring(await page.text()).xpath("//a/@href")
    [location] = leads
    _expect_own_sign_in(location, "bob@example.com")


def _expect_own_sign_in(location: str, email: str) -> None:
    """Expect the address of a sign-in that returns to our own page."""
    address, _, query = location.partition("?")
    parameters = dict(parse_qsl(query))
    assert address == "https://id.example.com/auth/v1/oidc/authorize"
    assert parameters["redirect_uri"] == "https://id.example.com/auth/v1/sign-in"
    assert parameters["login_hint"] == email
