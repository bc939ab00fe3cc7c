"""Sign-out at relying parties by the browser: OpenID Connect Front-Channel Logout 1.0."""

from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import pytest

from identity.access.sessions.browser import Browser
from identity.authentication.requests.parameters import Parameters
from identity.directory.client import ClientId
from identity.protocol.logout.endpoint import LogoutQuestion, SignedOut
from identity.protocol.logout.front_channel import MAX_FRAMES
from tests.identity.browsers import NEW_BROWSER, Provider, alice, app

URI = "https://app.example.com/front"


@pytest.fixture
async def provider() -> Provider:
    provider = Provider()
    await provider.register(
        app(frontchannel_logout_uri=URI),
        app(id="query", frontchannel_logout_uri=f"{URI}?tenant=a"),
        app(id="disabled", frontchannel_logout_uri=URI, is_enabled=False),
        app(id="silent"),
    )
    await provider.admit(alice())
    return provider


async def signed_in(provider: Provider, *client_ids: str) -> Browser:
    """Return a browser in whose session these clients got tokens."""
    browser = await provider.signed_in()
    session = await provider.session(browser)
    assert session is not None
    for client_id in client_ids:
        session = await provider.sessions.note_client(session, ClientId(client_id))
    return browser


async def end(provider: Provider, browser: Browser, **parameters: str) -> SignedOut:
    asked = {"id_token_hint": provider.id_token()} | parameters
    outcome = await provider.end_session.begin(provider.tenant, Parameters.of(asked.items()), browser)
    assert isinstance(outcome, SignedOut)
    return outcome


async def test_clients_with_tokens_of_the_session_are_told_which_one_ended(provider: Provider) -> None:
    browser = await signed_in(provider, "app", "query", "disabled", "silent", "gone")
    session = await provider.session(browser)
    assert session is not None

    outcome = await end(provider, browser)

    told = [urlsplit(uri) for uri in outcome.front_channel_uris]
    assert [f"{uri.netloc}{uri.path}" for uri in told] == ["app.example.com/front"] * 2
    expected = {"iss": [provider.tenant.issuer], "sid": [session.sid]}
    assert [parse_qs(uri.query) for uri in told] == [expected | {"tenant": ["a"]}, expected]


async def test_the_last_clients_are_told_when_there_are_many(provider: Provider) -> None:
    many = [f"client-{number}" for number in range(MAX_FRAMES + 5)]
    for client_id in many:
        await provider.register(app(id=client_id, frontchannel_logout_uri=f"{URI}/{client_id}"))
    browser = await signed_in(provider, *many)

    outcome = await end(provider, browser)

    paths = [urlsplit(uri).path.rpartition("/")[2] for uri in outcome.front_channel_uris]
    assert paths == many[: -MAX_FRAMES - 1 : -1]


async def test_a_question_tells_nobody_and_its_confirmation_does(provider: Provider) -> None:
    browser = await signed_in(provider, "app")

    question = await provider.end_session.begin(provider.tenant, Parameters.of(()), browser)
    assert isinstance(question, LogoutQuestion)
    confirming = replace(browser, csrf_token=question.session.csrf_token)
    outcome = await provider.end_session.confirm(
        provider.tenant, confirming, logout_id=question.logout_id, parameters=Parameters.of(())
    )

    assert [urlsplit(uri).path for uri in outcome.front_channel_uris] == ["/front"]


async def test_without_a_session_nobody_is_told(provider: Provider) -> None:
    assert (await end(provider, NEW_BROWSER)).front_channel_uris == ()
