"""E-mail-first sign-in at a tenant with a verified domain."""

from collections.abc import Callable

import pytest
import requests
from lxml import html

from tests.edge.oidc.tenants.world import EMAIL, World
from tests.people.person import SECONDS, Arrival, Page, Person
from tests.people.proof_of_work import solved

STEP = "oidc/authorize/email"


@pytest.fixture
async def provider(provider: World) -> World:
    """A provider where tenant acme has example.org, and alice with an address elsewhere."""
    await provider.add_user("acme", "acme-alice")
    await provider.add_app("acme")
    await provider.administer("POST", "tenants/acme/domains", json={"domain": "example.org"})
    await provider.administer("POST", "tenants/acme/domains/example.org/verify", json={"without_dns": True})
    return provider


def opened(person: Person, url: str) -> Page:
    page = person.visit(url)
    assert isinstance(page, Page)
    return page


def buttons(page: Page) -> list[str]:
    """Return the provider buttons that the user sees and continues with."""
    hidden = "ancestor-or-self::*[@hidden] or ancestor::template"
    found = html.fromstring(page.text).xpath(f"//button[not({hidden}) and not(@data-reveals)]")
    return [button.text_content() for button in found]


async def test_e2_the_page_has_an_address_and_continue(provider: World) -> None:
    page = await provider.person("acme", lambda person: opened(person, provider.authorization("acme")))

    assert not page.asks_for_a_password
    assert buttons(page) == ["Continue"]
    assert html.fromstring(page.text).xpath(
        "//form[not(ancestor::template or ancestor-or-self::*[@hidden])]/@action"
    ) == [f"/auth/v1/acme/{STEP}"]


@pytest.mark.parametrize("change", ["E3 switched off", "E5 the last domain goes"])
async def test_e3_e5_the_page_is_single_screen_again(provider: World, change: str) -> None:
    if change.startswith("E3"):
        settings = {"sign_in": {"email_first": "off"}}
        await provider.administer("PUT", "tenants/acme/settings", json=settings)
    else:
        await provider.administer("DELETE", "tenants/acme/domains/example.org")

    page = await provider.person("acme", lambda person: opened(person, provider.authorization("acme")))

    assert page.asks_for_a_password
    assert buttons(page) == ["Sign in"]


async def test_e4_other_tenants_stay_single_screen(provider: World) -> None:
    await provider.add_app("umbrella")
    await provider.administer("POST", "tenants/umbrella/domains", json={"domain": "example.net"})

    page = await provider.person(
        "umbrella", lambda person: opened(person, provider.authorization("umbrella"))
    )

    assert page.asks_for_a_password


async def test_h1_a_hint_is_filled_in_with_a_way_back(provider: World) -> None:
    url = f"{provider.authorization('acme')}&login_hint=a%40example.org"

    page = await provider.person("acme", lambda person: opened(person, url))

    assert page.asks_for_a_password
    assert buttons(page) == ["Use another address", "Sign in"]
    assert html.fromstring(page.text).xpath("//input[@name='email']/@value") == ["a@example.org"]


async def test_e10_nothing_tells_whether_an_account_exists(provider: World) -> None:
    await provider.add_user("acme", "acme-bob", email="bob@example.org")

    def act(person: Person) -> list[tuple[int, bytes, set[str]]]:
        page = opened(person, provider.authorization("acme"))
        addresses = (EMAIL, "nobody@example.com", "bob@example.org", "nobody@example.org")
        answers = [person.submit_email(page, address) for address in addresses]
        return [(answer.status_code, answer.content, set(answer.headers)) for answer in answers]

    first, *others = await provider.person("acme", act)

    assert first[:2] == (200, b'{"step":"password","providers":[],"password":true}')
    assert others == [first] * 3


async def test_the_password_is_the_second_step(provider: World) -> None:
    def act(person: Person) -> Page | Arrival:
        page = opened(person, provider.authorization("acme"))
        person.submit_email(page, EMAIL)
        answer = person.submit_credentials(page, person.password)
        return Arrival(answer.headers["Location"])

    arrival = await provider.person("acme", act)

    assert isinstance(arrival, Arrival)
    assert "code" in arrival.parameters


def without_proof(_person: Person) -> str:
    return ""


def with_used_proof(person: Person) -> str:
    page = opened(person, person.pages[0].url)
    proof = solved(person.challenge())
    person.submit_email(page, EMAIL, pow=proof)
    return proof


@pytest.mark.parametrize(("proof", "status"), [(without_proof, 400), (with_used_proof, 404)])
async def test_e17_the_step_asks_for_a_proof_of_work_of_its_own(
    provider: World, proof: Callable[[Person], str], status: int
) -> None:
    def act(person: Person) -> requests.Response:
        page = opened(person, provider.authorization("acme"))
        return person.submit_email(page, EMAIL, pow=proof(person))

    assert (await provider.person("acme", act)).status_code == status


def by_form(person: Person, page: Page, proof: str) -> requests.Response:
    """Submit the form as a browser without script does."""
    form = page.hidden | {"email": "a@example.org", "pow": proof}
    return person.browser.post(f"{person.issuer}{STEP}", data=form, timeout=SECONDS)


async def test_e25_without_script_the_form_leads_to_the_password_page(provider: World) -> None:
    def act(person: Person) -> requests.Response:
        page = opened(person, provider.authorization("acme"))
        return by_form(person, page, solved(person.challenge()))

    answer = await provider.person("acme", act)

    page = Page(answer.status_code, answer.url, answer.text)
    assert page.asks_for_a_password
    assert html.fromstring(page.text).xpath("//input[@name='email']/@value") == ["a@example.org"]
    assert page.hidden["authorization_id"]


async def test_e25_without_a_proof_of_work_a_page_says_what_is_missing(provider: World) -> None:
    def act(person: Person) -> requests.Response:
        return by_form(person, opened(person, provider.authorization("acme")), "")

    answer = await provider.person("acme", act)

    assert answer.status_code == 400
    assert "a proof of work, which a script of the page computes" in answer.text


async def test_e27_without_interaction_there_is_no_page(provider: World) -> None:
    url = f"{provider.authorization('acme')}&prompt=none"

    arrival = await provider.person("acme", lambda person: person.visit(url))

    assert isinstance(arrival, Arrival)
    assert arrival.parameters["error"] == "login_required"


@pytest.mark.parametrize(
    "body",
    [{"pow": "x"}, {"email": "a@example.org"}, {"email": "a@example.org", "pow": "x", "password": "p"}],
)
async def test_a_body_that_is_no_step_is_refused(provider: World, body: dict[str, str]) -> None:
    answer = await provider.http.post(f"/auth/v1/acme/{STEP}", json={"authorization_id": "r"} | body)

    assert answer.status == 400
