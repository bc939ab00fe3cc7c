import asyncio
from dataclasses import replace

import pytest

from identity.access.sessions.browser import Browser
from identity.access.sessions.logout_config import LogoutConfig
from identity.access.sessions.logout_records import BACK_CHANNEL_LOGOUTS
from identity.authentication.requests.parameters import Parameters
from identity.foundation.errors import InvalidRequest
from identity.protocol.logout.endpoint import LogoutQuestion, SignedOut
from server.platform.errors import Unauthenticated
from tests.identity.browsers import NEW_BROWSER, Provider, alice, app

BYE = "https://app.example.com/bye"
OTHER_CALLBACK = "https://other.example.com/cb"


@pytest.fixture
async def provider() -> Provider:
    return await furnished(Provider())


async def furnished(provider: Provider) -> Provider:
    await provider.register(
        app(backchannel_logout_uri="https://app.example.com/back-channel"),
        app(
            id="other", redirect_uris=(OTHER_CALLBACK,), backchannel_logout_uri="https://other.example.com/bc"
        ),
        app(id="silent"),
    )
    await provider.admit(alice(), alice(id="bob", email="bob@example.com"))
    return provider


async def begin(provider: Provider, browser: Browser, **parameters: str) -> LogoutQuestion | SignedOut:
    return await provider.end_session.begin(provider.tenant, Parameters.of(parameters.items()), browser)


async def confirm(
    provider: Provider, browser: Browser, *, logout_id: str = "", **parameters: str
) -> SignedOut:
    return await provider.end_session.confirm(
        provider.tenant, browser, logout_id=logout_id, parameters=Parameters.of(parameters.items())
    )


async def told(provider: Provider) -> list[str]:
    queue = provider.store.of(BACK_CHANNEL_LOGOUTS)
    return sorted(logout.client_id for logout in await queue.find(provider.tenant.tenant_id, "due", "due"))


async def test_a_hint_of_the_person_ends_the_session_without_a_page(provider: Provider) -> None:
    browser = await provider.signed_in()

    outcome = await begin(
        provider,
        browser,
        id_token_hint=provider.id_token(),
        post_logout_redirect_uri=BYE,
        state="a b&c",
    )

    assert isinstance(outcome, SignedOut)
    assert outcome.has_ended
    assert outcome.redirection is not None
    assert (outcome.redirection.uri, outcome.redirection.parameters) == (BYE, (("state", "a b&c"),))
    assert await provider.session(browser) is None


async def test_without_a_redirect_uri_the_person_stays_here(provider: Provider) -> None:
    browser = await provider.signed_in()

    outcome = await begin(provider, browser, id_token_hint=provider.id_token())

    assert outcome == SignedOut(client_id="app", redirection=None, has_ended=True)


DOUBTFUL = [
    pytest.param({}, id="no hint"),
    pytest.param({"client_id": "app", "post_logout_redirect_uri": BYE}, id="a client, but no hint"),
    pytest.param({"id_token_hint": "BOB"}, id="a hint of somebody else"),
    pytest.param({"id_token_hint": "ALTERED", "post_logout_redirect_uri": BYE}, id="altered hint"),
    pytest.param({"id_token_hint": "x"}, id="hint that is no token"),
    pytest.param(
        {"id_token_hint": "ALICE", "post_logout_redirect_uri": "https://evil.example.com/"},
        id="unregistered URI",
    ),
    pytest.param({"id_token_hint": "ALICE", "post_logout_redirect_uri": f"{BYE}?foo=bar"}, id="altered URI"),
]


@pytest.mark.parametrize("parameters", DOUBTFUL)
async def test_where_in_doubt_the_person_is_asked(provider: Provider, parameters: dict[str, str]) -> None:
    browser = await provider.signed_in()
    hints = {
        "ALICE": provider.id_token(),
        "BOB": provider.id_token(sub="bob"),
        "ALTERED": provider.id_token()[:-4] + "AAAA",
    }
    asked = {name: hints.get(value, value) for name, value in parameters.items()}

    outcome = await begin(provider, browser, **asked)

    assert isinstance(outcome, LogoutQuestion)
    assert await provider.session(browser) is not None


@pytest.mark.parametrize(
    ("parameters", "redirects"),
    [
        ({"client_id": "app", "post_logout_redirect_uri": BYE}, True),
        ({"post_logout_redirect_uri": BYE}, False),
        ({"client_id": "nobody", "post_logout_redirect_uri": BYE}, False),
        ({"client_id": "app", "post_logout_redirect_uri": f"{BYE}/"}, False),
        ({"client_id": "app", "post_logout_redirect_uri": BYE, "id_token_hint": "x"}, False),
    ],
)
async def test_a_confirmed_logout_redirects_to_registered_uris_only(
    provider: Provider, parameters: dict[str, str], *, redirects: bool
) -> None:
    browser = await provider.signed_in()
    question = await begin(provider, browser, **parameters)
    assert isinstance(question, LogoutQuestion)

    outcome = await confirm(provider, browser, logout_id=question.logout_id)

    assert (outcome.redirection is not None) == redirects
    assert await provider.session(browser) is None


@pytest.mark.parametrize(
    "parameters",
    [
        {"id_token_hint": "ALICE", "client_id": "other"},
        {"state": "x" * 2049},
        {"state": "\0"},
    ],
)
async def test_a_request_that_contradicts_itself_is_an_error(
    provider: Provider, parameters: dict[str, str]
) -> None:
    browser = await provider.signed_in()
    asked = {name: provider.id_token() if value == "ALICE" else value for name, value in parameters.items()}

    with pytest.raises(InvalidRequest):
        await begin(provider, browser, **asked)

    assert await provider.session(browser) is not None


async def test_a_repeated_parameter_is_an_error(provider: Provider) -> None:
    twice = Parameters((("post_logout_redirect_uri", BYE), ("post_logout_redirect_uri", BYE)))

    with pytest.raises(InvalidRequest):
        await provider.end_session.begin(provider.tenant, twice, NEW_BROWSER)


async def test_nobody_who_is_signed_out_is_asked(provider: Provider) -> None:
    outcome = await begin(provider, NEW_BROWSER, client_id="app", post_logout_redirect_uri=BYE)

    assert outcome == SignedOut(client_id="app", redirection=None, has_ended=False, screen_client_id="app")


async def test_a_good_hint_leads_back_even_when_the_session_has_ended(provider: Provider) -> None:
    outcome = await begin(
        provider, NEW_BROWSER, id_token_hint=provider.id_token(), post_logout_redirect_uri=BYE
    )

    assert isinstance(outcome, SignedOut)
    assert outcome.redirection is not None
    assert not outcome.has_ended


async def test_a_confirmation_has_to_come_from_our_page(provider: Provider) -> None:
    browser = await provider.signed_in()
    question = await begin(provider, browser)
    assert isinstance(question, LogoutQuestion)

    with pytest.raises(Unauthenticated):
        await confirm(provider, replace(browser, csrf_token="x"), logout_id=question.logout_id)

    assert await provider.session(browser) is not None


async def test_another_sessions_question_leads_nowhere(provider: Provider) -> None:
    first, second = await provider.signed_in(), await provider.signed_in()
    question = await begin(provider, first, client_id="app", post_logout_redirect_uri=BYE)
    assert isinstance(question, LogoutQuestion)

    outcome = await confirm(provider, second, logout_id=question.logout_id)

    assert outcome.redirection is None
    assert await provider.session(first) is not None


async def test_parameters_stand_for_a_question(provider: Provider) -> None:
    browser = await provider.signed_in()

    outcome = await confirm(provider, browser, client_id="app", post_logout_redirect_uri=BYE)

    assert outcome.redirection is not None


async def test_a_second_confirmation_finds_nobody_signed_in(provider: Provider) -> None:
    browser = await provider.signed_in()
    await confirm(provider, browser)

    assert not (await confirm(provider, browser)).has_ended


async def test_no_other_session_of_the_person_ends(provider: Provider) -> None:
    here, elsewhere = await provider.signed_in(), await provider.signed_in()

    await confirm(provider, here)

    assert await provider.session(elsewhere) is not None


async def test_every_client_of_the_session_that_wants_to_know_is_told(provider: Provider) -> None:
    browser = await provider.signed_in()
    for client_id, uri in (("other", OTHER_CALLBACK), ("silent", "https://app.example.com/callback")):
        await provider.begin(browser, prompt="none", client_id=client_id, redirect_uri=uri)

    await confirm(provider, browser)

    assert await told(provider) == ["app", "other"]


async def test_the_tokens_of_the_session_end_with_it(provider: Provider) -> None:
    browser = await provider.signed_in()
    session = await provider.session(browser)
    assert session is not None

    await confirm(provider, browser)

    assert provider.token_sets.sids == [session.sid]


async def test_tokens_outlive_their_session_where_that_is_configured() -> None:
    provider = await furnished(Provider(logout=LogoutConfig(token_revoke_on_logout=False)))

    await confirm(provider, await provider.signed_in())

    assert provider.token_sets.sids == []


async def test_all_sessions_of_a_person_can_be_ended(provider: Provider) -> None:
    browsers = [await provider.signed_in() for _ in range(2)]
    user = await provider.users.find_by_email(provider.tenant, "alice@example.com")
    assert user is not None

    await provider.termination.end_all(provider.tenant, user.user_id)

    assert await asyncio.gather(*map(provider.session, browsers)) == [None, None]
    assert await told(provider) == ["app", "app"]
