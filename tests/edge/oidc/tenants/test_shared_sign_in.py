"""The sign-in page for all tenants."""

from urllib.parse import parse_qsl, urlsplit

import pytest
import requests
from lxml import html

from tests.edge.oidc.tenants.world import EMAIL, World
from tests.people.person import SECONDS, Arrival, Page, Person
from tests.people.proof_of_work import solved

HOST = "login.hosted.example"


@pytest.fixture
async def provider(provider: World) -> World:
    """A provider where acme has example.com and alice, and hosted has example.net and a host."""
    await provider.add_user("acme", "acme-alice")
    await provider.create("hosted", hostname=HOST)
    for tenant, domain in (("acme", "example.com"), ("hosted", "example.net")):
        path = f"tenants/{tenant}/domains"
        await provider.administer("POST", path, json={"domain": domain})
        await provider.administer("POST", f"{path}/{domain}/verify", json={"without_dns": True})
    return provider


def asked(person: Person, email: str, pow: str | None = None) -> requests.Response:  # noqa: A002  # the member's name
    proof = solved(person.challenge()) if pow is None else pow
    body = {"email": email, "pow": proof}
    return person.browser.post(f"{person.issuer}sign-in", json=body, timeout=SECONDS)


async def location(provider: World, email: str) -> str:
    answer = await provider.person("", lambda person: asked(person, email))
    assert answer.status_code == 200, answer.text
    assert list(answer.json()) == ["location"]
    return str(answer.json()["location"])


def hint(url: str) -> str:
    return dict(parse_qsl(urlsplit(url).query))["login_hint"]


async def test_the_page_is_a_form_with_an_address(provider: World) -> None:
    page = await provider.person("", lambda person: person.visit(f"{person.issuer}sign-in"))

    assert isinstance(page, Page)
    tree = html.fromstring(page.text)
    assert page.status == 200
    assert not page.asks_for_a_password
    assert tree.xpath("//form/@action") == ["/auth/v1/sign-in"]
    assert set(tree.xpath("//label/@for")) == {"email"}
    assert tree.xpath("//noscript")


@pytest.mark.parametrize("email", ["a@example.com", "a@EXAMPLE.com."])
async def test_e23_an_address_goes_to_the_owner_of_its_domain_with_a_hint(
    provider: World, email: str
) -> None:
    found = await location(provider, email)

    assert found.startswith(f"{provider.issuer('acme')}oidc/authorize?")
    assert hint(found) == email


async def test_e23_an_owner_with_a_host_is_reached_there(provider: World) -> None:
    found = await location(provider, "a@example.net")

    assert urlsplit(found).netloc == f"{HOST}:{provider.port}"


async def test_e24_every_other_address_goes_to_the_default_tenants_password_page(provider: World) -> None:
    await provider.administer("POST", "tenants/umbrella/domains", json={"domain": "waiting.example"})
    addresses = ["a@nobody.example", "a@waiting.example", "a@sub.example.com", "admin@localhost"]

    found = [await location(provider, address) for address in addresses]
    page = await provider.person("", lambda person: person.visit(found[0]))

    assert all(url.startswith(f"{provider.issuer()}oidc/authorize?") for url in found)
    assert [hint(url) for url in found] == addresses
    assert isinstance(page, Page)
    assert page.asks_for_a_password


async def test_e10_an_account_changes_nothing_of_the_answer(provider: World) -> None:
    await provider.add_user("default", "default-alice", email="a@nobody.example")

    known = await location(provider, "a@nobody.example")
    unknown = await location(provider, "b@nobody.example")

    assert [urlsplit(url)[:3] for url in (known, unknown)] == [urlsplit(known)[:3]] * 2
    assert [name for name, _ in parse_qsl(urlsplit(known).query)] == [
        name for name, _ in parse_qsl(urlsplit(unknown).query)
    ]


async def test_whoever_signs_in_from_there_is_told_so(provider: World) -> None:
    url = await location(provider, EMAIL)

    def act(person: Person) -> Page | Arrival:
        page = person.visit(url)
        assert isinstance(page, Page)
        return person.submit(page)

    page = await provider.person("acme", act)

    assert isinstance(page, Page)
    assert (page.status, "You are signed in" in page.words) == (200, True)


async def test_without_a_session_nobody_is_told_so(provider: World) -> None:
    page = await provider.person("", lambda person: person.visit(f"{person.issuer}sign-in?code=c&iss=i"))

    assert isinstance(page, Page)
    assert (page.status, "You are signed in" in page.words) == (401, False)


@pytest.mark.parametrize(
    ("email", "proof", "status"), [(EMAIL, "", 400), (EMAIL, "1:10:x:1", 403), ("x", "x", 400)]
)
async def test_e17_without_an_address_and_a_proof_of_work_there_is_no_answer(
    provider: World, email: str, proof: str, status: int
) -> None:
    answer = await provider.person("", lambda person: asked(person, email, proof))

    assert answer.status_code == status


async def test_e17_a_proof_of_work_is_good_once(provider: World) -> None:
    def act(person: Person) -> list[int]:
        proof = solved(person.challenge())
        return [asked(person, EMAIL, proof).status_code for _ in range(2)]

    assert await provider.person("", act) == [200, 404]


async def test_e25_a_form_is_redirected_and_without_a_proof_of_work_told_what_is_missing(
    provider: World,
) -> None:
    def act(person: Person) -> list[requests.Response]:
        forms = ({"email": EMAIL, "pow": solved(person.challenge())}, {"email": EMAIL})
        return [
            person.browser.post(f"{person.issuer}sign-in", data=form, allow_redirects=False, timeout=SECONDS)
            for form in forms
        ]

    redirected, refused = await provider.person("", act)

    assert redirected.status_code == 303
    assert redirected.headers["Location"].startswith(provider.issuer("acme"))
    assert (refused.status_code, "a proof of work, which a script of the page computes" in refused.text) == (
        400,
        True,
    )
