"""Single logout that a SAML provider initiates."""

import base64
import zlib
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, RSAPublicKey
from lxml import etree
from lxml.etree import _Element as XmlElement

from identity.access.sessions.session import SESSIONS
from identity.authentication.requests.redirection import Redirection
from identity.authentication.saml.certificates import certificate_of
from identity.authentication.saml.logout import SamlLogout
from identity.authentication.saml.logout_requests import UpstreamSamlLogout
from identity.authentication.saml.refusals import Refusal
from identity.authentication.saml.service_provider import ServiceProvider
from identity.directory.provider import Provider
from identity.directory.providers import Providers
from identity.foundation.single_use import SingleUse
from server.platform.errors import NotFound, Unauthenticated
from tests.identity.authentication.saml.flow import SamlFlow, inflated
from tests.identity.authentication.saml.idp import (
    ENTITY_ID,
    MAIL,
    NAMES,
    SAML,
    SAMLP,
    Pair,
    encrypted,
    pair,
    posted,
    response,
    signed,
)
from tests.identity.browsers import ISSUER, NOON

ENDPOINT = "https://idp.example.com/slo"
RSA_SHA256 = "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256"
RSA_SHA1 = "http://www.w3.org/2000/09/xmldsig#rsa-sha1"


@dataclass
class Desk:
    """Somebody is signed in through `p1`."""

    flow: SamlFlow
    provider: Provider
    logout: SamlLogout

    async def sign_in(self) -> None:
        sent, browser = await self.flow.leave()
        facts = self.flow.facts(sent).but(assertion_id=f"_{sent['RelayState']}")
        await self.flow.arrive(browser, sent, signed(response(facts)))

    async def ask(self, query: str, provider_id: str = "p1") -> Redirection:
        return await self.logout.receive_query(self.flow.provider.tenant, provider_id, query)

    async def post(self, request: XmlElement) -> Redirection:
        return await self.logout.receive_form(
            self.flow.provider.tenant, "p1", message=posted(request), relay_state="r1"
        )

    async def refused(self, query: str) -> list[str]:
        with pytest.raises(Unauthenticated):
            await self.ask(query)
        assert len(await self.flow.signed_in()) == 1
        return await self.flow.refusals()


async def furnished(**saml: Any) -> Desk:
    flow = SamlFlow()
    provider = await flow.furnish(**({"single_logout_endpoint": ENDPOINT} | saml))
    inner = flow.provider
    logout = SamlLogout(
        Providers(inner.store),
        ServiceProvider(flow.inner.saml_keys),
        single_use=SingleUse(inner.store),
        sessions=inner.sessions,
        termination=inner.termination,
        events=inner.events,
        clock=inner.clock,
    )
    return Desk(flow, provider, logout)


@pytest.fixture
async def desk() -> Desk:
    desk = await furnished()
    await desk.sign_in()
    return desk


def request(
    *,
    name_id: str = "alice-there",
    sids: tuple[str, ...] = ("s1",),
    issuer: str = ENTITY_ID,
    destination: str = f"{ISSUER}providers/p1/logout",
    issued: timedelta = timedelta(),
    until: timedelta | None = None,
    request_id: str = "_logout",
) -> XmlElement:
    end = "" if until is None else f' NotOnOrAfter="{NOON + until:%Y-%m-%dT%H:%M:%SZ}"'
    indexes = "".join(f"<samlp:SessionIndex>{sid}</samlp:SessionIndex>" for sid in sids)
    return etree.fromstring(
        f'<samlp:LogoutRequest xmlns:samlp="{SAMLP}" xmlns:saml="{SAML}" ID="{request_id}" Version="2.0"'
        f' IssueInstant="{NOON + issued:%Y-%m-%dT%H:%M:%SZ}" Destination="{destination}"{end}>'
        f"<saml:Issuer>{issuer}</saml:Issuer><saml:NameID>{name_id}</saml:NameID>{indexes}"
        "</samlp:LogoutRequest>"
    )


def query(element: XmlElement, by: Pair | None = None, *, algorithm: str = RSA_SHA256) -> str:
    """Return the signed query of the redirect binding."""
    key = (by or pair()).key
    assert isinstance(key, RSAPrivateKey)
    deflate = zlib.compressobj(wbits=-15)
    message = base64.b64encode(deflate.compress(etree.tostring(element)) + deflate.flush()).decode()
    text = urlencode([("SAMLRequest", message), ("RelayState", "r1"), ("SigAlg", algorithm)], quote_via=quote)
    hashed = hashes.SHA1() if algorithm == RSA_SHA1 else hashes.SHA256()  # noqa: S303  # to be refused
    signature = base64.b64encode(key.sign(text.encode(), PKCS1v15(), hashed)).decode()
    return f"{text}&{urlencode({'Signature': signature})}"


async def test_a_session_ends_and_the_provider_gets_a_signed_answer(desk: Desk) -> None:
    answer = await desk.ask(query(request()))

    parameters = dict(answer.parameters)
    message = inflated(parameters["SAMLResponse"])
    status = message.find("samlp:Status/samlp:StatusCode", NAMES)
    octets = urlencode([each for each in answer.parameters if each[0] != "Signature"], quote_via=quote)
    key = certificate_of(desk.provider.saml_certificate).public_key()
    assert isinstance(key, RSAPublicKey)
    key.verify(base64.b64decode(parameters["Signature"]), octets.encode(), PKCS1v15(), hashes.SHA256())
    assert await desk.flow.signed_in() == []
    assert (answer.uri, parameters["RelayState"]) == (ENDPOINT, "r1")
    assert status is not None
    assert status.get("Value") == "urn:oasis:names:tc:SAML:2.0:status:Success"
    assert (message.get("InResponseTo"), message.get("Destination")) == ("_logout", ENDPOINT)


async def test_a_signed_form_ends_a_session(desk: Desk) -> None:
    await desk.post(signed(request()))

    assert await desk.flow.signed_in() == []


async def test_a_request_with_an_encrypted_name_ends_a_session(desk: Desk) -> None:
    hidden = request()
    (name,) = hidden.iterfind(f"{{{SAML}}}NameID")
    hidden.replace(name, encrypted(name, desk.provider.saml_certificate, tag="EncryptedID"))

    await desk.post(signed(hidden))

    assert await desk.flow.signed_in() == []


async def test_without_index_all_sessions_of_the_user_end(desk: Desk) -> None:
    await desk.sign_in()
    assert len(await desk.flow.signed_in()) == 2

    await desk.ask(query(request(sids=())))

    assert await desk.flow.signed_in() == []


@pytest.mark.parametrize("other", [{"name_id": "bob-there"}, {"sids": ("s2",)}], ids=["user", "session"])
async def test_another_session_stays(desk: Desk, other: dict[str, Any]) -> None:
    await desk.ask(query(request(**other)))

    assert len(await desk.flow.signed_in()) == 1


async def test_a_request_counts_once(desk: Desk) -> None:
    again = query(request())
    await desk.ask(again)
    await desk.sign_in()

    assert await desk.refused(again) == [Refusal.REPLAY]


REFUSED: list[Any] = [
    pytest.param({"issuer": "https://evil.example.com"}, Refusal.ISSUER, id="another issuer"),
    pytest.param({"destination": "https://other.example.com/"}, Refusal.DESTINATION, id="elsewhere"),
    pytest.param({"issued": timedelta(minutes=-7)}, Refusal.TIME, id="old"),
    pytest.param({"issued": timedelta(minutes=2)}, Refusal.TIME, id="of the future"),
    pytest.param({"until": timedelta(minutes=-2)}, Refusal.TIME, id="expired"),
    pytest.param({"name_id": "", "sids": ()}, Refusal.SUBJECT, id="nobody"),
]


@pytest.mark.parametrize(("changes", "reason"), REFUSED)
async def test_a_signed_request_that_is_wrong(desk: Desk, changes: dict[str, Any], reason: Refusal) -> None:
    assert await desk.refused(query(request(**changes))) == [reason]


async def test_a_query_that_the_provider_did_not_sign(desk: Desk) -> None:
    good = query(request())
    unsigned = good.partition("&SigAlg=")[0]

    for wrong, reason in (
        (unsigned, Refusal.UNSIGNED),
        (query(request(), pair("evil")), Refusal.SIGNATURE),
        (good.replace("RelayState=r1", "RelayState=r2"), Refusal.SIGNATURE),
        (f"{good}&SAMLRequest=x", Refusal.MALFORMED),
        (query(request(), algorithm=RSA_SHA1), Refusal.ALGORITHM),
        ("", Refusal.UNSIGNED),
    ):
        assert reason in await desk.refused(wrong)


async def test_a_form_that_the_provider_did_not_sign(desk: Desk) -> None:
    for wrong in (request(), signed(request(), pair("evil"))):
        with pytest.raises(Unauthenticated):
            await desk.post(wrong)

    assert sorted(await desk.flow.refusals()) == sorted([Refusal.UNSIGNED, Refusal.SIGNATURE])
    assert len(await desk.flow.signed_in()) == 1


async def test_a_message_that_inflates_beyond_the_bound(desk: Desk) -> None:
    large = etree.fromstring(f"<a>{'x' * 262_144}</a>")

    assert await desk.refused(query(large)) == [Refusal.MALFORMED]


async def test_a_response_is_no_request(desk: Desk) -> None:
    sent, _ = await desk.flow.leave()

    assert await desk.refused(query(response(desk.flow.facts(sent)))) == [Refusal.MALFORMED]


async def test_where_an_attribute_identifies_users_an_index_is_needed() -> None:
    desk = await furnished(subject_attribute="urn:oid:2.5.4.42")
    await desk.sign_in()

    assert await desk.refused(query(request(sids=()))) == [Refusal.SUBJECT]
    await desk.ask(query(request(request_id="_second")))

    assert await desk.flow.signed_in() == []


async def test_a_provider_without_single_logout_is_not_answered() -> None:
    desk = await furnished(single_logout_endpoint="")
    await desk.sign_in()

    with pytest.raises(NotFound):
        await desk.ask(query(request()))

    sessions = await desk.flow.provider.store.of(SESSIONS).page(desk.flow.provider.tenant.tenant_id)
    assert any(session.upstream_sub == "alice-there" for session in sessions)


async def leaving(desk: Desk, **session: Any) -> str:
    """Return the address that ends the session at the provider."""
    inner = desk.flow.provider
    upstream = UpstreamSamlLogout(
        Providers(inner.store), ServiceProvider(desk.flow.inner.saml_keys), inner.clock, inner.randomness
    )
    (signed_in,) = await desk.flow.signed_in()
    return await upstream.uri(inner.tenant, replace(signed_in, **session))


async def test_a_sign_out_here_asks_the_provider_to_end_its_session() -> None:
    desk = await furnished(sends_logout=True)
    await desk.sign_in()

    address = await leaving(desk)

    given = dict(parse_qsl(urlsplit(address).query))
    message = inflated(given["SAMLRequest"])
    octets = urlencode([each for each in given.items() if each[0] != "Signature"], quote_via=quote)
    key = certificate_of(desk.provider.saml_certificate).public_key()
    assert isinstance(key, RSAPublicKey)
    key.verify(base64.b64decode(given["Signature"]), octets.encode(), PKCS1v15(), hashes.SHA256())
    assert address.startswith(f"{ENDPOINT}?SAMLRequest=")
    assert message.get("Destination") == ENDPOINT
    assert message.findtext("saml:Issuer", "", NAMES) == f"{ISSUER}providers/p1/metadata"
    assert message.findtext("saml:NameID", "", NAMES) == "alice-there"
    assert message.findtext("samlp:SessionIndex", "", NAMES) == "s1"


@pytest.mark.parametrize(
    ("saml", "session"),
    [
        pytest.param({"sends_logout": False}, {}, id="not wanted"),
        pytest.param({"single_logout_endpoint": ""}, {}, id="no address"),
        pytest.param({"subject_attribute": MAIL}, {}, id="an unknown name"),
        pytest.param({}, {"impersonator_id": "support"}, id="support acts as the user"),
        pytest.param({}, {"provider_id": ""}, id="a sign-in here"),
        pytest.param({}, {"provider_id": "gone"}, id="a provider that was deleted"),
    ],
)
async def test_the_provider_is_not_asked(saml: dict[str, Any], session: dict[str, Any]) -> None:
    desk = await furnished(**({"sends_logout": True} | saml))
    await desk.sign_in()

    assert await leaving(desk, **session) == ""
