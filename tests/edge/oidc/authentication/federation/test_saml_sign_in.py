"""The identity provider of pysaml2 signs people in, over HTTP with real cookies."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urljoin

import pytest
import requests
from saml2 import BINDING_HTTP_POST

from identity.access.sessions.session import SESSIONS, Session
from identity.directory.provider import PROVIDERS
from identity.directory.user import USERS
from identity.foundation.events.event import EVENTS
from server.platform.call import TenantId
from tests.edge.oidc.authentication.federation.saml_peer import SIGN_ON, XMLSEC, Answer, Peer, saml_peer
from tests.edge.oidc.tenants.world import EMAIL, PASSWORD, World, world
from tests.people.person import SECONDS, Arrival, Page, Person
from tests.people.proof_of_work import solved

pytestmark = pytest.mark.skipif(not XMLSEC, reason="the peer signs with the program xmlsec1")

MAIL, GIVEN_NAME, SURNAME = "urn:oid:0.9.2342.19200300.100.1.3", "urn:oid:2.5.4.42", "urn:oid:2.5.4.4"


@dataclass
class Federation:
    """Users of `peer` sign in at the tenant of `here`."""

    here: World
    peer: Peer
    tenant: str = ""
    provider_id: str = ""
    answers: list[Answer] = field(default_factory=list)

    @property
    def tenant_id(self) -> TenantId:
        return TenantId(self.tenant or "default")

    async def register(self, **saml: object) -> None:
        """Register each at the other, by metadata."""
        path = f"{self.tenant}/" if self.tenant else ""
        attributes = {"email_attribute": MAIL, "given_name_attribute": GIVEN_NAME, "trust_email": True}
        settings = {"metadata": self.peer.metadata, "family_name_attribute": SURNAME} | attributes | saml
        body = {"name": "Umbrella", "typ": "saml", "enabled": True, "auto_onboarding": True, "saml": settings}
        created = await self.here.administer("POST", f"{path}providers/create", json=body)
        assert created.status == 200, await created.text()
        self.provider_id = str((await created.json())["id"])
        ours = await self.here.http.get(
            f"{self.here.issuer(self.tenant)}providers/{self.provider_id}/metadata"
        )
        self.peer.know(await ours.text())

    async def certificate(self) -> str:
        provider = await self.here.store.of(PROVIDERS).get(self.tenant_id, self.provider_id)
        assert provider is not None
        return provider.saml_certificate

    def person(self) -> Person:
        return Person(self.here.issuer(self.tenant), EMAIL, PASSWORD)

    def go(self, **manner: Any) -> Page | Arrival:
        """Sign in completely; returns where the browser ended: at the app, or on a page of ours."""
        person = self.person()
        try:
            return self.sign_in_by(person, **manner)
        finally:
            person.close()

    def sign_in_by(self, person: Person, **manner: Any) -> Page | Arrival:
        left = self.leave(person)
        assert left.status_code == requests.codes.accepted, left.text
        location = left.headers.get("location")
        sent: str | dict[str, str] = location or dict(left.json()["parameters"])
        answer = self.peer.answer(sent, **manner)
        self.answers.append(answer)
        return self.bring(person, answer)

    def bring(self, person: Person, answer: Answer) -> Page | Arrival:
        """Post the response as a browser does from another site: without cookies."""
        received = requests.post(answer.url, data=answer.form, allow_redirects=False, timeout=SECONDS)
        if not received.is_redirect:
            return Page(received.status_code, received.url, received.text)
        assert received.status_code == requests.codes.see_other
        return person.visit(urljoin(answer.url, received.headers["location"]))

    def leave(self, person: Person) -> requests.Response:
        page = person.visit(self.here.authorization(self.tenant))
        assert isinstance(page, Page)
        members = {
            "authorization_id": page.state["authorization_id"],
            "provider_id": self.provider_id,
            "pow": solved(person.challenge()),
        }
        headers = {"x-csrf-token": str(page.state["csrf_token"])}
        url = f"{self.here.issuer(self.tenant)}providers/login"
        return person.browser.post(url, json=members, headers=headers, timeout=SECONDS)

    async def sign_in(self, **manner: Any) -> Session:
        arrival = await asyncio.to_thread(lambda: self.go(**manner))
        assert isinstance(arrival, Arrival), (arrival, await self.refusals())
        assert "code" in arrival.parameters, arrival
        (session,) = await self.sessions()
        return session

    async def sessions(self) -> list[Session]:
        sessions = await self.here.store.of(SESSIONS).page(self.tenant_id)
        return [session for session in sessions if session.authentication is not None]

    async def refusals(self) -> list[str]:
        events = await self.here.store.of(EVENTS).page(self.tenant_id)
        return [event.text or "" for event in events if event.type == "UpstreamResponseRefused"]


@pytest.fixture
async def federation() -> AsyncIterator[Federation]:
    async with world(is_federated=True) as here:
        # The peer reads the clock of the machine.
        here.deployment.clock.reset()
        await here.add_app("default")
        with saml_peer() as peer:
            yield Federation(here, peer)


@pytest.mark.parametrize("signs", ["response", "assertion"])
async def test_somebody_signs_in_and_has_an_account(federation: Federation, signs: str) -> None:
    await federation.register()

    session = await federation.sign_in(signs=signs)

    (user,) = await federation.here.store.of(USERS).find(federation.tenant_id, "email", EMAIL)
    assert session.authentication is not None
    assert session.authentication.amr == ("fed",)
    assert (session.provider_id, session.upstream_sub) == (federation.provider_id, "alice-there")
    assert session.upstream_sid
    assert (user.given_name, user.family_name, user.is_email_verified) == ("Alice", "Doe", True)


async def test_the_redirect_leads_to_the_providers_endpoint(federation: Federation) -> None:
    await federation.register()
    person = Person(federation.here.issuer(), EMAIL, PASSWORD)

    left = await asyncio.to_thread(lambda: federation.leave(person))

    person.close()
    assert left.headers["location"].startswith(f"{SIGN_ON}?SAMLRequest=")


async def test_a_signed_request_over_the_post_binding(federation: Federation) -> None:
    federation.peer.bindings = (BINDING_HTTP_POST,)
    await federation.register()
    person = Person(federation.here.issuer(), EMAIL, PASSWORD)

    left = await asyncio.to_thread(lambda: federation.leave(person))
    page = await federation.here.http.get(federation.here.authorization())
    session = await federation.sign_in()

    person.close()
    policy = page.headers["content-security-policy"].split("; ")
    assert left.json()["redirect_uri"] == SIGN_ON
    assert "form-action 'self' https://app.example.com https://idp.example.com" in policy
    assert session.upstream_sub == "alice-there"


async def test_an_encrypted_assertion(federation: Federation) -> None:
    await federation.register(require_encryption=True)
    certificate = await federation.certificate()

    session = await federation.sign_in(signs="assertion", encrypts_for=certificate)

    assert session.upstream_sub == "alice-there"


async def test_a_readable_assertion_where_an_encrypted_one_is_required(federation: Federation) -> None:
    await federation.register(require_encryption=True)

    page = await asyncio.to_thread(federation.go)

    assert isinstance(page, Page)
    assert page.status == 401
    assert await federation.refusals() == [
        "provider Umbrella: the assertion is not encrypted as required, or cannot be decrypted"
    ]
    assert await federation.sessions() == []


async def test_a_response_is_good_once(federation: Federation) -> None:
    await federation.register()
    await federation.sign_in()
    person = Person(federation.here.issuer(), EMAIL, PASSWORD)

    page = await asyncio.to_thread(lambda: federation.bring(person, federation.answers[0]))

    person.close()
    assert isinstance(page, Page)
    assert page.status == 401
    assert len(await federation.sessions()) == 1


async def test_a_logout_at_the_provider_ends_the_session_here(federation: Federation) -> None:
    await federation.register()
    session = await federation.sign_in()
    own = f"{federation.here.issuer()}providers/{federation.provider_id}/logout"

    address = federation.peer.logout_request(own, session.upstream_sid)
    answer = await asyncio.to_thread(lambda: requests.get(address, allow_redirects=False, timeout=SECONDS))

    assert answer.status_code == requests.codes.see_other, (answer.text, await federation.refusals())
    assert answer.headers["location"].startswith("https://idp.example.com/slo?SAMLResponse=")
    assert federation.peer.logout_status(answer.headers["location"]).endswith(":status:Success")
    assert await federation.sessions() == []


async def test_a_provider_belongs_to_its_tenant(federation: Federation) -> None:
    await federation.here.add_app("acme")
    federation.tenant = "acme"
    await federation.register()

    await federation.sign_in()
    elsewhere = await federation.here.status(f"/auth/v1/providers/{federation.provider_id}/metadata")

    assert elsewhere == 404
    assert await federation.here.store.of(PROVIDERS).page(TenantId("default")) == []
