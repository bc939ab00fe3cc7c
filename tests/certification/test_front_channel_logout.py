"""oidcc-frontchannel-rp-initiated-logout-certification-test-plan."""

from collections.abc import Iterator
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
import requests
from lxml import html

from tests.certification.relying_party import RelyingParty
from tests.people.person import SECONDS, Arrival, Page, Person
from tests.people.provider import EMAIL, PASSWORD, REDIRECT_URI, Provider
from tests.people.provider import provider as running

FRONT_CHANNEL = "https://app.example.com/front"
BYE = "https://app.example.com/bye"


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    with running(extra="\n[dynamic_clients]\nenabled = true\n") as started:
        yield started


class Obliging(Person):
    """Lets every client have what it asks for."""

    def submit(self, page: Page) -> Page | Arrival:
        found = super().submit(page)
        return self.answer(found, "accept") if isinstance(found, Page) else found


def test_oidcc_frontchannel_logout_discovery_endpoint_verification(provider: Provider) -> None:
    assert provider.metadata["frontchannel_logout_supported"] is True
    assert provider.metadata["frontchannel_logout_session_supported"] is True


def test_oidcc_frontchannel_rp_initiated_logout(provider: Provider) -> None:
    metadata = {
        "redirect_uris": [REDIRECT_URI],
        "post_logout_redirect_uris": [BYE],
        "frontchannel_logout_uri": FRONT_CHANNEL,
        "frontchannel_logout_session_required": True,
    }
    registered = requests.post(
        str(provider.metadata["registration_endpoint"]), json=metadata, timeout=SECONDS
    ).json()
    person = Obliging(provider.issuer, EMAIL, PASSWORD)
    party = RelyingParty(
        provider, person, client_id=registered["client_id"], secret=registered["client_secret"]
    )
    answered = party.signed_in()

    parameters = {"id_token_hint": answered.tokens["id_token"], "post_logout_redirect_uri": BYE}
    page = person.visit(f"{provider.issuer}oidc/logout?{urlencode(parameters)}")

    assert isinstance(page, Page)
    document = html.fromstring(page.text)
    [frame] = map(urlsplit, document.xpath("//iframe/@src"))
    assert f"{frame.scheme}://{frame.netloc}{frame.path}" == FRONT_CHANNEL
    assert parse_qs(frame.query) == {"iss": [provider.issuer], "sid": [answered.claims["sid"]]}
    assert document.xpath("//a[@id='way-on']/@href") == [BYE]
    assert party.failed(person.visit(party.url(prompt="none"))) == "login_required"
    person.close()
