"""Authentication requests of SAML applications: which begin a sign-in, and which are refused."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest
from lxml.etree import _Element as XmlElement

from identity.authentication.authorization.start import SignInStep
from identity.authentication.requests.redirection import Redirection
from identity.authentication.requests.refusals import UnredirectableRefusal
from identity.authentication.saml_applications.request_reader import MAX_REQUEST_OCTETS, SentMessage
from identity.directory.client import CLIENTS
from identity.foundation.vocabulary import SecurityProfile
from server.platform.errors import Unauthenticated
from tests.identity.authentication.saml.idp import Pair, pair, signed
from tests.identity.authentication.saml_applications.sp import (
    ACS,
    DEFAULT,
    NAMES,
    ApplicationFlow,
    Asked,
    form,
    good_pair,
    query,
    request,
    response_of,
    statuses_of,
    text_of,
)
from tests.identity.browsers import alice

PASSWORD_CLASS = "urn:oasis:names:tc:SAML:2.0:ac:classes:PasswordProtectedTransport"
MFA_CLASS = "https://refeds.org/profile/mfa"
EMAIL_FORMAT = "urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress"
TRANSIENT_FORMAT = "urn:oasis:names:tc:SAML:2.0:nameid-format:transient"
ASKED = Asked()

Bind = Callable[[XmlElement | bytes], SentMessage]


def context(*classes: str, comparison: str = "exact") -> str:
    inner = "".join(f"<saml:AuthnContextClassRef>{name}</saml:AuthnContextClassRef>" for name in classes)
    return f'<samlp:RequestedAuthnContext Comparison="{comparison}">{inner}</samlp:RequestedAuthnContext>'


def name_id(name_id_format: str, qualifier: str = "") -> str:
    named = f' SPNameQualifier="{qualifier}"' if qualifier else ""
    return f'<samlp:NameIDPolicy Format="{name_id_format}"{named}/>'


async def refused(flow: ApplicationFlow, sent: SentMessage) -> str:
    with pytest.raises(UnredirectableRefusal) as raised:
        await flow.begin(sent)
    return raised.value.refusal.detail


@pytest.mark.parametrize("bind", [query, form])
async def test_a_request_leads_to_the_sign_in_page_of_its_client(bind: Bind) -> None:
    flow = ApplicationFlow()
    await flow.furnish()

    step = await flow.begin(bind(request(ASKED)))

    assert isinstance(step, SignInStep)
    assert (step.client.id, step.request.redirect_uri, step.is_signed_in) == ("app", ACS, False)


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        pytest.param(
            ASKED.but(issuer="https://evil.example.com"), "there is no SAML application", id="issuer"
        ),
        pytest.param(ASKED.but(issuer=None), "there is no SAML application", id="no issuer"),
        pytest.param(ASKED.but(acs_url="https://evil.example.com/acs"), "is not registered", id="acs"),
        pytest.param(ASKED.but(acs_url=f"{ACS}?a=1"), "is not registered", id="acs with a query"),
        pytest.param(ASKED.but(acs_url=None, acs_index="7"), "is not registered", id="acs index"),
        pytest.param(ASKED.but(acs_index="1"), "is not registered", id="acs and its index"),
        pytest.param(
            ASKED.but(destination="https://id.example.com/auth/v1/acme/saml/sso"),
            "addressed to another endpoint",
            id="destination in another tenant",
        ),
        pytest.param(ASKED.but(issued=timedelta(minutes=-8)), "expired or not yet valid", id="old"),
        pytest.param(
            ASKED.but(issued=timedelta(minutes=4)), "expired or not yet valid", id="from the future"
        ),
        pytest.param(ASKED.but(version="1.1"), "well-formed", id="version"),
        pytest.param(ASKED.but(id="_" * 300), "well-formed", id="long id"),
        pytest.param(ASKED.but(flags='ForceAuthn="maybe"'), "well-formed", id="no boolean"),
        pytest.param(ASKED.but(acs_url=None, acs_index="x"), "well-formed", id="no number"),
        pytest.param(ASKED.but(inner=context(*["a"] * 17)), "well-formed", id="many contexts"),
    ],
)
async def test_a_request_that_says_something_wrong_gets_no_response(asked: Asked, reason: str) -> None:
    flow = ApplicationFlow()
    await flow.furnish()

    assert reason in await refused(flow, query(request(asked)))


@pytest.mark.parametrize("bind", [query, form])
@pytest.mark.parametrize(
    "message",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"<a", id="no xml"),
        pytest.param(b'<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', id="document type"),
        pytest.param(b"<a><!-- b --></a>", id="comment"),
        pytest.param(b"<a>" + b" " * MAX_REQUEST_OCTETS + b"</a>", id="long"),
        pytest.param(b"<a>" + b" " * 10_000_000 + b"</a>", id="deflate bomb"),
        pytest.param(b"<a>" * 40 + b"</a>" * 40, id="deep"),
    ],
)
async def test_a_message_that_is_no_bounded_request(bind: Bind, message: bytes) -> None:
    flow = ApplicationFlow()
    await flow.furnish()

    assert "well-formed" in await refused(flow, bind(message))


async def test_a_long_relay_state_is_refused() -> None:
    flow = ApplicationFlow()
    await flow.furnish()

    assert "RelayState" in await refused(flow, query(request(ASKED), "a" * 2049))


@pytest.mark.parametrize("by", [None, pair("another")])
async def test_an_application_that_signs_gets_no_response_to_a_request_of_another(by: Pair | None) -> None:
    flow = ApplicationFlow()
    await flow.furnish(certificates=(good_pair().text,), requires_signed_requests=True)
    element = request(ASKED)

    over_redirect = await refused(flow, query(element, by=by))
    over_post = await refused(flow, form(element if by is None else signed(element, by)))

    reason = "no signature" if by is None else "signature is invalid"
    assert reason in over_redirect
    assert reason in over_post


async def test_a_wrong_signature_counts_where_none_is_required() -> None:
    flow = ApplicationFlow()
    await flow.furnish(certificates=(good_pair().text,))

    assert "signature is invalid" in await refused(flow, query(request(ASKED), by=pair("another")))


async def test_a_signed_request_has_a_destination() -> None:
    flow = ApplicationFlow()
    await flow.furnish(certificates=(good_pair().text,))
    element = request(ASKED.but(destination=None))

    assert "another endpoint" in await refused(flow, query(element, by=good_pair()))


async def test_only_the_signed_part_of_a_request_counts() -> None:
    flow = ApplicationFlow()
    await flow.furnish(certificates=(good_pair().text,), requires_signed_requests=True)
    wrapped = request(ASKED.but(id="_evil", acs_url=f"{ACS}/2"))
    wrapped.append(signed(request(ASKED), good_pair()))

    assert "no signature" in await refused(flow, form(wrapped))


async def test_a_signed_request_begins_a_sign_in() -> None:
    flow = ApplicationFlow()
    await flow.furnish(certificates=(good_pair().text,), requires_signed_requests=True)

    over_redirect = await flow.begin(query(request(ASKED), "r1", by=good_pair()))
    over_post = await flow.begin(form(signed(request(ASKED), good_pair()), "r1"))

    for step in (over_redirect, over_post):
        assert isinstance(step, SignInStep)
        assert step.request.state == "r1"


async def test_a_disabled_client_is_no_application() -> None:
    flow = ApplicationFlow()
    await flow.furnish({"is_enabled": False})

    assert "there is no SAML application" in await refused(flow, query(request(ASKED)))


async def test_a_client_with_a_security_profile_is_refused() -> None:
    flow = ApplicationFlow()
    await flow.furnish({"security_profile": SecurityProfile.FAPI_2})

    assert "security profile" in await refused(flow, query(request(ASKED)))


@pytest.mark.parametrize(
    ("asked", "url"),
    [
        pytest.param(ASKED, ACS, id="named"),
        pytest.param(ASKED.but(acs_url=None), ACS, id="default"),
        pytest.param(ASKED.but(acs_url=None, acs_index="3"), f"{ACS}/2", id="by index"),
    ],
)
async def test_the_response_goes_to_the_registered_address(asked: Asked, url: str) -> None:
    flow = ApplicationFlow()
    await flow.furnish()
    await flow.provider.admit(alice())

    redirection, _ = await flow.sign_in(query(request(asked), "r1"))

    response = response_of(redirection)
    assert (redirection.uri, response.get("Destination"), response.get("InResponseTo")) == (
        url,
        url,
        "_request",
    )
    assert dict(redirection.parameters)["RelayState"] == "r1"


async def test_a_request_has_one_response() -> None:
    flow = ApplicationFlow()
    await flow.furnish()
    await flow.provider.admit(alice())
    await flow.sign_in(query(request(ASKED)))

    with pytest.raises(Unauthenticated, match="answered before"):
        await flow.sign_in(query(request(ASKED)))


@pytest.mark.parametrize(
    ("asked", "statuses"),
    [
        pytest.param(ASKED.but(binding="urn:other"), ["Requester", "UnsupportedBinding"], id="binding"),
        pytest.param(
            ASKED.but(inner=name_id("urn:other")), ["Requester", "InvalidNameIDPolicy"], id="name format"
        ),
        pytest.param(
            ASKED.but(inner=name_id(EMAIL_FORMAT, "https://another.example.com")),
            ["Requester", "InvalidNameIDPolicy"],
            id="name qualifier",
        ),
        pytest.param(ASKED.but(inner=context("urn:other")), ["Responder", "NoAuthnContext"], id="context"),
        pytest.param(
            ASKED.but(inner=context(PASSWORD_CLASS, comparison="better")),
            ["Responder", "NoAuthnContext"],
            id="comparison",
        ),
        pytest.param(ASKED.but(flags='IsPassive="true"'), ["Responder", "NoPassive"], id="passive"),
    ],
)
async def test_the_application_hears_what_the_provider_cannot_do(asked: Asked, statuses: list[str]) -> None:
    flow = ApplicationFlow()
    await flow.furnish()

    answered = await flow.begin(query(request(asked), "r1"))

    assert isinstance(answered, Redirection)
    assert statuses_of(answered) == statuses
    assert (answered.uri, dict(answered.parameters)["RelayState"]) == (ACS, "r1")
    assert text_of(answered, "saml:Issuer") is None


async def test_a_passive_request_is_answered_in_a_session() -> None:
    flow = ApplicationFlow()
    await flow.furnish()
    await flow.provider.admit(alice())
    _, browser = await flow.sign_in(query(request(ASKED)))

    answered = await flow.begin(query(request(ASKED.but(id="_2", flags='IsPassive="1"'))), browser)

    assert isinstance(answered, Redirection)
    assert statuses_of(answered) == ["Success"]


async def test_a_support_person_who_acts_as_a_user_gets_no_assertion() -> None:
    flow = ApplicationFlow()
    await flow.furnish()
    provider = flow.provider
    await provider.admit(alice())
    _, browser = await flow.sign_in(query(request(ASKED)))
    own = await provider.sessions.find(provider.tenant, browser.cookie, browser.peer_address)
    assert own is not None
    cookie, _ = await provider.sessions.impersonate(
        provider.tenant,
        own,
        alice().user_id,
        name="sam@example.com",
        ends_at=provider.clock.now() + timedelta(minutes=5),
        peer_address=browser.peer_address,
    )

    sent = query(request(ASKED.but(id="_2", flags='IsPassive="1"')))
    answered = await flow.begin(sent, replace(browser, cookie=cookie))

    assert isinstance(answered, Redirection)
    assert statuses_of(answered) == ["Responder", "RequestDenied"]
    assert text_of(answered, "saml:Issuer") is None


async def test_a_request_can_force_a_sign_in() -> None:
    flow = ApplicationFlow()
    await flow.furnish()
    await flow.provider.admit(alice())
    _, browser = await flow.sign_in(query(request(ASKED)))

    step = await flow.begin(query(request(ASKED.but(id="_2", flags='ForceAuthn="true"'))), browser)

    assert isinstance(step, SignInStep)
    assert not step.is_signed_in


async def test_a_user_outside_the_groups_of_the_client_gets_no_assertion() -> None:
    flow = ApplicationFlow()
    await flow.furnish()
    await flow.provider.admit(alice())
    _, browser = await flow.sign_in(query(request(ASKED)))
    clients = flow.provider.store.of(CLIENTS)
    kept = await clients.get(DEFAULT, "app")
    assert kept is not None
    await clients.replace(replace(kept, restrict_group_prefix="wiki-"))

    answered = await flow.begin(query(request(ASKED.but(id="_2", flags='IsPassive="true"'))), browser)

    assert isinstance(answered, Redirection)
    assert statuses_of(answered) == ["Responder", "RequestDenied"]


@pytest.mark.parametrize(
    ("classes", "found"),
    [
        pytest.param((), PASSWORD_CLASS, id="none"),
        pytest.param((PASSWORD_CLASS,), PASSWORD_CLASS, id="password"),
        pytest.param((MFA_CLASS, PASSWORD_CLASS), PASSWORD_CLASS, id="one of two"),
    ],
)
async def test_the_assertion_names_the_context_that_was_reached(classes: tuple[str, ...], found: str) -> None:
    flow = ApplicationFlow()
    await flow.furnish()
    await flow.provider.admit(alice())

    redirection, _ = await flow.sign_in(query(request(ASKED.but(inner=context(*classes) if classes else ""))))

    assert text_of(redirection, "saml:AuthnStatement/saml:AuthnContext/saml:AuthnContextClassRef") == found


async def test_a_user_without_a_second_factor_does_not_reach_two() -> None:
    flow = ApplicationFlow()
    await flow.furnish()
    await flow.provider.admit(alice())

    redirection, _ = await flow.sign_in(query(request(ASKED.but(inner=context(MFA_CLASS)))))

    assert statuses_of(redirection) == ["Responder", "NoAuthnContext"]


async def test_an_unconfirmed_address_is_not_asserted() -> None:
    flow = ApplicationFlow()
    await flow.furnish()
    await flow.provider.admit(alice(is_email_verified=False))

    persistent, _ = await flow.sign_in(query(request(ASKED)))
    by_address, _ = await flow.sign_in(query(request(ASKED.but(id="_2", inner=name_id(EMAIL_FORMAT)))))

    attributes = response_of(persistent).iterfind(".//saml:Attribute", NAMES)
    assert "email" not in {attribute.get("Name") for attribute in attributes}
    assert statuses_of(by_address) == ["Requester", "InvalidNameIDPolicy"]


async def test_a_transient_name_differs_between_sessions() -> None:
    flow = ApplicationFlow()
    await flow.furnish(name_id_format=TRANSIENT_FORMAT)
    await flow.provider.admit(alice())

    found = [await flow.sign_in(query(request(ASKED.but(id=f"_{n}")))) for n in (1, 2)]

    names = {text_of(redirection, "saml:Subject/saml:NameID") for redirection, _ in found}
    assert len(names) == 2
    assert "alice" not in names


async def test_a_name_that_no_xml_document_has_is_sent_without_its_characters() -> None:
    flow = ApplicationFlow()
    await flow.furnish()
    await flow.provider.admit(alice(given_name="A\x0blice\uffff"))

    redirection, _ = await flow.sign_in(query(request(ASKED)))

    (value,) = response_of(redirection).iterfind(".//saml:Attribute[@Name='given_name']/*", NAMES)
    assert value.text == "Alice"
