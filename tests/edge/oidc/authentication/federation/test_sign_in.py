"""Two real providers: users of one sign in at the other, over HTTP with real cookies."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

import pytest
import requests
from lxml import html
from pyotp import TOTP

from identity.access.sessions.session import SESSIONS
from identity.directory.provider import PROVIDER_LINKS
from identity.directory.user import USERS
from server.platform.call import TenantId
from tests.edge.oidc.tenants.world import CALLBACK, EMAIL, PASSWORD, World, world
from tests.identity.authentication.passkeys.authenticator import SoftwareAuthenticator
from tests.people.person import SECONDS, Arrival, Page, Person
from tests.people.proof_of_work import solved

DEFAULT = TenantId("default")
ALGORITHMS = ["RS256", "ES256", "EdDSA"]


@dataclass
class Two:
    """`upstream` is the upstream provider, as its tenant acme; users sign in at `here`."""

    here: World
    upstream: World
    provider_id: str = ""

    async def register(self, *, alg: str = "ES256", is_confidential: bool = True, **provider: object) -> None:
        """Register each provider at the other."""
        issuer = self.upstream.issuer("acme")
        found = await (await self.here.administer("POST", "providers/lookup", json={"issuer": issuer})).json()
        about = {"name": "Acme", "typ": "oidc", "enabled": True, "client_id": "here", "auto_onboarding": True}
        whole = {**found, **about, "client_secret_basic": False} | provider
        created = await self.here.administer("POST", "providers/create", json=whole)
        self.provider_id = str((await created.json())["id"])
        secret = await self._register_client(alg, is_confidential=is_confidential)
        if secret:
            whole |= {"client_secret_basic": True, "client_secret": secret}
            changed = await self.here.administer("PUT", f"providers/{self.provider_id}", json=whole)
            assert changed.status == 200, await changed.text()

    async def _register_client(self, alg: str, *, is_confidential: bool) -> str:
        callback = f"{self.here.issuer()}providers/{self.provider_id}/callback"
        client = {"id": "here", "confidential": is_confidential, "redirect_uris": [callback]}
        created = await self.upstream.administer("POST", "acme/clients", json=client)
        whole = client | {
            "enabled": True,
            "flows_enabled": ["authorization_code"],
            "id_token_signed_response_alg": alg,
            "scopes": ["openid", "email", "profile"],
            "default_scopes": ["openid"],
            "challenges": ["S256"],
        }
        changed = await self.upstream.administer("PUT", "acme/clients/here", json=whole)
        assert changed.status == 200, await changed.text()
        return str((await created.json()).get("secret", ""))

    def leave(self, person: Person, client_id: str = "app") -> requests.Response:
        """Press the provider's button on our sign-in page."""
        page = person.visit(self.here.authorization(client_id=client_id))
        assert isinstance(page, Page)
        headers = {"x-csrf-token": str(page.state["csrf_token"])}
        members = {
            "authorization_id": page.state["authorization_id"],
            "provider_id": self.provider_id,
            "pow": solved(person.challenge()),
        }
        answer: requests.Response = person.browser.post(
            f"{self.here.issuer()}providers/login", json=members, headers=headers, timeout=20
        )
        return answer

    def go(self, client_id: str = "app") -> Any:
        """Sign in completely; returns where the browser ended: at the app, or on a page of ours."""
        person, there = self.person(), Person(self.upstream.issuer("acme"), EMAIL, PASSWORD)
        there.browser = person.browser
        try:
            left = self.leave(person, client_id)
            assert left.status_code == 202, left.text
            back = there.sign_in(left.headers["location"])
            return person.visit(back.url)
        finally:
            person.close()

    def add_passkey(self, person: Person, authenticator: SoftwareAuthenticator) -> None:
        """Add a passkey to the user's account here, which has a password."""
        person.sign_in(self.here.authorization())
        own = f"users/{person.session()['user_id']}"
        token = self.sent(person, f"{own}/mfa_token", password=PASSWORD)["id"]
        names = {"passkey_name": "laptop"}
        started = self.sent(person, f"{own}/webauthn/register/start", **names, mfa_mod_token_id=token)
        data = authenticator.create(started["publicKey"])
        self.sent(person, f"{own}/webauthn/register/finish", **names, data=data)

    def add_codes(self, person: Person) -> str:
        """Add one-time codes to the user's account here, which has a password; returns the secret."""
        person.sign_in(self.here.authorization())
        own = f"users/{person.session()['user_id']}"
        token = self.sent(person, f"{own}/mfa_token", password=PASSWORD)["id"]
        begun = self.sent(person, f"{own}/one_time_codes", name="phone", mfa_mod_token_id=token)
        secret = str(begun["secret"])
        confirm = f"{own}/one_time_codes/{begun['id']}/confirm"
        assert self.answer(person, confirm, one_time_code=self.code(secret)).status_code == 201
        return secret

    def code(self, secret: str) -> str:
        return TOTP(secret).at(self.here.deployment.clock.now())

    def show_passkey(self, person: Person, page: Page, authenticator: SoftwareAuthenticator) -> str:
        """Run the passkey step of the page's script; returns the location."""
        factor, csrf_token = page.state["second_factor"], str(page.state["csrf_token"])
        assert isinstance(factor, dict)
        path = f"users/{factor['user_id']}/webauthn/auth"
        begun = self.sent(person, f"{path}/start", csrf_token=csrf_token, purpose={"Login": factor["code"]})
        data = authenticator.get(begun["rcr"]["publicKey"])
        finished = self.answer(person, f"{path}/finish", csrf_token=csrf_token, code=begun["code"], data=data)
        assert finished.status_code == 202, finished.text
        return str(finished.headers["location"])

    def sent(self, person: Person, path: str, **members: object) -> dict[str, Any]:
        answer = self.answer(person, path, **members)
        assert answer.ok, answer.text
        return dict(answer.json()) if answer.content else {}

    def answer(
        self, person: Person, path: str, *, csrf_token: str = "", **members: object
    ) -> requests.Response:
        proof = {"x-csrf-token": csrf_token or str(person.session()["csrf_token"])}
        url = f"{self.here.issuer()}{path}"
        answer: requests.Response = person.browser.post(url, json=members, headers=proof, timeout=SECONDS)
        return answer

    def person(self) -> Person:
        return Person(self.here.issuer(), EMAIL, PASSWORD)

    async def signed_in(self) -> dict[str, str]:
        """Return the parameters that the app gets."""
        arrival = await asyncio.to_thread(self.go)
        assert isinstance(arrival, Arrival), arrival
        assert arrival.url.startswith(CALLBACK)
        return arrival.parameters

    async def give_domain(self, target: str) -> None:
        """Make users of example.org sign in through the provider, only or in addition to their password."""
        domain = {"domain": "example.org", "target": {"type": target, "providers": [self.provider_id]}}
        made = await self.here.administer("POST", "tenants/default/domains", json=domain)
        assert made.status == 201, await made.text()
        await self.here.administer(
            "POST", "tenants/default/domains/example.org/verify", json={"without_dns": True}
        )

    async def page(self, login_hint: str) -> Page:
        def visit() -> Page:
            person = self.person()
            try:
                page = person.visit(f"{self.here.authorization()}&{urlencode({'login_hint': login_hint})}")
            finally:
                person.close()
            assert isinstance(page, Page)
            return page

        return await asyncio.to_thread(visit)


def buttons(page: Page) -> list[str]:
    """Return the provider buttons that the user sees and continues with."""
    hidden = "ancestor-or-self::*[@hidden] or ancestor::template"
    found = html.fromstring(page.text).xpath(f"//button[not({hidden}) and not(@data-reveals)]")
    return [button.text_content() for button in found]


@pytest.fixture
async def two() -> AsyncIterator[Two]:
    async with world(is_federated=True) as here, world() as upstream:
        await here.add_app("default")
        await upstream.add_user("acme", "alice-there", given_name="Alice")
        yield Two(here, upstream)


@pytest.mark.parametrize("alg", ALGORITHMS)
@pytest.mark.parametrize("is_confidential", [True, False])
async def test_somebody_signs_in_and_has_an_account(two: Two, alg: str, *, is_confidential: bool) -> None:
    await two.register(alg=alg, is_confidential=is_confidential)

    answer = await two.signed_in()

    tokens = await two.here.redeem(answer["code"])
    (session,) = [
        session for session in await two.here.store.of(SESSIONS).page(DEFAULT) if session.authentication
    ]
    (user,) = await two.here.store.of(USERS).find(DEFAULT, "email", EMAIL)
    assert "id_token" in tokens
    assert answer["iss"] == two.here.issuer()
    assert session.authentication is not None
    assert session.authentication.amr == ("fed",)
    assert (session.provider_id, session.upstream_sub) == (two.provider_id, "alice-there")
    assert session.upstream_sid
    assert (user.id, user.given_name, user.is_email_verified) == (session.user_id, "Alice", True)


async def test_whoever_comes_again_has_the_same_account(two: Two) -> None:
    await two.register()
    await two.signed_in()
    users = two.here.store.of(USERS)
    (before,) = await users.find(DEFAULT, "email", EMAIL)
    await users.replace(replace(before, email="elsewhere@example.com"))

    await two.signed_in()

    assert [link.user_id for link in await two.here.store.of(PROVIDER_LINKS).page(DEFAULT)] == [before.id]
    assert await users.find(DEFAULT, "email", EMAIL) == []


async def test_the_sign_in_page_offers_the_provider(two: Two) -> None:
    await two.register()

    page = await asyncio.to_thread(lambda: two.person().visit(two.here.authorization()))

    assert isinstance(page, Page)
    assert "Sign in with Acme" in page.words


async def test_without_auto_onboarding_a_stranger_is_refused_politely(two: Two) -> None:
    await two.register(auto_onboarding=False)

    assert (await two.signed_in())["error"] == "access_denied"
    assert await two.here.store.of(USERS).find(DEFAULT, "email", EMAIL) == []


async def test_a_disabled_provider_signs_nobody_in(two: Two) -> None:
    await two.register(enabled=False, is_confidential=False)

    left = await asyncio.to_thread(lambda: two.leave(two.person()))

    assert left.status_code == 404


async def test_another_browser_cannot_come_back(two: Two) -> None:
    await two.register()

    def steal() -> Page | Arrival:
        victim, there = two.person(), Person(two.upstream.issuer("acme"), EMAIL, PASSWORD)
        back = there.sign_in(two.leave(victim).headers["location"])
        return two.person().visit(back.url)

    page = await asyncio.to_thread(steal)

    assert isinstance(page, Page)
    assert page.status == 401


async def test_without_federation_there_is_no_way_in(two: Two) -> None:
    await two.register()

    async with world(store=two.here.store) as alone:
        callback = f"/auth/v1/providers/{two.provider_id}/callback?state=x&code=y"

        assert await alone.status(callback) == 404
        page = await asyncio.to_thread(
            lambda: Person(alone.issuer(), EMAIL, PASSWORD).visit(alone.authorization())
        )
        assert isinstance(page, Page)
        assert "Acme" not in page.words


async def test_h9_a_hint_at_a_providers_domain_leads_on_to_that_provider_alone(two: Two) -> None:
    await two.register(name="Another")
    await two.register()
    await two.give_domain("provider")

    hinted, elsewhere = await two.page("bob@example.org"), await two.page("bob@example.com")

    assert not hinted.asks_for_a_password
    assert buttons(hinted) == ["Use another address", "Continue", "Sign in with Acme"]
    assert html.fromstring(hinted.text).xpath("//input[@name='email']/@value") == ["bob@example.org"]
    assert elsewhere.asks_for_a_password
    assert {"Sign in with Acme", "Sign in with Another"} <= set(buttons(elsewhere))


async def test_h9_a_hint_at_a_domain_with_a_choice_offers_that_choice(two: Two) -> None:
    await two.register(name="Another")
    await two.register()
    await two.give_domain("choice")

    page = await two.page("bob@example.org")

    assert page.asks_for_a_password
    assert buttons(page) == ["Use another address", "Sign in", "Sign in with Acme"]


async def test_f18_who_has_a_passkey_shows_it_where_two_factors_are_asked_for(two: Two) -> None:
    await two.here.add_user("default", "alice-here")
    await two.here.add_app("default", id="strict", requires_mfa=True)
    authenticator = SoftwareAuthenticator(two.here.issuer().removesuffix("/auth/v1/"))
    await asyncio.to_thread(two.add_passkey, two.person(), authenticator)
    await two.register(auto_link=True)

    def go() -> Arrival:
        person, there = two.person(), Person(two.upstream.issuer("acme"), EMAIL, PASSWORD)
        there.browser = person.browser
        left = two.leave(person, client_id="strict")
        page = person.visit(there.sign_in(left.headers["location"]).url)
        assert isinstance(page, Page)
        return Arrival(two.show_passkey(person, page, authenticator))

    arrival = await asyncio.to_thread(go)

    assert arrival.url.startswith(CALLBACK)
    assert "code" in arrival.parameters
    (session,) = [each for each in await two.here.store.of(SESSIONS).page(DEFAULT) if each.provider_id]
    assert session.authentication is not None
    assert session.authentication.amr == ("fed", "hwk", "user", "mfa")


async def test_f18_who_has_codes_gives_one_where_two_factors_are_asked_for(two: Two) -> None:
    await two.here.add_user("default", "alice-here")
    await two.here.add_app("default", id="strict", requires_mfa=True)
    secret = await asyncio.to_thread(two.add_codes, two.person())
    two.here.deployment.clock.advance(timedelta(seconds=60))
    await two.register(auto_link=True)

    def go() -> Page | Arrival:
        person, there = two.person(), Person(two.upstream.issuer("acme"), EMAIL, PASSWORD)
        there.browser = person.browser
        left = two.leave(person, client_id="strict")
        page = person.visit(there.sign_in(left.headers["location"]).url)
        assert isinstance(page, Page)
        form = page.hidden | {"one_time_code": two.code(secret)}
        return person.visit(f"{two.here.issuer()}oidc/authorize/one_time_code", form)

    arrival = await asyncio.to_thread(go)

    assert isinstance(arrival, Arrival)
    assert "code" in arrival.parameters
    (session,) = [each for each in await two.here.store.of(SESSIONS).page(DEFAULT) if each.provider_id]
    assert session.authentication is not None
    assert session.authentication.amr == ("fed", "otp", "mfa")


async def test_f18_who_has_none_is_sent_back(two: Two) -> None:
    await two.here.add_app("default", id="strict", requires_mfa=True)
    await two.register()

    arrival = await asyncio.to_thread(two.go, "strict")

    assert arrival.parameters["error"] == "interaction_required"


async def test_f18_a_provider_that_vouches_for_two_factors_is_enough(two: Two) -> None:
    await two.here.add_app("default", id="strict", requires_mfa=True)
    await two.register(mfa_claim_path="amr", mfa_claim_value="pwd")

    arrival = await asyncio.to_thread(two.go, "strict")

    assert "code" in arrival.parameters
    (session,) = [each for each in await two.here.store.of(SESSIONS).page(DEFAULT) if each.provider_id]
    assert session.authentication is not None
    assert session.authentication.amr == ("fed", "mfa")
