"""Sign-in at a SAML provider and back."""

import base64
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.x509 import load_der_x509_certificate
from lxml import etree
from lxml.etree import _Element as XmlElement
from signxml.algorithms import SignatureMethod

from identity.authentication.saml.certificates import certificate_of
from identity.authentication.saml.service_provider import ServiceProvider
from identity.crypto.xml.documents import parse
from identity.crypto.xml.signatures import verified
from identity.directory.provider import PROVIDER_LINKS, ClaimMapping, Provider, SamlBinding
from identity.directory.user import USERS
from identity.foundation.errors import AccessDenied
from tests.identity.authentication.federation.flow import response_target
from tests.identity.authentication.saml.flow import DEFAULT, SamlFlow, inflated
from tests.identity.authentication.saml.idp import (
    MAIL,
    NAMES,
    PERSISTENT,
    SIGN_ON,
    Facts,
    encrypted,
    pair,
    response,
    signed,
    with_assertion,
    with_hidden_name,
    with_signed_assertion,
)
from tests.identity.browsers import CALLBACK, ISSUER, alice

MINUTE = timedelta(minutes=1)
OIDS = "urn:oid:1.3.6.1.4.1.5923.1.5.1.1"


async def furnished(**saml: Any) -> tuple[SamlFlow, Provider]:
    flow = SamlFlow()
    return flow, await flow.furnish(**saml)


async def answered(flow: SamlFlow, make: Callable[[Facts], XmlElement], **parameters: str) -> None:
    sent, browser = await flow.leave(**parameters)
    await flow.arrive(browser, sent, make(flow.facts(sent)))


def good(facts: Facts) -> XmlElement:
    return signed(response(facts))


async def test_the_request_says_nothing_about_the_user() -> None:
    flow, _ = await furnished(name_id_format=PERSISTENT)

    sent, _ = await flow.leave(address="alice@example.com", login_hint="alice@example.com")

    request = inflated(sent["SAMLRequest"])
    assert b"alice" not in etree.tostring(request)
    assert sent.keys() == {"SAMLRequest", "RelayState", "SigAlg", "Signature"}
    assert len(sent["RelayState"]) == 43
    assert dict(request.attrib) == {
        "ID": request.get("ID"),
        "Version": "2.0",
        "IssueInstant": request.get("IssueInstant"),
        "Destination": SIGN_ON,
        "AssertionConsumerServiceURL": f"{ISSUER}providers/p1/callback",
        "ProtocolBinding": "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST",
    }
    assert request.findtext("saml:Issuer", "", NAMES) == f"{ISSUER}providers/p1/metadata"
    policy = request.find("samlp:NameIDPolicy", NAMES)
    assert policy is not None
    assert dict(policy.attrib) == {"AllowCreate": "true", "Format": PERSISTENT}


async def test_a_redirect_is_signed_over_its_query() -> None:
    flow, provider = await furnished()

    sent, _ = await flow.leave()

    certificate = load_der_x509_certificate(base64.b64decode(provider.saml_certificate))
    query = urlencode([each for each in sent.items() if each[0] != "Signature"], quote_via=quote)
    key = certificate.public_key()
    assert isinstance(key, RSAPublicKey)
    key.verify(base64.b64decode(sent["Signature"]), query.encode(), PKCS1v15(), hashes.SHA256())


async def test_requests_without_signature() -> None:
    flow, _ = await furnished(signs_requests=False)

    sent, _ = await flow.leave()

    assert sent.keys() == {"SAMLRequest", "RelayState"}


async def test_each_request_has_its_own_id_and_relay_state() -> None:
    flow, _ = await furnished()

    first, second = [(await flow.leave())[0] for _ in range(2)]

    assert inflated(first["SAMLRequest"]).get("ID") != inflated(second["SAMLRequest"]).get("ID")
    assert first["RelayState"] != second["RelayState"]


async def test_a_request_for_a_new_sign_in_goes_on() -> None:
    flow, _ = await furnished()

    sent, _ = await flow.leave(prompt="login")

    assert inflated(sent["SAMLRequest"]).get("ForceAuthn") == "true"


async def test_a_user_goes_on_to_the_relying_party() -> None:
    flow, _ = await furnished()

    await answered(flow, good, state="of the app", nonce="of-the-app")

    arrived = response_target(flow.arrived)
    code = await flow.provider.code(arrived)
    (session,) = await flow.signed_in()
    assert (arrived.uri, dict(arrived.parameters)["state"]) == (CALLBACK, "of the app")
    assert (code.nonce, code.authentication.amr) == ("of-the-app", ("fed",))
    assert (session.provider_id, session.upstream_sub, session.upstream_sid) == ("p1", "alice-there", "s1")


async def test_a_new_user_gets_an_account_of_the_attributes() -> None:
    flow, _ = await furnished()

    await answered(flow, good)

    (user,) = await flow.provider.store.of(USERS).page(DEFAULT)
    (link,) = await flow.provider.store.of(PROVIDER_LINKS).page(DEFAULT)
    assert (user.email, user.given_name, user.family_name) == ("alice@example.com", "Alice", "Doe")
    assert user.is_email_verified
    assert (link.id, link.user_id) == ("p1 alice-there", user.id)


@pytest.mark.parametrize(("vouches", "outcome"), [(True, "code"), (False, "error")])
async def test_an_account_is_linked_if_the_provider_verifies_addresses(
    *, vouches: bool, outcome: str
) -> None:
    flow, _ = await furnished(vouches_for_email=vouches)
    await flow.provider.admit(alice())

    await answered(flow, good)

    assert outcome in dict(response_target(flow.arrived).parameters)


GOOD: list[Any] = [
    pytest.param(good, id="a signed response"),
    pytest.param(lambda facts: with_signed_assertion(response(facts)), id="a signed assertion"),
    pytest.param(lambda facts: signed(with_signed_assertion(response(facts))), id="both signed"),
    pytest.param(lambda facts: good(facts.but(response_issuer=None)), id="no issuer of the response"),
    pytest.param(
        lambda facts: with_signed_assertion(response(facts.but(response_issuer=None))), id="of the assertion"
    ),
    pytest.param(lambda facts: good(facts.but(condition="<saml:OneTimeUse/>")), id="one-time use"),
    pytest.param(lambda facts: good(facts.but(issued=MINUTE, valid_from=MINUTE)), id="a clock ahead"),
    pytest.param(
        lambda facts: good(facts.but(valid_until=-MINUTE / 2, confirmed_until=-MINUTE / 2)),
        id="a clock behind",
    ),
    *(
        pytest.param(lambda facts, method=method: signed(response(facts), method=method), id=method.name)
        for method in (
            *(SignatureMethod.RSA_SHA384, SignatureMethod.RSA_SHA512, SignatureMethod.SHA256_RSA_MGF1),
        )
    ),
]


@pytest.mark.parametrize("make", GOOD)
async def test_a_response_that_holds_is_taken(make: Callable[[Facts], XmlElement]) -> None:
    flow, _ = await furnished()

    await answered(flow, make)

    assert [session.upstream_sub for session in await flow.signed_in()] == ["alice-there"]
    assert await flow.refusals() == []


async def test_an_elliptic_key_and_a_key_that_replaces_another() -> None:
    elliptic = pair("elliptic", is_ec=True)
    flow, _ = await furnished(certificates=(pair("old").text, elliptic.text))

    await answered(flow, lambda facts: signed(response(facts), elliptic, method=SignatureMethod.ECDSA_SHA256))

    assert len(await flow.signed_in()) == 1


@pytest.mark.parametrize(
    "hashed",
    [hashes.SHA256(), hashes.SHA1(), hashes.SHA512()],  # noqa: S303  # for OAEP
    ids=lambda each: each.name,
)
async def test_an_encrypted_assertion(hashed: hashes.HashAlgorithm) -> None:
    flow, provider = await furnished(requires_encryption=True)

    def make(facts: Facts) -> XmlElement:
        return with_assertion(
            response(facts), lambda found: encrypted(signed(found), provider.saml_certificate, digest=hashed)
        )

    await answered(flow, make)

    assert len(await flow.signed_in()) == 1


@pytest.mark.parametrize("is_cbc", [True, False], ids=["CBC", "GCM"])
async def test_a_signed_response_with_an_encrypted_assertion(*, is_cbc: bool) -> None:
    flow, provider = await furnished(requires_encryption=True)

    def make(facts: Facts) -> XmlElement:
        hidden = with_assertion(
            response(facts), lambda found: encrypted(found, provider.saml_certificate, is_cbc=is_cbc)
        )
        return signed(hidden)

    await answered(flow, make)

    assert len(await flow.signed_in()) == 1


@pytest.mark.parametrize("is_cbc", [True, False], ids=["CBC", "GCM"])
@pytest.mark.parametrize("is_hidden", [True, False], ids=["encrypted assertion", "readable assertion"])
async def test_an_encrypted_name_is_that_of_the_user(*, is_cbc: bool, is_hidden: bool) -> None:
    flow, provider = await furnished()

    def make(facts: Facts) -> XmlElement:
        def change(found: XmlElement) -> XmlElement:
            named = signed(with_hidden_name(found, provider.saml_certificate, is_cbc=is_cbc))
            return encrypted(named, provider.saml_certificate) if is_hidden else named

        return with_assertion(response(facts), change)

    await answered(flow, make)

    assert [session.upstream_sub for session in await flow.signed_in()] == ["alice-there"]


async def test_attributes_give_roles_and_several_factors() -> None:
    flow, _ = await furnished()
    mappings = (ClaimMapping(claim=OIDS, value="staff", roles=("worker",), groups=("people",)),)
    factors = {"mfa_claim": "acr", "mfa_value": "https://refeds.org/profile/mfa"}
    await flow.add("p2", fields={"mappings": mappings, **factors})
    sent, browser = await flow.leave("p2")
    facts = flow.facts(sent, "p2")
    said = facts.but(attributes={MAIL: ("alice@example.com",), OIDS: ("student", "staff")})

    await flow.arrive(browser, sent, good(said), "p2")

    (user,) = await flow.provider.store.of(USERS).page(DEFAULT)
    code = await flow.provider.code(response_target(flow.arrived))
    assert (user.roles, user.groups) == (("worker",), ("people",))
    assert code.authentication.amr == ("fed", "mfa")


async def test_an_attribute_can_identify_the_user() -> None:
    flow, _ = await furnished(subject_attribute="uid")
    transient = "urn:oasis:names:tc:SAML:2.0:nameid-format:transient"

    await answered(
        flow,
        lambda facts: good(
            facts.but(name_id_format=transient, attributes={"uid": ("7",), MAIL: ("a@example.com",)})
        ),
    )

    assert [session.upstream_sub for session in await flow.signed_in()] == ["7"]


async def test_attributes_with_names_of_claims_change_nothing() -> None:
    flow, _ = await furnished(vouches_for_email=False)
    named = {
        MAIL: ("alice@example.com",),
        "sub": ("bob",),
        "email": ("bob@example.com",),
        "email_verified": ("true",),
        "sid": ("s9",),
    }

    await answered(flow, lambda facts: good(facts.but(attributes=named)))

    (user,) = await flow.provider.store.of(USERS).page(DEFAULT)
    (session,) = await flow.signed_in()
    assert (user.email, user.is_email_verified) == ("alice@example.com", False)
    assert (session.upstream_sub, session.upstream_sid) == ("alice-there", "s1")


async def test_an_address_as_the_name() -> None:
    flow, _ = await furnished(email_attribute="")
    address = "urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress"

    await answered(flow, lambda facts: good(facts.but(name_id="Alice@Example.com", name_id_format=address)))

    (user,) = await flow.provider.store.of(USERS).page(DEFAULT)
    assert user.email == "alice@example.com"


async def test_a_status_that_is_no_success_goes_to_the_relying_party() -> None:
    flow, _ = await furnished()
    failed = "urn:oasis:names:tc:SAML:2.0:status:Responder"

    await answered(flow, lambda facts: good(facts.but(status=failed)))

    assert dict(response_target(flow.arrived).parameters)["error"] == AccessDenied.oauth_code
    assert await flow.signed_in() == []


async def test_a_request_over_the_post_binding_is_signed() -> None:
    flow, provider = await furnished(binding=SamlBinding.POST)

    sent, _ = await flow.leave()

    request = parse(base64.b64decode(sent["SAMLRequest"]))
    assert sent.keys() == {"SAMLRequest", "RelayState"}
    assert verified(request, [certificate_of(provider.saml_certificate)]).get("ID") == request.get("ID")


async def test_the_metadata_is_what_the_provider_needs() -> None:
    flow, provider = await furnished(name_id_format=PERSISTENT)

    document = ServiceProvider(flow.inner.saml_keys).metadata(flow.provider.tenant, provider)

    entity = etree.fromstring(document.encode())
    md = {"md": "urn:oasis:names:tc:SAML:2.0:metadata", **NAMES}
    service = entity.find("md:SPSSODescriptor/md:AssertionConsumerService", md)
    assert service is not None
    assert entity.get("entityID") == f"{ISSUER}providers/p1/metadata"
    assert service.get("Location") == f"{ISSUER}providers/p1/callback"
    assert [key.get("use") for key in entity.iterfind(".//md:KeyDescriptor", md)] == ["signing", "encryption"]
    assert {each.text for each in entity.iterfind(".//ds:X509Certificate", md)} == {provider.saml_certificate}
