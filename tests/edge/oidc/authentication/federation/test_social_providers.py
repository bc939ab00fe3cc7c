"""Sign-in at providers of presets, over HTTP with real cookies; their addresses are those of a peer on this machine."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import pytest
import requests
from joserfc import jwt
from joserfc.jwk import ECKey

from identity.access.sessions.session import SESSIONS
from identity.directory.provider import PROVIDER_LINKS
from identity.directory.user import USERS
from server.platform.call import TenantId
from tests.edge.oidc.authentication.federation.social import Social, social
from tests.edge.oidc.tenants.world import CALLBACK, EMAIL, PASSWORD, World, world
from tests.people.person import SECONDS, Arrival, Page, Person
from tests.people.proof_of_work import solved

DEFAULT = TenantId("default")
OUR_KEY = ECKey.generate_key("P-256")
VERIFIED = {"email": EMAIL, "primary": True, "verified": True}


@dataclass
class Site:
    here: World
    peer: Social
    provider_id: str = ""

    async def register(self, preset: str, secret: str, **values: object) -> None:
        """Create the provider from a preset, and move its addresses to the peer."""
        members = {"preset": preset, "client_id": "here", "client_secret": secret, "auto_onboarding": True}
        created = await self.here.administer("POST", "providers/presets", json=members | values)
        assert created.status == 200, await created.text()
        provider: dict[str, Any] = await created.json()
        self.provider_id = str(provider.pop("id"))
        origin = self.peer.origin
        provider |= {
            "issuer": origin,
            "authorization_endpoint": f"{origin}/authorize",
            "token_endpoint": f"{origin}/token",
            "client_secret": secret,
        }
        if "profile" in provider:
            provider["userinfo_endpoint"] = f"{origin}/user"
            provider["profile"] |= {"emails_endpoint": f"{origin}/user/emails"}
        else:
            provider["jwks_endpoint"] = f"{origin}/keys"
        changed = await self.here.administer("PUT", f"providers/{self.provider_id}", json=provider)
        assert changed.status == 200, await changed.text()

    @property
    def callback(self) -> str:
        return f"{self.here.issuer()}providers/{self.provider_id}/callback"

    async def go(self) -> Page | Arrival:
        return await asyncio.to_thread(self._go)

    def _go(self) -> Page | Arrival:
        person = Person(self.here.issuer(), EMAIL, PASSWORD)
        try:
            page = person.visit(self.here.authorization())
            assert isinstance(page, Page)
            answer = person.browser.post(
                f"{self.here.issuer()}providers/login",
                json={
                    "authorization_id": page.state["authorization_id"],
                    "provider_id": self.provider_id,
                    "pow": solved(person.challenge()),
                },
                headers={"x-csrf-token": str(page.state["csrf_token"])},
                timeout=SECONDS,
            )
            assert answer.status_code == 202, answer.text
            return self._return(person, answer.headers["location"])
        finally:
            person.close()

    def _return(self, person: Person, address: str) -> Page | Arrival:
        left = requests.get(address, allow_redirects=False, timeout=SECONDS)
        if left.status_code == 302:
            return person.visit(left.headers["location"])
        # A form of another site comes without cookies.
        posted = requests.post(self.callback, data=left.json(), allow_redirects=False, timeout=SECONDS)
        assert posted.status_code == 303, posted.text
        assert "set-cookie" not in posted.headers
        return person.visit(f"{self.here.issuer().removesuffix('/auth/v1/')}{posted.headers['location']}")


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with world(is_federated=True) as here, social() as peer:
        await here.add_app("default")
        peer.now = here.deployment.clock.now()
        yield Site(here, peer)


async def test_a_user_of_github_is_known_by_number_and_by_the_verified_primary_address(site: Site) -> None:
    await site.register("github", "s3cret-of-ours")
    site.peer.emails = [{"email": "public@example.com", "primary": False, "verified": True}, VERIFIED]

    arrival = await site.go()

    assert isinstance(arrival, Arrival)
    assert arrival.url.startswith(CALLBACK)
    assert "code" in arrival.parameters
    (link,) = await site.here.store.of(PROVIDER_LINKS).page(DEFAULT)
    (user,) = await site.here.store.of(USERS).find(DEFAULT, "email", EMAIL)
    assert link.id == f"{site.provider_id} 583231"
    assert (link.user_id, user.is_email_verified) == (user.id, True)
    assert site.peer.asked["scope"] == "read:user user:email"
    assert site.peer.forms[0]["client_secret"] == "s3cret-of-ours"


async def test_an_address_that_github_has_not_verified_links_no_account(site: Site) -> None:
    await site.here.add_user("default", "alice-here")
    await site.register("github", "s3cret-of-ours", auto_link=True)
    site.peer.emails = [VERIFIED | {"verified": False}]

    await site.go()

    assert list(await site.here.store.of(PROVIDER_LINKS).page(DEFAULT)) == []


@pytest.mark.parametrize(
    "userinfo", [{}, {"id": None}, {"id": True}, {"id": ""}, {"id": {"sub": "1"}}, []], ids=str
)
async def test_userinfo_that_names_nobody_signs_nobody_in(site: Site, userinfo: Any) -> None:
    await site.register("github", "s3cret-of-ours")
    site.peer.userinfo, site.peer.emails = userinfo, [VERIFIED]

    page = await site.go()

    assert isinstance(page, Page)
    assert page.status == 401
    assert not any(session.authentication for session in await site.here.store.of(SESSIONS).page(DEFAULT))


async def test_apple_posts_its_response_and_gets_a_secret_that_we_signed(site: Site) -> None:
    pem = OUR_KEY.as_pem(private=True).decode()
    await site.register("apple", pem, team_id="TEAM", key_id="KEY")
    site.peer.claims = {"sub": "001.apple", "email": EMAIL, "email_verified": "true"}

    arrival = await site.go()

    assert isinstance(arrival, Arrival), arrival
    assert "code" in arrival.parameters
    (user,) = await site.here.store.of(USERS).find(DEFAULT, "email", EMAIL)
    assert user.is_email_verified
    assert site.peer.asked["response_mode"] == "form_post"
    secret = jwt.decode(site.peer.forms[0]["client_secret"], OUR_KEY, algorithms=["ES256"])
    now = int(site.here.deployment.clock.now().timestamp())
    assert secret.header == {"alg": "ES256", "kid": "KEY"}
    assert secret.claims == {
        "iss": "TEAM",
        "sub": "here",
        "aud": site.peer.origin,
        "iat": now,
        "exp": now + 300,
    }
    assert pem not in str(site.peer.forms)


async def test_a_posted_response_counts_in_the_browser_that_asked_alone(site: Site) -> None:
    await site.register("apple", OUR_KEY.as_pem(private=True).decode(), team_id="TEAM", key_id="KEY")
    form = {"state": "unheard-of", "code": "x", "user": "{}"}

    posted = await site.here.http.post(site.callback, data=form, allow_redirects=False)
    answer = await site.here.http.get(posted.headers["Location"], allow_redirects=False)

    assert posted.status == 303
    assert posted.headers["Location"].endswith(f"/callback?{urlencode({'state': 'unheard-of', 'code': 'x'})}")
    assert answer.status == 401


async def test_a_posted_response_of_any_length_is_refused_before_it_is_an_address(site: Site) -> None:
    await site.register("github", "s3cret-of-ours")

    posted = await site.here.http.post(site.callback, data={"code": "x" * 5000}, allow_redirects=False)

    assert posted.status == 400
