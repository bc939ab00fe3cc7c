"""Single logout between SAML applications and the provider."""

from dataclasses import replace
from datetime import timedelta
from urllib.parse import parse_qsl, urlsplit

import pytest
from lxml import etree
from lxml.etree import _Element as XmlElement

from identity.authentication.requests.parameters import Parameters
from identity.directory.tenants.saml_application import (
    SAML_APPLICATIONS,
    SamlApplication,
    SamlApplicationFields,
    SamlConsumerService,
)
from identity.foundation.errors import InvalidRequest
from identity.protocol.logout.endpoint import SignedOut
from tests.identity.authentication.saml.flow import inflated
from tests.identity.authentication.saml.idp import SAML, SAMLP, pair
from tests.identity.authentication.saml_applications.sp import (
    DEFAULT,
    ENTITY_ID,
    NAMES,
    SINGLE_LOGOUT,
    ApplicationFlow,
    Asked,
    good_pair,
    query,
    request,
    text_of,
)
from tests.identity.browsers import ISSUER, NEW_BROWSER, NOON, alice, app

LOGOUT = f"{ISSUER}saml/slo"
TRANSIENT_FORMAT = "urn:oasis:names:tc:SAML:2.0:nameid-format:transient"


def logout_request(
    *,
    request_id: str = "_logout",
    issuer: str = ENTITY_ID,
    destination: str = LOGOUT,
    issued: timedelta = timedelta(),
    name: str = "alice",
    sid: str = "",
) -> XmlElement:
    at = (NOON + issued).strftime("%Y-%m-%dT%H:%M:%SZ")
    index = f"<samlp:SessionIndex>{sid}</samlp:SessionIndex>" if sid else ""
    return etree.fromstring(
        f'<samlp:LogoutRequest xmlns:samlp="{SAMLP}" xmlns:saml="{SAML}" ID="{request_id}" Version="2.0"'
        f' IssueInstant="{at}" Destination="{destination}"><saml:Issuer>{issuer}</saml:Issuer>'
        f"<saml:NameID>{name}</saml:NameID>{index}</samlp:LogoutRequest>"
    )


class Desk:
    """`alice` is signed in to the application `app`."""

    def __init__(self) -> None:
        self.flow = ApplicationFlow()
        self.browser = NEW_BROWSER
        self.sid = ""
        self.name = ""

    async def open(self, **fields: object) -> None:
        settings = {"certificates": (good_pair().text,), "single_logout_url": SINGLE_LOGOUT} | fields
        await self.flow.furnish(**settings)
        await self.flow.provider.admit(alice())
        redirection, self.browser = await self.flow.sign_in(query(request(Asked()), by=good_pair()))
        self.name = text_of(redirection, "saml:Subject/saml:NameID") or ""
        session = await self.flow.provider.session(self.browser)
        assert session is not None
        self.sid = session.sid

    async def ask(self, element: XmlElement, relay_state: str = "r1") -> SignedOut:
        sent = query(element, relay_state, by=good_pair())
        provider = self.flow.provider
        return await provider.end_session.begin_saml(provider.tenant, sent.query, self.browser)

    async def is_signed_in(self) -> bool:
        session = await self.flow.provider.session(self.browser)
        return session is not None


@pytest.fixture
async def desk() -> Desk:
    desk = Desk()
    await desk.open()
    return desk


def statuses_of(signed_out: SignedOut) -> list[str]:
    assert signed_out.redirection is not None
    response = inflated(dict(signed_out.redirection.parameters)["SAMLResponse"])
    return [str(code.get("Value")).rpartition(":")[2] for code in response.iter(f"{{{SAMLP}}}StatusCode")]


async def test_a_request_of_the_application_ends_the_session(desk: Desk) -> None:
    signed_out = await desk.ask(logout_request(sid=desk.sid))

    assert signed_out.has_ended
    assert not await desk.is_signed_in()
    assert signed_out.redirection is not None
    parameters = dict(signed_out.redirection.parameters)
    response = inflated(parameters["SAMLResponse"])
    assert (signed_out.redirection.uri, parameters["RelayState"]) == (SINGLE_LOGOUT, "r1")
    assert (response.get("InResponseTo"), response.get("Destination")) == ("_logout", SINGLE_LOGOUT)
    assert {"SigAlg", "Signature"} < parameters.keys()
    assert statuses_of(signed_out) == ["Success"]


async def test_a_request_can_name_the_user_alone(desk: Desk) -> None:
    signed_out = await desk.ask(logout_request(name=desk.name))

    assert signed_out.has_ended


@pytest.mark.parametrize("named", [{"sid": "another"}, {"name": "bob"}])
async def test_a_request_for_somebody_else_ends_nothing(desk: Desk, named: dict[str, str]) -> None:
    signed_out = await desk.ask(logout_request(**named))  # type: ignore[arg-type]

    assert await desk.is_signed_in()
    assert statuses_of(signed_out) == ["Requester", "UnknownPrincipal"]


async def test_a_browser_without_a_session_is_signed_out_already(desk: Desk) -> None:
    desk.browser = NEW_BROWSER

    signed_out = await desk.ask(logout_request())

    assert not signed_out.has_ended
    assert statuses_of(signed_out) == ["Success"]


@pytest.mark.parametrize(
    ("element", "reason"),
    [
        pytest.param(logout_request(issuer="https://evil.example.com"), "another issuer", id="issuer"),
        pytest.param(logout_request(destination=f"{ISSUER}saml/sso"), "another endpoint", id="destination"),
        pytest.param(logout_request(issued=timedelta(minutes=-8)), "expired", id="old"),
        pytest.param(logout_request(issued=timedelta(minutes=4)), "expired", id="from the future"),
        pytest.param(request(Asked(destination=LOGOUT)), "well-formed", id="another message"),
    ],
)
async def test_a_request_that_says_something_wrong_ends_nothing(
    desk: Desk, element: XmlElement, reason: str
) -> None:
    with pytest.raises(InvalidRequest, match=reason):
        await desk.ask(element)

    assert await desk.is_signed_in()


@pytest.mark.parametrize(
    "by", [pytest.param(None, id="unsigned"), pytest.param(pair("another"), id="signed by another")]
)
async def test_a_request_that_the_application_did_not_sign_ends_nothing(desk: Desk, by: object) -> None:
    sent = query(logout_request(sid=desk.sid), by=by)  # type: ignore[arg-type]
    provider = desk.flow.provider

    with pytest.raises(InvalidRequest, match="signature"):
        await provider.end_session.begin_saml(provider.tenant, sent.query, desk.browser)

    assert await desk.is_signed_in()


async def test_a_request_counts_once(desk: Desk) -> None:
    await desk.ask(logout_request(sid="another"))

    with pytest.raises(InvalidRequest, match="used before"):
        await desk.ask(logout_request(sid=desk.sid))


async def test_an_application_without_an_address_of_single_logout_is_not_returned_to() -> None:
    desk = Desk()
    await desk.open(single_logout_url="")

    signed_out = await desk.ask(logout_request(sid=desk.sid))

    assert signed_out.has_ended
    assert signed_out.redirection is None


async def test_the_application_that_asks_is_not_told_again(desk: Desk) -> None:
    await add_second(desk)

    signed_out = await desk.ask(logout_request(sid=desk.sid))

    assert [urlsplit(uri).hostname for uri in signed_out.front_channel_uris] == ["second.example.com"]


@pytest.mark.parametrize("name_id_format", ["", TRANSIENT_FORMAT])
async def test_a_sign_out_at_the_provider_reaches_the_application(name_id_format: str) -> None:
    desk = Desk()
    await desk.open(name_id_format=name_id_format)
    provider = desk.flow.provider
    browser = await provider.with_csrf(desk.browser)

    signed_out = await provider.end_session.confirm(
        provider.tenant, browser, logout_id="", parameters=Parameters(())
    )

    (uri,) = signed_out.front_channel_uris
    parameters = dict(parse_qsl(urlsplit(uri).query))
    sent = inflated(parameters["SAMLRequest"])
    assert uri.startswith(f"{SINGLE_LOGOUT}?")
    assert {"SigAlg", "Signature"} < parameters.keys()
    assert sent.findtext("saml:NameID", "", NAMES) == desk.name
    assert sent.findtext("samlp:SessionIndex", "", NAMES) == desk.sid


async def add_second(desk: Desk) -> None:
    """Sign the user in to a second application in the same session."""
    entity_id, acs = "https://second.example.com/saml", "https://second.example.com/acs"
    provider = desk.flow.provider
    await provider.register(app(id="second"))
    application = SamlApplication(
        tenant_id=DEFAULT,
        id="second",
        fields=SamlApplicationFields(
            entity_id=entity_id,
            consumer_services=(SamlConsumerService(url=acs, index=0),),
            single_logout_url="https://second.example.com/slo",
        ),
    )
    await provider.store.of(SAML_APPLICATIONS).insert(application)
    asked = Asked(id="_2", issuer=entity_id, acs_url=acs, flags='IsPassive="true"')
    await desk.flow.begin(query(request(asked)), replace(desk.browser))
