"""Conformance Requirements for the OASIS Security Assertion Markup Language (SAML) V2.0, table 2: the feature matrix.

The provider has the roles IdP Lite towards applications and SP Lite towards upstream providers. A test bears the name of
its row and the role. Rows that are left out, optional for lite roles or excluded from them are refused or not offered.
"""

import asyncio
from collections.abc import AsyncIterator
from urllib.parse import urlsplit

import pytest
import requests
from lxml import etree, html
from saml2 import BINDING_HTTP_POST, BINDING_HTTP_REDIRECT

from identity.authentication.requests.redirection import Redirection
from tests.edge.oidc.authentication.federation.saml_peer import XMLSEC, saml_peer
from tests.edge.oidc.authentication.federation.test_saml_sign_in import Federation
from tests.edge.oidc.authentication.saml_applications.application import saml_application
from tests.edge.oidc.authentication.saml_applications.test_sign_on import SignOn, brought
from tests.edge.oidc.tenants.world import world
from tests.identity.authentication.saml_applications.sp import (
    ApplicationFlow,
    Asked,
    query,
    request,
    statuses_of,
)
from tests.people.person import SECONDS, Arrival, Page, Person

pytestmark = pytest.mark.skipif(not XMLSEC, reason="the peers sign and verify with the program xmlsec1")

# Rows that both lite roles must have, and no other row is one.
ROWS = (
    "web_sso_authn_request_http_redirect",
    "web_sso_response_http_post",
    "single_logout_idp_initiated_http_redirect",
    "single_logout_sp_initiated_http_redirect",
)
# The matrix also demands artifacts of both roles; decisions 120 and 177 leave them out.
ARTIFACT = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Artifact"

MD = "{urn:oasis:names:tc:SAML:2.0:metadata}"
SOAP = "urn:oasis:names:tc:SAML:2.0:bindings:SOAP"


@pytest.fixture
async def sp() -> AsyncIterator[Federation]:
    """The service provider of a tenant, at the identity provider of pysaml2."""
    async with world(is_federated=True) as here:
        # The peer reads the clock of the machine.
        here.deployment.clock.reset()
        await here.add_app("default")
        with saml_peer() as peer:
            federation = Federation(here, peer)
            await federation.register(send_logout_requests=True)
            yield federation


@pytest.fixture
async def idp() -> AsyncIterator[SignOn]:
    """The identity provider of a tenant, for an application with the service provider of pysaml2."""
    async with world() as here:
        here.deployment.clock.reset()
        await here.add_user("default", "alice", given_name="Alice", family_name="Doe")
        with saml_application() as application:
            sign_on = SignOn(here, application)
            await sign_on.register()
            yield sign_on


async def test_web_sso_authn_request_http_redirect_idp(idp: SignOn) -> None:
    response = await idp.accepted(idp.application.ask(idp.idp, binding=BINDING_HTTP_REDIRECT))

    assert response.get_subject().text == "alice"


async def test_web_sso_authn_request_http_redirect_sp(sp: Federation) -> None:
    session = await sp.sign_in()

    assert session.upstream_sub == "alice-there"


async def test_web_sso_response_http_post_idp(idp: SignOn) -> None:
    arrival = await idp.go(idp.application.ask(idp.idp, binding=BINDING_HTTP_POST))

    assert isinstance(arrival, Arrival)
    assert arrival.url == idp.application.acs
    assert "SAMLResponse" in arrival.posted


async def test_web_sso_response_http_post_sp(sp: Federation) -> None:
    await sp.sign_in(signs="assertion")

    (answer,) = sp.answers
    assert "SAMLResponse" in answer.form


async def test_single_logout_idp_initiated_http_redirect_idp(idp: SignOn) -> None:
    sent = idp.application.ask(idp.idp)

    def act(person: Person) -> tuple[str, Page]:
        arrival = brought(person, sent)
        assert isinstance(arrival, Arrival)
        (statement,) = idp.application.accept(arrival.posted, sent.id).assertion.authn_statement
        question = person.visit(f"{person.issuer}oidc/logout")
        assert isinstance(question, Page)
        page = person.confirm_logout(question)
        assert isinstance(page, Page)
        return statement.session_index, page

    index, page = await idp.here.person("", act)

    (frame,) = html.fromstring(page.text).xpath("//iframe/@src")
    assert idp.application.logged_out(urlsplit(frame).query) == ("alice", [index])


async def test_single_logout_idp_initiated_http_redirect_sp(sp: Federation) -> None:
    session = await sp.sign_in()
    own = f"{sp.here.issuer()}providers/{sp.provider_id}/logout"

    address = sp.peer.logout_request(own, session.upstream_sid)
    answer = await asyncio.to_thread(lambda: requests.get(address, allow_redirects=False, timeout=SECONDS))

    assert sp.peer.logout_status(answer.headers["location"]).endswith(":status:Success")
    assert await sp.sessions() == []


async def test_single_logout_sp_initiated_http_redirect_idp(idp: SignOn) -> None:
    sent = idp.application.ask(idp.idp)

    def act(person: Person) -> Page | Arrival:
        arrival = brought(person, sent)
        assert isinstance(arrival, Arrival)
        response = idp.application.accept(arrival.posted, sent.id)
        return person.visit(idp.application.logout_request(idp.idp, f"{person.issuer}saml/slo", response))

    left = await idp.here.person("", act)

    assert isinstance(left, Arrival), left.words
    assert idp.application.logout_status(left.parameters).endswith(":status:Success")


async def test_single_logout_sp_initiated_http_redirect_sp(sp: Federation) -> None:
    def act() -> tuple[tuple[str, list[str], str], Page | Arrival]:
        person = sp.person()
        try:
            assert isinstance(sp.sign_in_by(person), Arrival)
            question = person.visit(f"{person.issuer}oidc/logout")
            assert isinstance(question, Page)
            page = person.confirm_logout(question)
            assert isinstance(page, Page)
            (frame,) = html.fromstring(page.text).xpath("//iframe/@src")
            told = sp.peer.logged_out(frame)
            return told, person.visit(told[2])
        finally:
            person.close()

    (user, indexes, address), answered = await asyncio.to_thread(act)

    assert (user, len(indexes)) == ("alice-there", 1)
    assert address.startswith(f"{sp.here.issuer()}providers/{sp.provider_id}/logout?SAMLResponse=")
    assert isinstance(answered, Page)
    assert (answered.status, await sp.refusals(), await sp.sessions()) == (200, [], [])


async def test_web_sso_response_http_artifact_is_refused() -> None:
    flow = ApplicationFlow()
    await flow.furnish()

    answered = await flow.begin(query(request(Asked().but(binding=ARTIFACT)), "r1"))

    assert isinstance(answered, Redirection)
    assert statuses_of(answered) == ["Requester", "UnsupportedBinding"]


@pytest.mark.parametrize("role", ["idp", "sp"])
@pytest.mark.parametrize("row", ROWS)
def test_the_row_is_tested(row: str, role: str) -> None:
    assert f"test_{row}_{role}" in globals()


@pytest.mark.parametrize(
    "service",
    [
        pytest.param("ArtifactResolutionService", id="artifact-resolution-soap"),
        pytest.param("ManageNameIDService", id="name-identifier-management"),
        pytest.param("NameIDMappingService", id="name-identifier-mapping-soap"),
    ],
)
async def test_a_row_of_the_full_roles_is_not_offered(sp: Federation, idp: SignOn, service: str) -> None:
    ours = f"{sp.here.issuer()}providers/{sp.provider_id}/metadata"
    documents = [await (await sp.here.http.get(ours)).text(), await (await idp.here.http.get(idp.idp)).text()]

    for document in documents:
        root = etree.fromstring(document.encode())
        assert root.findall(f".//{MD}{service}") == []
        assert SOAP not in {each.get("Binding") for each in root.iter()}
