"""Registration over HTTP: from the form to the mail, from the link to the sign-in."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest
from aiohttp.test_utils import unused_port

from identity.delivery.mail.config import EmailConfig
from identity.delivery.mail.queued_letter import QUEUED_LETTERS
from identity.directory.client import CLIENTS
from identity.directory.config import UsersConfig
from server.platform.call import TenantId
from tests.edge.oidc.people.post_office import EVE, OPEN, PostOffice, heading, page_of, post_office
from tests.edge.oidc.people.somebody import PASSWORD
from tests.identity.browsers import app
from tests.identity.deployment import CONFIG
from tests.identity.mailbox import text_of

REGISTER = "/auth/v1/users/register"
BOB = {"email": "bob@example.com", "language": "en", "roles": [], "password": PASSWORD}
ASKING = {
    "client_id": "app",
    "redirect_uri": "https://app.example.com/callback",
    "response_type": "code",
    "scope": "openid",
    "state": "a b&c=ü",
    "nonce": "n1",
    "code_challenge": "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
    "code_challenge_method": "S256",
}


@pytest.fixture
async def office(tmp_path: Path) -> AsyncIterator[PostOffice]:
    async with post_office(tmp_path / "letters") as found:
        yield found


async def test_who_registers_confirms_and_signs_in(office: PostOffice) -> None:
    registered = await office.register(given_name="Eve", family_name="Moss")
    early = await office.browser().sign_in()
    link = await office.link()
    looked = await office.http.get(link)
    confirmed = await office.http.post(link)
    signed_in = await office.browser().sign_in()

    assert (registered.status, await registered.read()) == (204, b"")
    assert (early.status, (await early.json())["error"]) == (403, "EmailNotConfirmed")
    assert (looked.status, heading(await page_of(looked))) == (200, "Confirm your email address")
    assert (confirmed.status, heading(await page_of(confirmed))) == (200, "Your email address is confirmed")
    assert signed_in.status == 202
    eve = await office.person()
    assert (eve["given_name"], eve["created_by"], eve["email_verified"]) == ("Eve", "self", True)
    assert eve["confirmation_state"] == "confirmed"
    assert {"NewUserRegistered", "UserConfirmationSent", "UserConfirmed"} <= set(await office.admin.typs())


async def test_the_language_of_the_page_is_that_of_the_account_and_its_letters(office: PostOffice) -> None:
    await office.submit("/users/register?ui_locales=de", email=EVE, password=PASSWORD)

    letter = await office.letter()
    assert (letter["Subject"], letter["Content-Language"]) == ("Bestätigen Sie Ihre E-Mail-Adresse", "de")
    assert "innerhalb von" in text_of(letter)
    assert (await office.person())["language"] == "de"


async def test_the_metadata_names_the_prompt_for_an_account_while_registration_is_open(
    office: PostOffice,
) -> None:
    metadata = await (await office.http.get("/auth/v1/.well-known/openid-configuration")).json()

    assert metadata["prompt_values_supported"] == ["none", "login", "consent", "select_account", "create"]


async def test_r9_the_right_password_is_told_what_is_missing(office: PostOffice) -> None:
    await office.register()

    refused = await office.browser().sign_in()

    body = await refused.json()
    assert refused.status == 403
    assert (body["error"], body["resend"]) == ("EmailNotConfirmed", True)
    assert "confirm your e-mail address first" in body["message"]


async def test_r10_a_wrong_password_is_told_nothing(office: PostOffice) -> None:
    await office.register()

    unconfirmed = await office.browser().sign_in("a wrong password, and long")
    unknown = await office.browser("nobody@example.com").sign_in("a wrong password, and long")

    assert unconfirmed.status == unknown.status == 401
    assert await unconfirmed.json() == await unknown.json()


async def test_without_script_the_right_password_leads_to_the_form_that_sends_again(
    office: PostOffice,
) -> None:
    await office.register()
    eve = office.browser()
    asked = await eve.begin()
    query = urlencode({**asked, "scope": "openid", "response_type": "code"} | {"scopes": ""})
    page = await page_of(await eve.http.get(f"/auth/v1/oidc/authorize?{query}"))
    hidden = {each.name: each.value for each in page.xpath("//input[@type='hidden']")}

    answer = await eve.http.post(
        "/auth/v1/oidc/authorize",
        data=hidden | {"email": EVE, "password": PASSWORD, "pow": await office.proof_of_work()},
    )

    page = await page_of(answer)
    assert (answer.status, heading(page)) == (403, "Confirm your email address first")
    assert page.xpath("//form/@action") == ["/auth/v1/users/request_confirmation"]
    assert page.xpath("//input[@name='email']/@value") == [EVE]


async def test_r6_r7_every_address_is_answered_alike(office: PostOffice) -> None:
    await office.admin.send("POST", "/users", json=BOB)
    await office.register()

    answers = [await office.register(email) for email in (EVE, "bob@example.com", "new@example.com")]

    first, *others = [
        (answer.status, await answer.read(), {name for name in answer.headers if name != "Date"})
        for answer in answers
    ]
    assert first[:2] == (204, b"")
    assert others == [first, first]
    await office.letter(4)
    assert sorted(letter["To"] for letter in office.letters()) == [
        "bob@example.com",
        EVE,
        EVE,
        "new@example.com",
    ]


@pytest.mark.parametrize(
    ("members", "message"),
    [
        pytest.param({"password": "too short"}, "Minimum password length is 15", id="weak"),
        pytest.param({"email": "eve"}, "e-mail address", id="no address"),
        pytest.param({"pow": ""}, "proof of work", id="no proof of work"),
        pytest.param({"given_name": "E\u200bve"}, "expected a name", id="no name"),
        pytest.param({"is_admin": True}, "nothing else than email", id="something else"),
        pytest.param({"password": None}, "nothing else than email", id="no password"),
        pytest.param(
            {"client_id": "app", "redirect_uri": "https://evil.example.com/"},
            "one that the client registered",
            id="R34 a stranger's address",
        ),
    ],
)
async def test_a_form_that_is_wrong_is_told_why(
    office: PostOffice, members: dict[str, object], message: str
) -> None:
    refused = await office.register(**members)

    body = await refused.json()
    assert (refused.status, body["error"]) == (400, "BadRequest")
    assert message in body["message"]


async def test_r35_a_proof_of_work_is_good_once(office: PostOffice) -> None:
    proof = await office.proof_of_work()
    await office.register(pow=proof)

    again = await office.register("new@example.com", pow=proof)
    wrong = await office.register("new@example.com", pow="x")

    assert (again.status, wrong.status) == (404, 403)


async def test_r36_a_network_address_waits_after_so_many(tmp_path: Path) -> None:
    async with post_office(tmp_path, UsersConfig(registration_enabled=True, registration_limit=1)) as office:
        await office.register()

        refused = await office.register("new@example.com")
        asked = await office.post("/users/request_confirmation", email=EVE)

        assert (refused.status, asked.status) == (429, 429)
        assert refused.headers["Retry-After"] == "3600"


async def test_r1_while_nobody_may_register_there_is_no_page(tmp_path: Path) -> None:
    async with post_office(tmp_path, UsersConfig()) as office:
        page = await office.http.get(REGISTER)
        by_json = await office.register()
        by_form = await office.submit("/users/register", email=EVE, password=PASSWORD)
        await office.admin.deployment.store.of(CLIENTS).insert(app(client_uri="https://app.example.com/"))
        sign_in = await office.http.get(f"/auth/v1/oidc/authorize?{urlencode(ASKING)}")

        assert (page.status, by_json.status, by_form.status) == (404, 403, 403)
        assert "Create an account" not in await sign_in.text()


async def test_r2_r33_the_way_there_and_back_keeps_the_request(office: PostOffice) -> None:
    await office.admin.deployment.store.of(CLIENTS).insert(app(client_uri="https://app.example.com/"))
    sign_in = await page_of(await office.http.get(f"/auth/v1/oidc/authorize?{urlencode(ASKING)}"))
    (there,) = sign_in.xpath("//a[text()='Create an account']/@href")

    page = await page_of(await office.http.get(there))

    (back,) = page.xpath("//a[text()='Back to sign-in']/@href")
    assert urlsplit(there).path == REGISTER
    assert urlsplit(back)[:3] == ("", "", "/auth/v1/oidc/authorize")
    assert dict(parse_qsl(urlsplit(back).query)) == ASKING
    again = await page_of(await office.http.get(back))
    assert heading(again) == "Sign in"


@pytest.mark.parametrize(
    "query", ["", "client_id=app", "back=https://evil.example.com/", "redirect_uri=https://evil.example.com/"]
)
async def test_r33_r40_without_a_request_the_way_back_is_the_entry_page(
    office: PostOffice, query: str
) -> None:
    page = await page_of(await office.http.get(f"{REGISTER}?{query}"))

    assert page.xpath("//a[text()='Back to sign-in']/@href") == ["/auth/v1/"]


async def test_the_way_back_stays_with_the_tenant(office: PostOffice) -> None:
    page = await page_of(await office.http.get(f"/auth/v1/acme/users/register?{urlencode(ASKING)}"))

    (back,) = page.xpath("//a[text()='Back to sign-in']/@href")
    assert back.startswith("/auth/v1/acme/oidc/authorize?")
    (action,) = page.xpath("//form/@action")
    assert action.startswith("/auth/v1/acme/users/register?")


async def test_the_form_says_what_its_fields_are(office: PostOffice) -> None:
    page = await page_of(await office.http.get(REGISTER))

    fields = {each.get("name"): each for each in page.xpath("//form//input")}
    assert list(fields) == ["email", "given_name", "family_name", "password"]
    assert [name for name, each in fields.items() if each.get("required") is not None] == [
        "email",
        "password",
    ]
    assert fields["password"].get("autocomplete") == "new-password"
    assert fields["password"].get("minlength") == "15"
    for each in fields.values():
        assert page.xpath(f"//label[@for='{each.get('id')}']")
        for described in each.get("aria-describedby").split():
            assert page.get_element_by_id(described) is not None


async def test_r3_a_username_is_asked_for_where_it_is_required(tmp_path: Path) -> None:
    users = UsersConfig(registration_enabled=True, preferred_username_required=True)
    async with post_office(tmp_path, users) as office:
        page = await page_of(await office.http.get(REGISTER))
        without = await office.register()
        taken = [await office.register(f"{who}@example.com", preferred_username="eve") for who in "ab"]

        assert page.xpath("//input[@name='preferred_username'][@required]")
        assert [without.status, *(answer.status for answer in taken)] == [400, 204, 400]


async def test_without_script_the_form_works_but_for_the_proof_of_work(office: PostOffice) -> None:
    registered = await office.submit("/users/register", email=EVE, password=PASSWORD, given_name="Eve")
    without = await office.submit("/users/register", email=EVE, password=PASSWORD, pow="")

    page = await page_of(registered)
    assert (registered.status, heading(page)) == (200, "Confirm your email address")
    assert EVE in page.text_content()
    assert page.xpath("//a/@href") == ["/auth/v1/users/request_confirmation", "/auth/v1/"]
    assert without.status == 400
    assert (await office.person())["given_name"] == "Eve"


async def test_a_letter_is_one_and_holds_nothing_that_was_typed(office: PostOffice) -> None:
    await office.register(given_name="evil.example.com", family_name="Bcc victim")

    letter = await office.letter()

    assert (letter["To"], letter["Subject"]) == (EVE, "Confirm your email address")
    assert letter["Bcc"] is None
    assert letter.get_content_type() == "multipart/alternative"
    links = [word for word in text_of(letter).split() if "://" in word]
    assert {urlsplit(link).netloc for link in links} == {"id.example.com"}
    assert "evil" not in letter.as_string()


async def test_r7_a_second_form_takes_nobodys_account(office: PostOffice) -> None:
    """The owner registers, an attacker registers the same address, and the owner opens the newest mail."""
    others, chosen = "a password of somebody else", "the password that the owner chooses"
    await office.register()
    await office.letter()
    await office.register(password=others)
    link = await office.link(2)
    letter = text_of(await office.letter(2))

    confirmed = await office.http.post(link, allow_redirects=False)
    before = [(await office.browser().sign_in(password)).status for password in (PASSWORD, others)]
    choice = urlsplit(confirmed.headers["Location"]).path
    page = await page_of(await office.http.get(choice))
    hidden = {field.name: field.value for field in page.xpath("//input[@type='hidden']")}
    [action] = page.xpath("//form[@method='post']/@action")
    answer = await office.http.post(action, data=hidden | {"password": chosen}, allow_redirects=False)
    after = [(await office.browser().sign_in(password)).status for password in (PASSWORD, others, chosen)]

    assert "registered more than once" in letter
    assert (confirmed.status, before) == (303, [401, 401])
    assert answer.status == 200
    assert after == [401, 401, 202]


async def test_r34_who_came_from_a_client_goes_on_there(office: PostOffice) -> None:
    await office.admin.deployment.store.of(CLIENTS).insert(app(client_uri="https://app.example.com/"))
    await office.submit(f"/users/register?{urlencode(ASKING)}", email=EVE, password=PASSWORD)

    confirmed = await page_of(await office.http.post(await office.link()))

    (way_on,) = confirmed.xpath("//a")
    assert (way_on.get("href"), way_on.text) == ("https://app.example.com/", "Continue to The app")


async def test_r40_who_came_from_nowhere_goes_to_the_entry_page(office: PostOffice) -> None:
    await office.register()

    confirmed = await page_of(await office.http.post(await office.link()))

    assert confirmed.xpath("//a/@href") == ["/auth/v1/"]


async def test_the_form_leads_to_the_terms_of_use_that_hold(office: PostOffice) -> None:
    before = await page_of(await office.http.get(REGISTER))
    published = await office.admin.send(
        "POST", "/tos", json={"version": "1", "language": "en", "text": "Be kind."}
    )
    assert published.status == 201
    form = await page_of(await office.http.get(REGISTER))

    link = "//a[contains(@href, '/oidc/terms')]/@href"
    assert (before.xpath(link), form.xpath(link)) == ([], ["/auth/v1/oidc/terms"])


async def test_a_request_may_ask_for_the_registration_page(office: PostOffice) -> None:
    """Initiating User Registration via OpenID Connect 1.0 §4."""
    await office.admin.deployment.store.of(CLIENTS).insert(app(client_uri="https://app.example.com/"))
    query = urlencode(ASKING | {"prompt": "create"})

    answer = await office.http.get(f"/auth/v1/oidc/authorize?{query}", allow_redirects=False)

    assert answer.status == 302
    location = urlsplit(answer.headers["Location"])
    assert location[:3] == ("", "", REGISTER)
    assert dict(parse_qsl(location.query)) == ASKING


async def test_r37_the_account_is_there_while_the_mail_server_is_not(tmp_path: Path) -> None:
    away = EmailConfig(smtp_host="127.0.0.1", smtp_port=unused_port(), from_address="no-reply@id.example.com")
    async with post_office(tmp_path, email=away) as office:
        registered = await office.register()

        assert (registered.status, await registered.read()) == (204, b"")
        assert (await office.person())["confirmation_state"] == "unconfirmed"
        (queued,) = await office.admin.deployment.store.of(QUEUED_LETTERS).page(TenantId("default"))
        assert EVE not in str(queued)


async def test_another_site_may_offer_the_form(office: PostOffice) -> None:
    """No cookie is involved, and the proof of work is required as usual."""
    asked = await office.http.options(
        REGISTER, headers={"Origin": "https://shop.example.com", "Access-Control-Request-Method": "POST"}
    )
    sent = await office.http.post(
        REGISTER,
        json={"email": EVE, "password": PASSWORD, "pow": await office.proof_of_work()},
        headers={"Origin": "https://shop.example.com", "Sec-Fetch-Site": "cross-site"},
    )

    assert (asked.headers["Access-Control-Allow-Origin"], sent.status) == ("*", 204)
    assert asked.headers["Access-Control-Allow-Headers"] == "Content-Type"
    assert "Access-Control-Allow-Credentials" not in sent.headers
    assert "Set-Cookie" not in sent.headers


async def test_registration_without_mail_is_no_configuration() -> None:
    with pytest.raises(ValueError, match=r"users\.registration_enabled: expected mail"):
        replace(CONFIG, users=OPEN)
