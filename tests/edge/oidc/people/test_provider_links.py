"""Users link their accounts to a real provider over HTTP, with real cookies."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
import requests

from identity.directory.user import AccountType
from tests.edge.oidc.authentication.federation.test_sign_in import Two
from tests.edge.oidc.tenants.world import EMAIL, PASSWORD, world
from tests.people.person import SECONDS, Arrival, Page, Person

OWN = "alice@here.example"


@dataclass
class Linking:
    """Alice has an account with a password here, and one at the provider with another address."""

    two: Two
    here: Person
    there: Person

    def open(self) -> None:
        self.here.sign_in(self.two.here.authorization())

    def send(self, method: str, path: str, *, csrf_token: str = "", **members: object) -> requests.Response:
        session = self.here.session()
        answer: requests.Response = self.here.browser.request(
            method,
            f"{self.two.here.issuer()}users/{session['user_id']}{path}",
            json=members or None,
            headers={"x-csrf-token": csrf_token or str(session["csrf_token"])},
            timeout=SECONDS,
        )
        return answer

    def proof(self) -> str:
        return str(self.send("POST", "/mfa_token", password=PASSWORD).json()["id"])

    def begin(self, **members: object) -> requests.Response:
        asked = {"provider_id": self.two.provider_id, "mfa_mod_token_id": self.proof()} | members
        return self.send("POST", "/provider_links", **asked)

    def link(self) -> Page | Arrival:
        """Link the account; returns where the browser ended."""
        left = self.begin()
        assert left.status_code == 202, left.text
        return self.here.visit(self.there.sign_in(left.headers["location"]).url)

    def listed(self) -> dict[str, list[str]]:
        found = self.send("GET", "/provider_links").json()
        return {name: [provider["name"] for provider in providers] for name, providers in found.items()}

    def remove(self) -> requests.Response:
        path = f"/provider_links/{self.two.provider_id}"
        return self.send("DELETE", path, mfa_mod_token_id=self.proof())


@pytest.fixture
async def linking() -> AsyncIterator[Linking]:
    async with world(is_federated=True) as here, world() as upstream:
        await here.add_app("default")
        await here.add_user(
            "default", "k3RyTq9YbM2cLw7PzD5sXa1v", email=OWN, account_type=AccountType.PASSWORD
        )
        await upstream.add_user("acme", "alice-there")
        two = Two(here, upstream)
        await two.register(auto_onboarding=False)
        person = Person(here.issuer(), OWN, PASSWORD)
        there = Person(upstream.issuer("acme"), EMAIL, PASSWORD)
        there.close()
        there.browser = person.browser
        await asyncio.to_thread(lambda: person.sign_in(here.authorization()))
        try:
            yield Linking(two, person, there)
        finally:
            person.close()


async def test_a_user_links_an_account_and_signs_in_with_it(linking: Linking) -> None:
    before = await asyncio.to_thread(linking.listed)

    ended = await asyncio.to_thread(linking.link)

    assert isinstance(ended, Page)
    assert ended.url == f"{linking.two.here.issuer()}account"
    assert before == {"linked": [], "available": ["Acme"]}
    assert await asyncio.to_thread(linking.listed) == {"linked": ["Acme"], "available": []}
    assert isinstance(await asyncio.to_thread(linking.two.go), Arrival)


async def test_a_user_removes_a_link(linking: Linking) -> None:
    await asyncio.to_thread(linking.link)

    removed = await asyncio.to_thread(linking.remove)

    assert removed.status_code == 200, removed.text
    assert (await asyncio.to_thread(linking.listed))["linked"] == []
    refused = await asyncio.to_thread(linking.two.go)
    assert isinstance(refused, Arrival)
    assert refused.parameters["error"] == "access_denied"


async def test_another_site_starts_no_link(linking: Linking) -> None:
    def tried() -> list[int]:
        token = linking.proof()
        wrong = linking.begin(csrf_token="x" * 32, mfa_mod_token_id=token)
        form = linking.here.browser.post(
            f"{linking.two.here.issuer()}users/{linking.here.session()['user_id']}/provider_links",
            data={"provider_id": linking.two.provider_id, "mfa_mod_token_id": token},
            headers={"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"},
            timeout=SECONDS,
        )
        return [wrong.status_code, form.status_code, linking.begin(mfa_mod_token_id="").status_code]

    assert [status // 100 for status in await asyncio.to_thread(tried)] == [4, 4, 4]
    assert (await asyncio.to_thread(linking.listed))["linked"] == []


async def test_an_account_of_the_provider_that_somebody_else_linked_is_refused_on_a_page(
    linking: Linking,
) -> None:
    await asyncio.to_thread(linking.link)
    await linking.two.here.add_user(
        "default", "b3RyTq9YbM2cLw7PzD5sXa1w", email="bob@here.example", account_type=AccountType.PASSWORD
    )
    bob = Person(linking.two.here.issuer(), "bob@here.example", PASSWORD)
    there = Person(linking.two.upstream.issuer("acme"), EMAIL, PASSWORD)
    there.close()
    there.browser = bob.browser
    other = Linking(linking.two, bob, there)

    def tried() -> tuple[Page | Arrival, dict[str, list[str]]]:
        try:
            other.open()
            return other.link(), other.listed()
        finally:
            bob.close()

    page, listed = await asyncio.to_thread(tried)

    assert isinstance(page, Page)
    assert "Your account was not linked" in page.words
    assert "linked to another account here" in page.words
    assert listed["linked"] == []
