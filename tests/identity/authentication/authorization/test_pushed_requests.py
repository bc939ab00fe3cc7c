import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from identity.authentication.authorization.sign_in import SignedIn
from identity.authentication.authorization.start import SignInStep
from identity.authentication.requests.parameters import Parameters
from identity.authentication.requests.redirection import Redirection
from identity.authentication.requests.refusals import UnredirectableRefusal
from identity.foundation.errors import InvalidRequest, InvalidRequestObject, InvalidTarget, ProtocolError
from server.platform.errors import Unauthenticated
from tests.identity.browsers import NEW_BROWSER, Provider, alice, app, calls


@pytest.fixture
async def provider() -> Provider:
    provider = Provider()
    await provider.register(app(), app(id="other"))
    return provider


async def push(provider: Provider, *, thumbprint: str = "", **parameters: str) -> str:
    pushed = await provider.pushing.push(provider.tenant, app(), calls(**parameters), thumbprint=thumbprint)
    return pushed.request_uri


async def begin(provider: Provider, request_uri: str, *, client_id: str = "app", **parameters: str) -> object:
    asked = Parameters.of((parameters | {"client_id": client_id, "request_uri": request_uri}).items())
    return await provider.authorization_start.begin(provider.tenant, asked, NEW_BROWSER)


async def sign_in(provider: Provider, page: object) -> object:
    assert isinstance(page, SignInStep)
    browser = replace(NEW_BROWSER, cookie=page.cookie, csrf_token=page.session.csrf_token)
    try:
        return await provider.submit(page, browser)
    except Unauthenticated as error:
        return error


async def test_a_pushed_request_stands_for_its_parameters_and_no_others(provider: Provider) -> None:
    request_uri = await push(provider, login_hint="a@example.com")

    step = await begin(provider, request_uri, login_hint="b@example.com", prompt="none")

    assert not isinstance(step, Redirection)
    assert request_uri.startswith("urn:ietf:params:oauth:request_uri:")
    assert step.request.login_hint == "a@example.com"  # type: ignore[attr-defined]


async def test_a_pushed_request_is_answered_once(provider: Provider) -> None:
    request_uri = await push(provider, prompt="none")

    outcomes = await asyncio.gather(
        *(begin(provider, request_uri) for _ in range(20)), return_exceptions=True
    )

    assert sum(isinstance(outcome, Redirection) for outcome in outcomes) == 1
    refused = (UnredirectableRefusal, Unauthenticated)
    assert sum(isinstance(outcome, refused) for outcome in outcomes) == 19
    with pytest.raises(UnredirectableRefusal):
        await begin(provider, request_uri)


async def test_of_pages_of_a_pushed_request_one_leads_to_a_code(provider: Provider) -> None:
    await provider.admit(alice())
    request_uri = await push(provider)
    pages = [await begin(provider, request_uri) for _ in range(2)]
    provider.clock.advance(timedelta(minutes=20))

    outcomes = [await sign_in(provider, page) for page in pages]

    assert [type(outcome) for outcome in outcomes] == [SignedIn, Unauthenticated]


async def test_another_client_cannot_use_it_nor_use_it_up(provider: Provider) -> None:
    request_uri = await push(provider)
    with pytest.raises(UnredirectableRefusal):
        await begin(provider, request_uri, client_id="other")

    step = await begin(provider, request_uri)

    assert not isinstance(step, Redirection)


async def test_a_pushed_request_expires(provider: Provider) -> None:
    request_uri = await push(provider)
    provider.clock.advance(timedelta(seconds=90))

    with pytest.raises(UnredirectableRefusal):
        await begin(provider, request_uri)


async def test_the_key_of_the_dpop_proof_is_the_codes(provider: Provider) -> None:
    request_uri = await push(provider, thumbprint="j" * 43)

    step = await begin(provider, request_uri)

    assert step.request.dpop_jkt == "j" * 43  # type: ignore[attr-defined]


async def test_a_client_that_has_to_push_its_requests_can_only_push_them(provider: Provider) -> None:
    strict = app(id="strict", requires_pushed_request=True, request_uris=("https://app.example.com/r",))
    await provider.register(strict)
    pushed = await provider.pushing.push(provider.tenant, strict, calls(client_id="strict"), thumbprint="")

    step = await begin(provider, pushed.request_uri, client_id="strict")
    by_value = await provider.authorization_start.begin(
        provider.tenant, calls(client_id="strict"), NEW_BROWSER
    )
    with pytest.raises(UnredirectableRefusal) as by_reference:
        await begin(provider, "https://app.example.com/r", client_id="strict")

    assert not isinstance(step, Redirection)
    assert isinstance(by_value, Redirection)
    assert dict(by_value.parameters)["error"] == "invalid_request"
    assert by_reference.value.refusal.error == "invalid_request"


REFUSED: list[object] = [
    pytest.param(InvalidRequest, {"request_uri": "urn:ietf:params:oauth:request_uri:x"}, id="request_uri"),
    pytest.param(InvalidRequest, {"client_id": "other"}, id="another client"),
    pytest.param(InvalidRequest, {"redirect_uri": "https://evil.example.com/"}, id="redirect URI"),
    pytest.param(InvalidRequest, {"thumbprint": "j" * 43, "dpop_jkt": "k" * 43}, id="another key"),
    pytest.param(InvalidTarget, {"resource": "https://api.example.com/"}, id="resource"),
    pytest.param(InvalidRequestObject, {"request": "e30.e30."}, id="request object"),
]


@pytest.mark.parametrize(("refusal", "parameters"), REFUSED)
async def test_what_could_not_be_asked_cannot_be_pushed(
    provider: Provider, refusal: type[ProtocolError], parameters: dict[str, str]
) -> None:
    with pytest.raises(refusal):
        await push(provider, **parameters)
