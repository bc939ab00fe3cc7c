"""Responses of SAML providers that are refused, each with the reason in its event."""

import base64
import copy
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from lxml import etree
from lxml.etree import _Element as XmlElement
from signxml.algorithms import DigestAlgorithm, SignatureMethod

from identity.authentication.saml.refusals import Refusal
from server.platform.errors import Unauthenticated
from tests.identity.authentication.saml.flow import SamlFlow
from tests.identity.authentication.saml.idp import (
    DS,
    NAMES,
    SAML,
    SAMLP,
    Facts,
    encrypted,
    pair,
    posted,
    response,
    signed,
    with_assertion,
    with_hidden_name,
    with_signed_assertion,
)

ASSERTION, SIGNATURE, RESPONSE = f"{{{SAML}}}Assertion", f"{{{DS}}}Signature", f"{{{SAMLP}}}Response"
MINUTE = timedelta(minutes=1)


@pytest.fixture
async def flow() -> SamlFlow:
    flow = SamlFlow()
    await flow.furnish()
    return flow


async def refused(flow: SamlFlow, make: Callable[[Facts], XmlElement | str]) -> list[str]:
    """Answer a request so; returns the reasons of the refusals, and expects that nobody is signed in."""
    sent, browser = await flow.leave()

    with pytest.raises(Unauthenticated):
        await flow.arrive(browser, sent, make(flow.facts(sent)))

    assert await flow.signed_in() == []
    return await flow.refusals()


WRONG: list[Any] = [
    pytest.param(
        {"issuer": "https://evil.example.com"}, Refusal.ISSUER, id="another issuer of the assertion"
    ),
    pytest.param({"issuer": None}, Refusal.ISSUER, id="no issuer of the assertion"),
    pytest.param({"response_issuer": "https://evil.example.com"}, Refusal.ISSUER, id="another issuer"),
    pytest.param({"audience": "https://other.example.com"}, Refusal.AUDIENCE, id="another audience"),
    pytest.param({"audience": None}, Refusal.AUDIENCE, id="no audience"),
    pytest.param({"recipient": "https://other.example.com/acs"}, Refusal.RECIPIENT, id="another recipient"),
    pytest.param({"recipient": None}, Refusal.RECIPIENT, id="no recipient"),
    pytest.param({"destination": "https://other.example.com/acs"}, Refusal.DESTINATION, id="elsewhere"),
    pytest.param({"destination": None}, Refusal.DESTINATION, id="no destination"),
    pytest.param({"in_response_to": "_other"}, Refusal.IN_RESPONSE_TO, id="another request"),
    pytest.param({"in_response_to": None}, Refusal.IN_RESPONSE_TO, id="initiated by the provider"),
    pytest.param(
        {"in_response_to": None, "response_in_response_to": None},
        Refusal.IN_RESPONSE_TO,
        id="initiated by the provider, in both parts",
    ),
    pytest.param({"confirmed_until": -MINUTE}, Refusal.TIME, id="a confirmation that has ended"),
    pytest.param({"confirmed_until": None}, Refusal.TIME, id="a confirmation without end"),
    pytest.param({"confirmed_until": timedelta(days=2)}, Refusal.TIME, id="a confirmation of days"),
    pytest.param({"confirmed_from": -MINUTE}, Refusal.TIME, id="a confirmation with a beginning"),
    pytest.param({"valid_until": -MINUTE}, Refusal.TIME, id="expired"),
    pytest.param({"valid_from": 2 * MINUTE}, Refusal.TIME, id="not yet valid"),
    pytest.param({"issued": 2 * MINUTE}, Refusal.TIME, id="of the future"),
    pytest.param({"authenticated": 2 * MINUTE}, Refusal.TIME, id="authenticated in the future"),
    pytest.param({"session_until": -MINUTE}, Refusal.TIME, id="a session that has ended"),
    pytest.param(
        {"method": "urn:oasis:names:tc:SAML:2.0:cm:holder-of-key"}, Refusal.SUBJECT, id="holder of a key"
    ),
    pytest.param({"name_id": ""}, Refusal.SUBJECT, id="nobody"),
    pytest.param({"name_id": "x" * 256}, Refusal.SUBJECT, id="a long name"),
    pytest.param(
        {"name_id_format": "urn:oasis:names:tc:SAML:2.0:nameid-format:transient"},
        Refusal.SUBJECT,
        id="a transient name",
    ),
    pytest.param({"has_statement": False}, Refusal.AUTHENTICATION, id="no authentication"),
    pytest.param({"condition": "<saml:Condition/>"}, Refusal.CONDITION, id="an unknown condition"),
]


@pytest.mark.parametrize(("changes", "reason"), WRONG)
async def test_a_signed_response_that_says_something_wrong(
    flow: SamlFlow, changes: dict[str, Any], reason: Refusal
) -> None:
    assert await refused(flow, lambda facts: signed(response(facts.but(**changes)))) == [reason]


async def test_a_second_audience_restriction_must_name_us_too(flow: SamlFlow) -> None:
    other = (
        "<saml:AudienceRestriction><saml:Audience>https://other.example.com</saml:Audience>"
        "</saml:AudienceRestriction>"
    )

    assert await refused(flow, lambda facts: signed(response(facts.but(condition=other)))) == [
        Refusal.AUDIENCE
    ]


async def test_a_response_without_signature(flow: SamlFlow) -> None:
    assert await refused(flow, response) == [Refusal.UNSIGNED]


async def test_a_signature_of_another_key_with_its_certificate_inside(flow: SamlFlow) -> None:
    assert await refused(flow, lambda facts: signed(response(facts), pair("evil"))) == [Refusal.SIGNATURE]


async def test_a_signature_of_another_provider_of_the_tenant(flow: SamlFlow) -> None:
    await flow.add("p2", by=pair("other"))

    assert await refused(flow, lambda facts: with_signed_assertion(response(facts), pair("other"))) == [
        Refusal.SIGNATURE
    ]


async def test_a_response_that_was_changed_after_it_was_signed(flow: SamlFlow) -> None:
    def make(facts: Facts) -> XmlElement:
        whole = signed(response(facts))
        name_id = whole.find(".//saml:NameID", NAMES)
        assert name_id is not None
        name_id.text = "bob-there"
        return whole

    assert await refused(flow, make) == [Refusal.SIGNATURE]


@pytest.mark.parametrize(
    ("method", "digest"),
    [
        (SignatureMethod.RSA_SHA1, DigestAlgorithm.SHA256),
        (SignatureMethod.RSA_SHA256, DigestAlgorithm.SHA1),
        (SignatureMethod.RSA_SHA224, DigestAlgorithm.SHA256),
    ],
)
async def test_a_weak_algorithm(flow: SamlFlow, method: SignatureMethod, digest: DigestAlgorithm) -> None:
    assert await refused(flow, lambda facts: signed(response(facts), method=method, digest=digest)) == [
        Refusal.ALGORITHM
    ]


async def test_an_hmac_with_the_certificate_as_its_secret(flow: SamlFlow) -> None:
    secret = base64.b64decode(pair().text)

    assert await refused(
        flow,
        lambda facts: signed(response(facts), method=SignatureMethod.HMAC_SHA256, hmac_key=secret),
    ) == [Refusal.ALGORITHM]


async def test_an_algorithm_of_another_kind_of_key(flow: SamlFlow) -> None:
    elliptic = pair("elliptic", is_ec=True)

    assert await refused(
        flow,
        lambda facts: signed(response(facts), elliptic, method=SignatureMethod.ECDSA_SHA256),
    ) == [Refusal.SIGNATURE]


# XML signature wrapping: Somorovsky et al., On Breaking SAML: Be Whoever You Want to Be (2012). `evil` is the forged
# element; the signed one stays in the message, so that its signature can still be verified.


def forged(element: XmlElement, signed_id: str) -> XmlElement:
    """Return the element as another user's, with another id and without signature."""
    evil = copy.deepcopy(element)
    evil.set("ID", f"{signed_id}-evil")
    for signature in evil.findall(f".//{SIGNATURE}"):
        parent = signature.getparent()
        assert parent is not None
        parent.remove(signature)
    for name_id in evil.iter(f"{{{SAML}}}NameID"):
        name_id.text = "bob-there"
    return evil


def signature_of(element: XmlElement) -> XmlElement:
    found = element.find(SIGNATURE)
    assert found is not None
    return found


def assertion_in(whole: XmlElement) -> XmlElement:
    found = whole.find(ASSERTION)
    assert found is not None
    return found


def xsw1(facts: Facts) -> XmlElement:
    """A forged response around the signed one, which is inside the signature."""
    whole = signed(response(facts))
    evil = forged(whole, "_response")
    signature = copy.deepcopy(signature_of(whole))
    original = copy.deepcopy(whole)
    original.remove(signature_of(original))
    signature.append(original)
    evil.insert(1, signature)
    return evil


def xsw2(facts: Facts) -> XmlElement:
    """A forged response with the signed one before a detached signature."""
    whole = signed(response(facts))
    evil = forged(whole, "_response")
    signature, original = copy.deepcopy(signature_of(whole)), copy.deepcopy(whole)
    original.remove(signature_of(original))
    evil.insert(1, original)
    evil.insert(2, signature)
    return evil


def xsw3(facts: Facts) -> XmlElement:
    """A forged assertion before the signed one."""
    whole = with_signed_assertion(response(facts))
    original = assertion_in(whole)
    original.addprevious(forged(original, "_assertion"))
    return whole


def xsw4(facts: Facts) -> XmlElement:
    """A forged assertion around the signed one."""
    whole = with_signed_assertion(response(facts))
    original = assertion_in(whole)
    evil = forged(original, "_assertion")
    whole.replace(original, evil)
    evil.append(original)
    return whole


def xsw5(facts: Facts) -> XmlElement:
    """The signed assertion changed, with its original at the end of the response."""
    whole = with_signed_assertion(response(facts))
    original = copy.deepcopy(assertion_in(whole))
    original.remove(signature_of(original))
    evil = assertion_in(whole)
    evil.set("ID", "_evil")
    for name_id in evil.iter(f"{{{SAML}}}NameID"):
        name_id.text = "bob-there"
    whole.append(original)
    return whole


def xsw6(facts: Facts) -> XmlElement:
    """The signed assertion changed, with its original inside its signature."""
    whole = xsw5(facts)
    evil, original = whole.findall(ASSERTION)
    signature_of(evil).append(original)
    return whole


def xsw7(facts: Facts) -> XmlElement:
    """A forged assertion inside an extension before the signed one."""
    whole = with_signed_assertion(response(facts))
    original = assertion_in(whole)
    extensions = etree.Element(f"{{{SAMLP}}}Extensions")
    extensions.append(forged(original, "_assertion"))
    original.addprevious(extensions)
    return whole


def xsw8(facts: Facts) -> XmlElement:
    """The signed assertion changed, with its original in an object of its signature."""
    whole = xsw5(facts)
    evil, original = whole.findall(ASSERTION)
    holder = etree.SubElement(signature_of(evil), f"{{{DS}}}Object")
    holder.append(original)
    return whole


@pytest.mark.parametrize("wrapped", [xsw1, xsw2, xsw3, xsw4, xsw5, xsw6, xsw7, xsw8])
async def test_xml_signature_wrapping(flow: SamlFlow, wrapped: Callable[[Facts], XmlElement]) -> None:
    assert await refused(flow, wrapped) == [Refusal.STRUCTURE]


async def test_a_forged_assertion_alone_beside_a_signature_of_the_response_elsewhere(flow: SamlFlow) -> None:
    def make(facts: Facts) -> XmlElement:
        whole = signed(response(facts))
        evil = forged(whole, "_response")
        evil.insert(1, copy.deepcopy(signature_of(whole)))
        return evil

    assert await refused(flow, make) == [Refusal.SIGNATURE]


async def test_two_elements_of_the_signed_id(flow: SamlFlow) -> None:
    def make(facts: Facts) -> XmlElement:
        whole = with_signed_assertion(response(facts))
        status = whole.find("samlp:Status", NAMES)
        assert status is not None
        status.set("ID", "_assertion")
        return whole

    assert await refused(flow, make) == [Refusal.STRUCTURE]


async def test_a_signature_of_a_part_alone(flow: SamlFlow) -> None:
    """The reference leads to the subject, which has an id of its own."""

    def make(facts: Facts) -> XmlElement:
        def change(found: XmlElement) -> XmlElement:
            subject = found.find("saml:Subject", NAMES)
            assert subject is not None
            subject.set("ID", "_subject")
            moved = signature_of(signed(subject))
            found.insert(1, moved)
            return found

        return with_assertion(response(facts), change)

    assert await refused(flow, make) == [Refusal.SIGNATURE]


@pytest.mark.parametrize(
    "name_id",
    ["admin@example.com<!-- -->.evil.example", "admin@example.com<?x y?>.evil.example"],
    ids=["comment", "processing instruction"],
)
async def test_a_name_that_a_comment_cuts(flow: SamlFlow, name_id: str) -> None:
    """The provider signed the whole name; readers that stop at the comment would see another user's."""

    def make(facts: Facts) -> str:
        whole = etree.tostring(signed(response(facts.but(name_id="NAME"))))
        return base64.b64encode(whole.replace(b"NAME", name_id.encode())).decode()

    assert await refused(flow, make) == [Refusal.MALFORMED]


def with_prolog(prolog: str) -> Callable[[Facts], str]:
    def make(facts: Facts) -> str:
        return base64.b64encode(prolog.encode() + etree.tostring(signed(response(facts)))).decode()

    return make


@pytest.mark.parametrize(
    "make",
    [
        with_prolog("<!DOCTYPE x>"),
        with_prolog('<!DOCTYPE x SYSTEM "file:///etc/passwd">'),
        with_prolog('<!DOCTYPE x [<!ENTITY xxe SYSTEM "file:///etc/passwd">]>'),
        with_prolog('<!DOCTYPE x [<!ENTITY a "aa"><!ENTITY b "&a;&a;">]>'),
        lambda _: base64.b64encode(b"<a>" * 100).decode(),
        lambda _: base64.b64encode(b"<a>" * 33 + b"</a>" * 33).decode(),
        lambda _: base64.b64encode(b"<a>" + b"<b/>" * 5000 + b"</a>").decode(),
        lambda _: base64.b64encode(b"<a " + b" ".join(b'x%d=""' % n for n in range(65)) + b"/>").decode(),
        lambda _: base64.b64encode(b"<a>" + b"x" * 262_144 + b"</a>").decode(),
        lambda _: "A" * 393_217,
        lambda _: "no base64 at all!",
        lambda _: base64.b64encode(b"").decode() or "====",
        lambda facts: posted(etree.fromstring(etree.tostring(assertion_in(response(facts))))),
    ],
    ids=[
        *("document type", "external document type", "external entity", "nested entities"),
        *("not well-formed", "deep", "many elements", "many attributes", "large", "long"),
        *("no base64", "empty", "an assertion alone"),
    ],
)
async def test_a_message_that_is_no_bounded_response(flow: SamlFlow, make: Callable[[Facts], str]) -> None:
    assert await refused(flow, make) == [Refusal.MALFORMED]


async def test_an_assertion_that_was_used_before(flow: SamlFlow) -> None:
    sent, browser = await flow.leave()
    await flow.arrive(browser, sent, signed(response(flow.facts(sent))))
    assert len(await flow.signed_in()) == 1
    again, other = await flow.leave()

    with pytest.raises(Unauthenticated):
        await flow.arrive(other, again, signed(response(flow.facts(again))))

    assert await flow.refusals() == [Refusal.REPLAY]
    assert len(await flow.signed_in()) == 1


async def test_a_response_that_is_posted_twice(flow: SamlFlow) -> None:
    sent, browser = await flow.leave()
    message = signed(response(flow.facts(sent)))
    await flow.arrive(browser, sent, message)

    with pytest.raises(Unauthenticated):
        await flow.arrive(browser, sent, message)


async def test_a_response_for_another_browser(flow: SamlFlow) -> None:
    sent, _ = await flow.leave()
    _, other = await flow.leave()

    with pytest.raises(Unauthenticated):
        await flow.arrive(other, sent, signed(response(flow.facts(sent))))

    assert await flow.signed_in() == []


async def test_a_relay_state_that_leads_nowhere(flow: SamlFlow) -> None:
    sent, browser = await flow.leave()
    message = signed(response(flow.facts(sent)))

    for relay_state in ("", "https://evil.example.com/", "x" * 43):
        with pytest.raises(Unauthenticated):
            await flow.arrive(browser, {"RelayState": relay_state}, message)


async def test_the_endpoint_of_another_provider(flow: SamlFlow) -> None:
    await flow.add("p2")
    sent, browser = await flow.leave()

    with pytest.raises(Unauthenticated):
        await flow.arrive(browser, sent, signed(response(flow.facts(sent, "p2"))), "p2")

    assert await flow.signed_in() == []


async def test_a_user_who_was_not_asked_again(flow: SamlFlow) -> None:
    sent, browser = await flow.leave(prompt="login")

    message = signed(response(flow.facts(sent).but(authenticated=-2 * MINUTE)))

    with pytest.raises(Unauthenticated):
        await flow.arrive(browser, sent, message)

    assert await flow.refusals() == [Refusal.AUTHENTICATION]


async def test_a_readable_assertion_where_an_encrypted_one_is_required() -> None:
    flow = SamlFlow()
    await flow.furnish(requires_encryption=True)

    assert await refused(flow, lambda facts: signed(response(facts))) == [Refusal.ENCRYPTION]


@pytest.mark.parametrize(
    ("manner", "reason"),
    [
        ({"is_cbc": True}, Refusal.ENCRYPTION),
        ({"is_pkcs1": True}, Refusal.ENCRYPTION),
        ({"content_key": b"k" * 16}, Refusal.ENCRYPTION),
    ],
    ids=["CBC that no signature covers", "RSA PKCS #1 v1.5", "a key of another length"],
)
async def test_an_encryption_that_is_not_accepted(manner: dict[str, Any], reason: Refusal) -> None:
    flow = SamlFlow()
    provider = await flow.furnish()

    def make(facts: Facts) -> XmlElement:
        return with_assertion(
            response(facts), lambda found: encrypted(signed(found), provider.saml_certificate, **manner)
        )

    assert await refused(flow, make) == [reason]


async def test_an_assertion_encrypted_by_anybody_without_a_signature() -> None:
    flow = SamlFlow()
    provider = await flow.furnish()

    def make(facts: Facts) -> XmlElement:
        return with_assertion(response(facts), lambda found: encrypted(found, provider.saml_certificate))

    assert await refused(flow, make) == [Refusal.UNSIGNED]


async def test_an_assertion_encrypted_for_another_provider() -> None:
    flow = SamlFlow()
    await flow.furnish()
    other = await flow.add("p2")

    def make(facts: Facts) -> XmlElement:
        return with_assertion(response(facts), lambda found: encrypted(signed(found), other.saml_certificate))

    assert await refused(flow, make) == [Refusal.ENCRYPTION]


async def test_a_wrapped_assertion_inside_the_encryption() -> None:
    flow = SamlFlow()
    provider = await flow.furnish()

    def make(facts: Facts) -> XmlElement:
        def change(found: XmlElement) -> XmlElement:
            evil = forged(found, "_assertion")
            evil.append(signed(found))
            return encrypted(evil, provider.saml_certificate)

        return with_assertion(response(facts), change)

    assert await refused(flow, make) == [Refusal.STRUCTURE]


async def test_a_name_that_is_encrypted_for_another_provider() -> None:
    flow = SamlFlow()
    await flow.furnish()
    other = await flow.add("p2")

    def make(facts: Facts) -> XmlElement:
        return with_assertion(
            response(facts), lambda found: signed(with_hidden_name(found, other.saml_certificate))
        )

    assert await refused(flow, make) == [Refusal.ENCRYPTION]


@pytest.mark.parametrize(
    "hidden",
    [
        f'<saml:Issuer xmlns:saml="{SAML}">alice-there</saml:Issuer>',
        f'<saml:NameID xmlns:saml="{SAML}">alice<saml:NameID>-there</saml:NameID></saml:NameID>',
        f'<saml:EncryptedID xmlns:saml="{SAML}"/>',
    ],
    ids=["another element", "a nested name", "one more encryption"],
)
async def test_an_encrypted_name_that_is_none(hidden: str) -> None:
    flow = SamlFlow()
    provider = await flow.furnish()

    def make(facts: Facts) -> XmlElement:
        return with_assertion(
            response(facts),
            lambda found: signed(
                with_hidden_name(found, provider.saml_certificate, hidden=etree.fromstring(hidden))
            ),
        )

    assert await refused(flow, make) == [Refusal.SUBJECT]


async def test_a_name_beside_an_encrypted_one() -> None:
    flow = SamlFlow()
    provider = await flow.furnish()

    def make(facts: Facts) -> XmlElement:
        def change(found: XmlElement) -> XmlElement:
            hidden = with_hidden_name(found, provider.saml_certificate)
            (subject,) = hidden.iterfind(f"{{{SAML}}}Subject")
            subject.insert(0, etree.fromstring(f'<saml:NameID xmlns:saml="{SAML}">admin</saml:NameID>'))
            return signed(hidden)

        return with_assertion(response(facts), change)

    assert await refused(flow, make) == [Refusal.SUBJECT]


async def test_an_encrypted_name_that_somebody_put_into_a_signed_assertion() -> None:
    flow = SamlFlow()
    provider = await flow.furnish()

    def make(facts: Facts) -> XmlElement:
        return with_assertion(
            response(facts), lambda found: with_hidden_name(signed(found), provider.saml_certificate)
        )

    assert await refused(flow, make) == [Refusal.SIGNATURE]
