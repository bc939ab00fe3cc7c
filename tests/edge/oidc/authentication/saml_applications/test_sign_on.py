"""Users sign in to the service provider of pysaml2, over HTTP with real cookies."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import pytest
from lxml import html
from saml2 import BINDING_HTTP_POST, BINDING_HTTP_REDIRECT
from saml2.saml import NAMEID_FORMAT_EMAILADDRESS, NAMEID_FORMAT_PERSISTENT

from identity.access.sessions.session import SESSIONS
from identity.foundation.events.event import EVENTS
from server.platform.call import TenantId
from tests.edge.oidc.authentication.saml_applications.application import (
    XMLSEC,
    Application,
    Sent,
    saml_application,
)
from tests.edge.oidc.tenants.world import EMAIL, World, world
from tests.people.person import Arrival, Page, Person

pytestmark = pytest.mark.skipif(not XMLSEC, reason="the application verifies with the program xmlsec1")


@dataclass
class SignOn:
    """Users of the tenant of `here` sign in to `application`."""

    here: World
    application: Application
    tenant: str = ""

    @property
    def idp(self) -> str:
        return f"{self.here.issuer(self.tenant)}saml/metadata"

    async def register(self, **settings: object) -> None:
        """Register each at the other, by metadata."""
        path = f"{self.tenant}/" if self.tenant else ""
        client = {"id": "wiki", "name": "Wiki", "confidential": False, "redirect_uris": []}
        created = await self.here.administer("POST", f"{path}clients", json=client)
        assert created.status == 200, await created.text()
        body = {"metadata": self.application.metadata} | settings
        put = await self.here.administer("PUT", f"{path}saml_applications/wiki", json=body)
        assert put.status == 200, await put.text()
        self.application.know(await (await self.here.http.get(self.idp)).text())

    async def go(self, sent: Sent) -> Page | Arrival:
        """Bring a request to the provider and sign in where the page asks for it."""

        def act(person: Person) -> Page | Arrival:
            return brought(person, sent)

        return await self.here.person(self.tenant, act)

    async def accepted(self, sent: Sent) -> Any:
        """Return what the application reads in the response to its request."""
        arrival = await self.go(sent)
        assert isinstance(arrival, Arrival), arrival.words
        assert arrival.url == self.application.acs
        return self.application.accept(arrival.posted, sent.id)


def brought(person: Person, sent: Sent) -> Page | Arrival:
    found = person.visit(sent.address, sent.form or None)
    if isinstance(found, Arrival) and "posted_again" in found.posted:
        found = person.visit(f"{person.issuer}saml/sso", found.posted)
    if isinstance(found, Page) and found.state:
        found = person.submit(found)
    return found


@pytest.fixture
async def sign_on() -> AsyncIterator[SignOn]:
    async with world() as here:
        # The application reads the clock of the machine.
        here.deployment.clock.reset()
        await here.add_user("default", "alice", given_name="Alice", family_name="Doe", groups=("staff",))
        with saml_application() as application:
            yield SignOn(here, application)


@pytest.mark.parametrize("binding", [BINDING_HTTP_REDIRECT, BINDING_HTTP_POST])
async def test_a_user_signs_in_to_an_application(sign_on: SignOn, binding: str) -> None:
    await sign_on.register()
    sent = sign_on.application.ask(sign_on.idp, binding=binding)

    response = await sign_on.accepted(sent)

    (session,) = [
        each for each in await sign_on.here.store.of(SESSIONS).page(TenantId("default")) if each.user_id
    ]
    (statement,) = response.assertion.authn_statement
    assert (response.name_id.text, response.name_id.format) == ("alice", NAMEID_FORMAT_PERSISTENT)
    assert response.ava == {
        "email": [EMAIL],
        "name": ["Alice Doe"],
        "given_name": ["Alice"],
        "family_name": ["Doe"],
        "groups": ["staff"],
    }
    assert statement.session_index == session.sid
    assert session.clients == ("wiki",)


async def test_the_relay_state_comes_back(sign_on: SignOn) -> None:
    await sign_on.register()

    arrival = await sign_on.go(sign_on.application.ask(sign_on.idp))

    assert isinstance(arrival, Arrival)
    assert arrival.posted["RelayState"] == "/pages/1"


async def test_the_application_gets_the_attributes_of_its_mapping(sign_on: SignOn) -> None:
    mail = "urn:oid:0.9.2342.19200300.100.1.3"
    attributes = [{"name": mail, "claim": "email"}, {"name": "memberOf", "claim": "groups"}]
    await sign_on.register(attributes=attributes, name_id_format=NAMEID_FORMAT_EMAILADDRESS)
    sign_on.application.name_id_format = NAMEID_FORMAT_EMAILADDRESS

    response = await sign_on.accepted(sign_on.application.ask(sign_on.idp))

    assert response.name_id.text == EMAIL
    assert {each.name: each.attribute_value[0].text for each in attributes_of(response)} == {
        mail: EMAIL,
        "memberOf": "staff",
    }


def attributes_of(response: Any) -> Any:
    (statement,) = response.assertion.attribute_statement
    return statement.attribute


async def test_an_assertion_is_encrypted_to_the_certificate_of_the_application(sign_on: SignOn) -> None:
    sign_on.application.decrypts = True
    await sign_on.register()
    sent = sign_on.application.ask(sign_on.idp)

    arrival = await sign_on.go(sent)

    assert isinstance(arrival, Arrival)
    assert sign_on.application.accept(arrival.posted, sent.id).name_id.text == "alice"


async def test_an_application_belongs_to_its_tenant(sign_on: SignOn) -> None:
    sign_on.tenant = "acme"
    await sign_on.here.add_user("acme", "alice-of-acme")
    await sign_on.register()
    sent = sign_on.application.ask(sign_on.idp)

    response = await sign_on.accepted(sent)
    elsewhere = sent.address.replace("/auth/v1/acme/", "/auth/v1/")

    assert response.name_id.text == "alice-of-acme"
    assert await sign_on.here.status(elsewhere) == 400


async def test_a_sign_in_to_an_application_is_an_event(sign_on: SignOn) -> None:
    await sign_on.register()

    await sign_on.accepted(sign_on.application.ask(sign_on.idp))

    events = await sign_on.here.store.of(EVENTS).page(TenantId("default"))
    found = {(event.type, event.client_id) for event in events if event.user_id == "alice"}
    assert ("LoginSucceeded", "wiki") in found


async def test_the_application_signs_the_user_out(sign_on: SignOn) -> None:
    await sign_on.register()
    sent = sign_on.application.ask(sign_on.idp)

    def act(person: Person) -> Page | Arrival:
        arrival = brought(person, sent)
        assert isinstance(arrival, Arrival)
        response = sign_on.application.accept(arrival.posted, sent.id)
        return person.visit(
            sign_on.application.logout_request(sign_on.idp, f"{person.issuer}saml/slo", response)
        )

    left = await sign_on.here.person("", act)

    assert isinstance(left, Arrival), left.words
    assert left.url.startswith(f"{sign_on.application.single_logout}?SAMLResponse=")
    assert left.parameters["RelayState"] == "r1"
    assert sign_on.application.logout_status(left.parameters).endswith(":status:Success")
    sessions = await sign_on.here.store.of(SESSIONS).page(TenantId("default"))
    assert [session for session in sessions if session.user_id] == []


async def test_a_sign_out_at_the_provider_reaches_the_application(sign_on: SignOn) -> None:
    await sign_on.register()
    sent = sign_on.application.ask(sign_on.idp)

    def act(person: Person) -> tuple[str, Page]:
        arrival = brought(person, sent)
        assert isinstance(arrival, Arrival)
        response = sign_on.application.accept(arrival.posted, sent.id)
        (statement,) = response.assertion.authn_statement
        question = person.visit(f"{person.issuer}oidc/logout")
        assert isinstance(question, Page)
        page = person.confirm_logout(question)
        assert isinstance(page, Page)
        return statement.session_index, page

    sid, page = await sign_on.here.person("", act)

    (frame,) = html.fromstring(page.text).xpath("//iframe/@src")
    assert frame.startswith(f"{sign_on.application.single_logout}?SAMLRequest=")
    assert sign_on.application.logged_out(urlsplit(frame).query) == ("alice", [sid])


async def test_a_response_to_a_logout_request_needs_nothing_more(sign_on: SignOn) -> None:
    assert await sign_on.here.status("/auth/v1/saml/slo?SAMLResponse=a") == 200
    assert await sign_on.here.status("/auth/v1/saml/slo") == 400
